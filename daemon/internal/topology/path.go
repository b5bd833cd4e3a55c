package topology

import (
	"cmp"
	"net/netip"
	"slices"

	"fulmen/daemon/api"
)

// Path is a way over sockets: an address of a peer that answered a node with
// the right identity and that the peer's own network document has.
type Path struct {
	// From is the node that reached, To its peer.
	From, To api.NodeID
	// Address is where the peer answered, with the zone of From where it is link-local IPv6.
	Address netip.Addr
	// Source is the address of From on the path; not valid where not told.
	Source netip.Addr
	// Interface is that of From, PeerInterface that of To; empty where it cannot be told.
	Interface, PeerInterface string
	// Kind is what the path is made of, KindNow what the documents tell now:
	// Kind is the last known where KindNow is unknown.
	Kind, KindNow api.LinkKind
	// Link is the cable, where the path is one.
	Link api.LinkID
	// State says whether the path carries packets, as From says.
	State api.PathState
	// Reason is why it is not used, as From says.
	Reason api.Reason
	// Crossed says that the peer takes what comes here by another interface than
	// the one that has the address, as Linux does: it is no way of its own.
	Crossed bool
	// Expensive says that an end counts the network's traffic as costly.
	Expensive bool
	// Stale says that an end cannot be reached now.
	Stale bool
	// Simulated says that no real hardware is behind it.
	Simulated bool
}

// Thunderbolt reports whether the path is IP over a Thunderbolt cable.
func (p *Path) Thunderbolt() bool {
	return p.Kind == api.LinkTB3 || p.Kind == api.LinkTB4 || p.Kind == api.LinkTB5
}

// target is the path's sink.
func (p *Path) target() api.PeerAddress { return api.PeerAddress{Peer: p.To, Address: p.Address} }

// same reports whether two paths are one.
func (p *Path) same(o *Path) bool {
	return p.From == o.From && p.To == o.To && p.Address == o.Address
}

// pathsOf verifies every reach document.
func pathsOf(x *index, cables []*cable) []Path {
	total := 0
	for _, n := range x.nodes {
		total += len(n.Reach)
	}
	paths := make([]Path, 0, total)
	k := newKinds(cables)
	for _, from := range x.nodes {
		for _, r := range inOrder(from.Reach) {
			if p, ok := x.verify(from, r, k); ok {
				paths = append(paths, p)
			}
		}
	}
	return x.dropTwice(paths)
}

// inOrder sorts reach documents by peer and address. Pointers are sorted, and
// not the paths that become of them, which are many times larger.
func inOrder(all []api.Reach) []*api.Reach {
	ordered := make([]*api.Reach, len(all))
	for i := range all {
		ordered[i] = &all[i]
	}
	slices.SortFunc(ordered, func(a, b *api.Reach) int {
		return cmp.Or(cmp.Compare(a.Peer, b.Peer), a.Address.Compare(b.Address))
	})
	return ordered
}

// dropTwice removes from ordered paths those that are described twice: which
// counts would depend on the order of the documents.
func (x *index) dropTwice(paths []Path) []Path {
	kept := paths[:0]
	for i := 0; i < len(paths); {
		j := i + 1
		for j < len(paths) && paths[i].same(&paths[j]) {
			j++
		}
		if j == i+1 {
			kept = append(kept, paths[i])
		} else {
			x.notes.add(api.ReasonSourcesDisagree, paths[i].target().String(), "%s describes %s twice: neither counts",
				x.byID[paths[i].From].displayName(), paths[i].Address)
		}
		i = j
	}
	return kept
}

// verify makes a path of a reach document, or a note of why it is none.
func (x *index) verify(from *node, r *api.Reach, k kinds) (Path, bool) {
	to, subject := x.byID[r.Peer], api.PeerAddress{Peer: r.Peer, Address: r.Address}
	reject := func(reason api.Reason, why string) (Path, bool) {
		x.notes.add(reason, subject.String(), "%s reaches %s at %s: %s", from.displayName(), x.nameOf(r.Peer), r.Address, why)
		return Path{}, false
	}
	switch {
	case !subject.Valid():
		return reject(api.ReasonMalformedDocument, "that is not an address of a node")
	case to == nil:
		return reject(api.ReasonNoSuchNode, "nothing is known of that node")
	case to.Network == nil:
		return reject(api.ReasonNotYetRead, "its network is not known, so the address is not verified")
	}
	candidates := to.byAddress[bareAddress(r.Address)]
	if len(candidates) == 0 {
		return reject(api.ReasonSourcesDisagree, "it does not have that address itself")
	}
	p := Path{
		From: from.ID, To: to.ID, Address: r.Address, Source: r.Source, Interface: r.Interface,
		State: r.State, Reason: r.Reason, Stale: from.Stale || to.Stale, Simulated: from.Simulated || to.Simulated,
	}
	near, far := from.ifaces[r.Interface], farInterface(candidates, r.PeerInterface)
	if far != nil {
		p.PeerInterface = far.Name
	}
	p.Crossed = far != nil && r.PeerInterface != "" && r.PeerInterface != far.Name
	p.Expensive = isExpensive(near) || isExpensive(far)
	p.KindNow, p.Link = k.of(from, near, to, far)
	p.Kind = p.KindNow
	if p.Kind == api.LinkUnknown && r.Kind.Valid() {
		p.Kind = r.Kind
	}
	return p, true
}

func isExpensive(i *api.Interface) bool { return i != nil && i.Expensive != nil && *i.Expensive }

// nameOf is what people call a node, known or not.
func (x *index) nameOf(id api.NodeID) string {
	if n := x.byID[id]; n != nil {
		return n.displayName()
	}
	return id.Display()
}

// farInterface is the peer's interface that has the address: the one that the
// peer named where several have it, and none where that does not settle it.
func farInterface(candidates []*api.Interface, named string) *api.Interface {
	for _, f := range candidates {
		if f.Name == named {
			return f
		}
	}
	if len(candidates) == 1 {
		return candidates[0]
	}
	return nil
}
