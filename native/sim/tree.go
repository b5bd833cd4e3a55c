package sim

import (
	"slices"

	"fulmen/native"
	"fulmen/native/sim/scenario"
)

// tree is what hangs below one port.
//
// As on real machines, a hub belongs to the Mac that its upstream side leads
// to. That Mac enumerates it, and everything downstream of it, and sees the
// Macs there as peers behind the hub. A Mac on a downstream receptacle does not
// see the hub: to it the owner is a direct peer, and the owner's other peers
// are not visible. A hub that leads to no running Mac shows nothing to anybody.
type tree struct {
	link  native.Link // with what is plugged into the port itself
	hubs  []hubAt
	peers []peerAt
}

type hubAt struct {
	spec          scenario.Hub
	route, parent native.Route
	link          native.Link
}

type peerAt struct {
	mac  *mac
	port *scenario.Port
	hub  native.Route // of the last hub before it
	link native.Link
}

// below walks what hangs on a Mac's port.
func (w *World) below(m *mac, portNumber int) tree {
	t := tree{link: native.Link{State: native.LinkDown}}
	near := scenario.End{Owner: m.spec.Name, PortNumber: portNumber}
	if c := w.cables[near]; c != nil && m.runs() {
		far, link := c.from(near)
		w.descend(&t, near, far, link, 0, 1)
		if len(t.hubs) != 0 || len(t.peers) != 0 {
			t.link = link
		}
	}
	return t
}

// descend adds what is at the far end of a cable whose near end is in the tree
// of the port root. parent is the route of the hub above, route that of a hub
// that would be found.
func (w *World) descend(t *tree, root, far scenario.End, link native.Link, parent, route native.Route) {
	hub, isHub := w.scenario.Hub(far.Owner)
	if !isHub || far.PortNumber != 0 {
		// A Mac's port, or a receptacle that looks upstream to another Mac.
		other, ok := w.owner(far)
		if !ok || other == root {
			return
		}
		m := w.mac(other.Owner)
		if m.runs() {
			t.peers = append(t.peers, peerAt{m, m.port(other.PortNumber), parent, link})
		}
		return
	}
	if slices.ContainsFunc(t.hubs, func(known hubAt) bool { return known.spec.Name == hub.Name }) {
		return
	}
	t.hubs = append(t.hubs, hubAt{hub, route, parent, link})
	for n := 1; n <= hub.Downstream; n++ {
		near := scenario.End{Owner: hub.Name, Hub: true, PortNumber: n}
		if c := w.cables[near]; c != nil {
			next, link := c.from(near)
			w.descend(t, root, next, link, route, route.Below(n))
		}
	}
}

// owner follows a receptacle upstream to the Mac's port in whose tree it is. It
// is false where it leads to none: an upstream side left open, joined to
// another upstream side, or a circle of hubs.
func (w *World) owner(s scenario.End) (scenario.End, bool) {
	for range len(w.scenario.Hubs) + 1 {
		if !s.Hub {
			return s, true
		}
		up := scenario.End{Owner: s.Owner, Hub: true}
		c := w.cables[up]
		if c == nil {
			return s, false
		}
		far, _ := c.from(up)
		s = far
	}
	return s, false
}
