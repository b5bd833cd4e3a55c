package links

import (
	"net/netip"
	"slices"

	"fulmen/daemon/api"
)

// Facts are the documents and the graph as they are now.
type Facts struct {
	// Cables are those of the graph.
	Cables []api.Cable
	// Network is a node's network document; nil where none is known. It is asked of
	// the nodes of a plan only.
	Network func(api.NodeID) *api.Network
	// Device is the RDMA device at an end of a cable; nil where none is known. It is
	// asked of the nodes of a plan only.
	Device func(api.LinkEnd) *api.RDMADevice
	// Name is what people call a node.
	Name func(api.NodeID) string
}

// State is what a plan's ranks talk over, as it was when their attempt began.
type State struct {
	cables map[api.LinkID]api.Cable
	// addresses are the IPv4 addresses at the cables' ends, of which RDMA makes its own.
	addresses map[api.LinkEnd][]netip.Addr
	// interfaces are those of the addresses over which ranks talk.
	interfaces map[netip.Addr]api.Interface
	// whole says that the plan was made of what was noted, so that nothing of it can
	// have been missing.
	whole bool
}

// Begin notes what the ranks of an attempt talk over. Of one that is not new, which began
// before this daemon did, what is not known yet is no change: see [State.Learn].
func Begin(plan api.Plan, now Facts, isNew bool) State {
	s := State{cables: map[api.LinkID]api.Cable{}, addresses: map[api.LinkEnd][]netip.Addr{}, interfaces: map[netip.Addr]api.Interface{}, whole: isNew}
	s.Learn(plan, now)
	return s
}

// Learn notes what was not known before.
func (s State) Learn(plan api.Plan, now Facts) {
	for _, l := range plan.Links {
		i := find(now.Cables, l.Link)
		if i < 0 {
			continue
		}
		if was, known := s.cables[l.Link]; !known || isMoreComplete(now.Cables[i], was) {
			s.cables[l.Link] = now.Cables[i]
		}
		for _, e := range now.Cables[i].Ends {
			if has, known := addressesOf(now.Network(e.End.Node), e.Interface); known && s.addresses[e.End] == nil {
				s.addresses[e.End] = has
			}
		}
	}
	for _, r := range plan.Ranks {
		for _, a := range r.Addresses {
			if i, has := interfaceOf(now.Network(r.Node), a); has {
				s.interfaces[a] = i
			}
		}
	}
}

// interfaceOf is the interface of a node that has an address.
func interfaceOf(n *api.Network, address netip.Addr) (api.Interface, bool) {
	if n == nil {
		return api.Interface{}, false
	}
	for _, i := range n.Interfaces {
		if slices.ContainsFunc(i.Addresses, func(a api.InterfaceAddress) bool { return a.Address.Addr().Unmap() == address }) {
			return i, true
		}
	}
	return api.Interface{}, false
}

// interfaceCalled is the interface of a node that has a name.
func interfaceCalled(n *api.Network, name string) (api.Interface, bool) {
	if n == nil || name == "" {
		return api.Interface{}, false
	}
	for _, i := range n.Interfaces {
		if i.Name == name {
			return i, true
		}
	}
	return api.Interface{}, false
}

// cableAt is the plan's cable at an interface of a node: the one that is known to be there,
// or the only one of which nobody knows where it is. It is not valid where there is none.
func (s State) cableAt(plan api.Plan, node api.NodeID, name string) (only api.LinkID) {
	unknown := 0
	for _, l := range plan.Links {
		if !l.Link.Valid() || l.Link.Low.Node != node && l.Link.High.Node != node {
			continue
		}
		at := ""
		for _, e := range s.cables[l.Link].Ends {
			if e.End.Node == node {
				at = e.Interface
			}
		}
		switch at {
		case name:
			return l.Link
		case "":
			only, unknown = l.Link, unknown+1
		}
	}
	if unknown != 1 {
		return api.LinkID{}
	}
	return only
}

// isMoreComplete reports whether a cable is known better than it was.
func isMoreComplete(is, was api.Cable) bool {
	return was.OneSided && !is.OneSided || was.RDMA != api.RDMAReady && is.RDMA == api.RDMAReady ||
		was.ForwardBitsPerS == nil && is.ForwardBitsPerS != nil || was.BackwardBitsPerS == nil && is.BackwardBitsPerS != nil
}

func find(all []api.Cable, link api.LinkID) int {
	if !link.Valid() {
		return -1
	}
	return slices.IndexFunc(all, func(c api.Cable) bool { return c.Link == link })
}

// Broken is the first thing that keeps a plan's ranks from talking as they did,
// in the order of the plan; nil where nothing does. What only cannot be told any
// more is no change.
func (s State) Broken(plan api.Plan, now Facts) *api.Cause {
	for _, l := range plan.Links {
		if !l.Link.Valid() {
			continue
		}
		was, known := s.cables[l.Link]
		var c *api.Cause
		switch i := find(now.Cables, l.Link); {
		case i < 0 && (known || s.whole):
			c = cause(api.ReasonLinkGone, l.Link.String(), "The cable %s was pulled.", linkName(l.Link, now.Name))
		case i >= 0 && known:
			c = s.changed(was, now.Cables[i], plan.Backend.RDMA(), now)
		}
		if c != nil {
			return c
		}
	}
	for _, r := range plan.Ranks {
		for _, a := range r.Addresses {
			if c := s.lost(plan, r.Node, a, now); c != nil {
				return c
			}
		}
	}
	return nil
}

// lost says that a node has an address no more, or nothing behind it: of a network it
// is the network that is lost.
func (s State) lost(plan api.Plan, node api.NodeID, address netip.Addr, now Facts) *api.Cause {
	network := now.Network(node)
	if network == nil {
		return nil
	}
	i, has := interfaceOf(network, address)
	if has && i.IsLinked() {
		return nil
	}
	was, known := s.interfaces[address]
	if !has { // its link may have gone first
		i, has = interfaceCalled(network, was.Name)
		has = has && !i.IsLinked()
	}
	switch {
	case known && was.Type.IsNetwork():
		return cause(api.ReasonNetworkLost, string(node), "%s lost its network on %s, over which its rank talks.", now.Name(node), was.Called())
	case has:
		if link := s.cableAt(plan, node, i.Name); link.Valid() { // that it is gone may be known later
			return cause(api.ReasonLinkDown, link.String(), "The cable %s is down: %s of %s has no link.", linkName(link, now.Name), i.Name, now.Name(node))
		}
		return cause(api.ReasonLinkDown, string(node), "The link of %s of %s, over which its rank talks, is down.", i.Name, now.Name(node))
	}
	return cause(api.ReasonAddressLost, string(node), "%s lost the address %s, over which its rank talks.", now.Name(node), address)
}
