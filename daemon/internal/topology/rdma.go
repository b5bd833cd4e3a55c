package topology

import (
	"slices"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology/readiness"
)

// Readiness is every cable's readiness for RDMA, in the order of the cables of
// [Graph.List], whose verdicts are of it.
func (g Graph) Readiness() []readiness.Report {
	out := make([]readiness.Report, len(g.cables))
	for i, c := range g.cables {
		out[i] = c.rdma
	}
	return out
}

// ReadinessOf is the readiness of one of the graph's cables.
func (g Graph) ReadinessOf(cable api.Cable) api.RDMAReadiness {
	sameEnd := func(a, b api.CableEnd) bool { return a.End == b.End }
	for _, c := range g.cables {
		if slices.EqualFunc(c.Ends, cable.Ends, sameEnd) && c.PeerName == cable.PeerName {
			return c.rdma.RDMAReadiness
		}
	}
	return api.RDMAReadiness{Link: cable.Link, Verdict: cable.RDMA, Checks: []api.RDMACheck{}}
}

// RDMACables is what the readiness is made of, in the same order.
func (g Graph) RDMACables() []readiness.Cable {
	out := make([]readiness.Cable, len(g.cables))
	for i, c := range g.cables {
		out[i] = g.rdmaCable(c)
	}
	return out
}

// judgeRDMA gives every cable its readiness. It needs the loops.
func (g *Graph) judgeRDMA() {
	for _, c := range g.cables {
		ends := g.rdmaCable(c)
		c.rdma = readiness.Of(ends)
		c.rdma.Ends, c.RDMA = c.Ends, c.rdma.Verdict
		if c.Stale && c.RDMA == api.RDMAUnknown && ends.High != nil {
			ends.Low.Stale, ends.High.Stale = false, false // no other cable has these
			c.wasReady = readiness.Of(ends).Verdict == api.RDMAReady
		}
	}
}

// rdmaCable is what the documents of both ends say of a cable. It needs no socket
// path and no address of the peer.
func (g *Graph) rdmaCable(c *cable) readiness.Cable {
	out := readiness.Cable{
		Link: c.Link, Low: c.rdmaEnd(c.low, c.views[0]), PeerName: c.PeerName, NonMember: c.lone,
		ForwardBitsPerS: c.way.total.tx, BackwardBitsPerS: c.way.total.rx, SpeedUnknown: c.way.total.why,
		Down: c.Verdict == api.VerdictDown, Hubs: c.Hubs, Loop: g.loopOf(c), Muted: c.Muted, Simulated: c.Simulated,
	}
	if c.high != nil {
		out.High = c.rdmaEnd(c.high, c.views[1])
	}
	return out
}

// rdmaEnd is what a node's documents say of one end, and the end of the other.
func (c *cable) rdmaEnd(p *port, v *view) *readiness.End {
	n := p.node
	e := &readiness.End{
		End: p.end(), Name: n.displayName(), Place: p.Place, BesideEthernet: p.BesideEthernet, Capability: p.Capability,
		Interface: p.iface(), PortUnknown: p.Unknown, Identity: n.Identity, IdentityUnknown: n.IdentityUnknown, Network: n.Network,
		RDMA: n.rdma[p.PortNumber], RDMAUnknown: n.RDMAUnknown[p.PortNumber], Stale: n.Stale, State: n.State,
		IsSuspect: p.has(api.ReasonRDMAPortSuspect),
	}
	if v != nil && v.peer.Services != nil {
		e.Sees = new(slices.Contains(v.peer.Services, api.ServiceRDMA))
	}
	if !c.Link.Valid() {
		return e
	}
	for i := range n.RDMAChanges {
		if n.RDMAChanges[i].Link == c.Link {
			e.Change = &n.RDMAChanges[i]
		}
	}
	for i := range n.Profiles {
		if q := &n.Profiles[i]; q.Transport == api.TransportRDMA && q.Link == c.Link {
			e.Profile = &q.LinkProfile
		}
	}
	return e
}

// loopOf are the names of the nodes of the first loop through a cable; nil where it
// is in none.
func (g *Graph) loopOf(c *cable) []string {
	if c.high == nil || !slices.Contains(c.Reasons, api.ReasonBridgeLoop) {
		return nil
	}
	for _, loop := range g.loops {
		if slices.Contains(loop, c.low.node.ID) && slices.Contains(loop, c.high.node.ID) {
			names := make([]string, len(loop))
			for i, id := range loop {
				names[i] = g.index.byID[id].displayName()
			}
			return names
		}
	}
	names := []string{c.low.node.displayName(), c.high.node.displayName()} // of more loops than are named
	slices.SortFunc(names, strings.Compare)
	return slices.Compact(names)
}
