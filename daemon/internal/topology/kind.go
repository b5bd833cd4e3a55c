package topology

import (
	"slices"

	"fulmen/daemon/api"
)

// kinds tells what a path over sockets is made of, by the cables of each pair of nodes.
type kinds map[[2]api.NodeID][]*cable

func newKinds(cables []*cable) kinds {
	k := kinds{}
	for _, c := range cables {
		if c.high != nil {
			pair := [2]api.NodeID{c.low.node.ID, c.high.node.ID}
			k[pair] = append(k[pair], c)
		}
	}
	return k
}

// of tells the kind by the interfaces at both ends, never by addresses: ranges
// are used for anything. A tunnel is one at either end that says so; otherwise
// wireless at either end makes the path wireless. Where an end is not known, so
// is the path.
func (k kinds) of(from *node, near *api.Interface, to *node, far *api.Interface) (api.LinkKind, api.LinkID) {
	a, b := from.typeOf(near), to.typeOf(far)
	either := func(t api.InterfaceType) bool { return a == t || b == t }
	switch {
	case either(api.InterfaceVPN):
		return api.LinkVPN, api.LinkID{}
	case either(api.InterfaceWiFi):
		return api.LinkWiFi, api.LinkID{}
	case a != b:
		return api.LinkUnknown, api.LinkID{}
	}
	switch a {
	case api.InterfaceEthernet:
		return api.LinkEthernet, api.LinkID{}
	case api.InterfaceLoopback:
		return api.LinkLoopback, api.LinkID{}
	case api.InterfaceThunderbolt:
		return k.thunderbolt(from, near.Name, to, far.Name)
	}
	return api.LinkUnknown, api.LinkID{}
}

// typeOf is the type of an interface; that of a bridge is its members', where
// they have one.
func (n *node) typeOf(i *api.Interface) api.InterfaceType {
	switch {
	case i == nil:
		return api.InterfaceUnknown
	case i.Type != api.InterfaceBridge:
		return i.Type
	}
	found := api.InterfaceType("")
	for _, member := range n.Network.Interfaces {
		if member.Bridge != i.Name && !slices.Contains(i.Members, member.Name) {
			continue
		}
		if found != "" && found != member.Type {
			return api.InterfaceUnknown
		}
		found = member.Type
	}
	if found == "" || found == api.InterfaceBridge {
		return api.InterfaceUnknown
	}
	return found
}

// thunderbolt finds the cable under a path. Over bridges the frames can take
// any cable between the two: then the kind is theirs where they share one.
func (k kinds) thunderbolt(from *node, near string, to *node, far string) (api.LinkKind, api.LinkID) {
	pair, first, second := [2]api.NodeID{from.ID, to.ID}, near, far
	if from.ID > to.ID {
		pair, first, second = [2]api.NodeID{to.ID, from.ID}, far, near
	}
	var found *cable
	many := false
	for _, c := range k[pair] {
		if !c.low.carries(first) || !c.high.carries(second) {
			continue
		}
		if found != nil {
			if found.Kind != c.Kind {
				return api.LinkUnknown, api.LinkID{}
			}
			many = true
		}
		found = c
	}
	switch {
	case found == nil:
		return api.LinkUnknown, api.LinkID{}
	case many:
		return found.Kind, api.LinkID{}
	}
	return found.Kind, found.Link
}

// carries reports whether traffic of an interface can leave by the port: it is
// the port's own, or the bridge that this one belongs to.
func (p *port) carries(iface string) bool {
	own := p.iface()
	if own == "" || own == iface {
		return own != ""
	}
	return p.node.bridgeOf(own) == iface
}

// bridgeOf is the bridge that an interface belongs to now; empty where to none.
func (n *node) bridgeOf(iface string) string {
	i := n.ifaces[iface]
	switch {
	case i == nil:
		return ""
	case i.Bridge != "":
		return i.Bridge
	}
	for j := range n.Network.Interfaces {
		if f := &n.Network.Interfaces[j]; f.Type == api.InterfaceBridge && slices.Contains(f.Members, iface) {
			return f.Name
		}
	}
	return ""
}

// KeptKind is the kind of one (peer, address), and when it was last confirmed.
type KeptKind struct {
	// Kind is unknown, or empty, where it was never known.
	Kind api.LinkKind
	// At is zero where the kind was never known.
	At api.Time
}

// KeepKind is the rule for whoever writes a reach document: what is known now
// replaces what was known; a source that falls silent changes nothing, so that
// screens do not flicker and the age says since when it is silent. The rule
// ends with the address: a new one begins with the zero KeptKind.
func KeepKind(previous KeptKind, current api.LinkKind, now api.Time) KeptKind {
	if current != api.LinkUnknown && current.Valid() {
		return KeptKind{Kind: current, At: now}
	}
	if previous.Kind == api.LinkUnknown || !previous.Kind.Valid() {
		return KeptKind{Kind: api.LinkUnknown}
	}
	return previous
}
