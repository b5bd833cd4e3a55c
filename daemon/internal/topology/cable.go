package topology

import (
	"cmp"
	"slices"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology/readiness"
)

// cable is a Thunderbolt cable as the graph holds it.
type cable struct {
	api.Cable
	// low and high are the ends; high is nil where the other end is not known.
	low, high *port
	way       way
	// views are what the low and the high end tell; nil where one tells nothing.
	views [2]*view
	rdma  readiness.Report
	// peerUUID is the domain of an end that is not known; it orders, and is never shown.
	peerUUID string
}

// between reports whether the cable joins the two nodes, in either direction.
func (c *cable) between(a, b api.NodeID) bool {
	return c.high != nil && (c.low.node.ID == a && c.high.node.ID == b || c.low.node.ID == b && c.high.node.ID == a)
}

// joint is a cable while its views are gathered: from the lower end, from the higher.
type joint struct {
	low, high         *port
	fromLow, fromHigh *view
}

// cablesOf matches what every port tells with the domains of all ports.
func cablesOf(x *index) []*cable {
	joints := map[api.LinkID]*joint{}
	var out []*cable
	for _, n := range x.nodes {
		for _, p := range n.ports {
			for _, v := range viewsOf(p) {
				if lone, reason := x.join(joints, v); lone {
					out = append(out, loneCable(v, reason))
				}
			}
		}
	}
	for id, j := range joints {
		out = append(out, jointCable(id, j))
	}
	slices.SortFunc(out, compareCables)
	return out
}

// viewsOf lists the peers of a port, each domain once: the way with the fewest
// hubs where a port tells of one twice.
func viewsOf(p *port) []*view {
	if len(p.Peers) == 0 {
		return nil
	}
	views := make([]*view, len(p.Peers))
	for i := range p.Peers {
		views[i] = viewOf(p, &p.Peers[i])
	}
	slices.SortFunc(views, func(a, b *view) int {
		return cmp.Or(strings.Compare(strings.ToUpper(a.peer.DomainUUID), strings.ToUpper(b.peer.DomainUUID)),
			cmp.Compare(len(a.hubs), len(b.hubs)), cmp.Compare(a.peer.Hub, b.peer.Hub), cmp.Compare(a.peer.Name, b.peer.Name))
	})
	return slices.CompactFunc(views, func(a, b *view) bool {
		return a.peer.DomainUUID != "" && strings.EqualFold(a.peer.DomainUUID, b.peer.DomainUUID)
	})
}

// join puts a view with that of the other end. It reports true, and why, where
// the other end is not known.
func (x *index) join(joints map[api.LinkID]*joint, v *view) (bool, api.Reason) {
	other, claimed := x.byUUID[strings.ToUpper(v.peer.DomainUUID)]
	switch {
	case v.peer.DomainUUID == "":
		return true, api.ReasonSourceMalformed
	case v.at.shared || claimed && other == nil:
		return true, api.ReasonSourcesDisagree
	case !claimed:
		return true, api.ReasonPeerUnknown
	}
	id, err := api.NewLinkID(v.at.end(), other.end())
	if err != nil {
		x.notes.add(api.ReasonSourceMalformed, v.at.end().String(), "%s names itself as its peer", v.at.name())
		return false, ""
	}
	j := joints[id]
	if j == nil {
		j = &joint{low: v.at, high: other}
		if id.Low != v.at.end() {
			j.low, j.high = other, v.at
		}
		joints[id] = j
	}
	if j.low == v.at {
		j.fromLow = v
	} else {
		j.fromHigh = v
	}
	return false, ""
}

// loneCable is a cable of which only one end is known.
func loneCable(v *view, reason api.Reason) *cable {
	c := &cable{low: v.at, way: wayOf(v, nil), views: [2]*view{v, nil}}
	c.Ends = []api.CableEnd{endOf(v.at)}
	c.PeerName, c.peerUUID = v.peer.Name, strings.ToUpper(v.peer.DomainUUID)
	c.OneSided = true
	c.fill(reason)
	return c
}

// jointCable is a cable of which both ends are known.
func jointCable(id api.LinkID, j *joint) *cable {
	c := &cable{low: j.low, high: j.high, way: wayOf(j.fromLow, j.fromHigh), views: [2]*view{j.fromLow, j.fromHigh}}
	c.Link = id
	c.Ends = []api.CableEnd{endOf(j.low), endOf(j.high)}
	reason := api.Reason("")
	if j.fromLow == nil || j.fromHigh == nil {
		c.OneSided = true
		reason = api.ReasonSourcesDisagree
		if silentGone(j) {
			reason = api.ReasonLinkDown
		}
	}
	c.fill(reason)
	return c
}

// silentGone reports whether the only end that tells of the cable cannot be
// reached, while the other, which can, sees nothing there.
func silentGone(j *joint) bool {
	if j.fromLow != nil {
		return j.low.node.Stale && !j.high.node.Stale
	}
	return j.high.node.Stale && !j.low.node.Stale
}

func endOf(p *port) api.CableEnd {
	e := api.CableEnd{End: p.end(), Place: p.Place, Interface: p.iface()}
	if d := p.device(); d != nil {
		e.Device = d.Name
		if d.Limits != nil {
			e.Limits = *d.Limits
		}
	}
	return e
}

// fill derives the rest. reason is why one end is not known or silent.
func (c *cable) fill(reason api.Reason) {
	c.Stale = c.low.node.Stale || c.high != nil && c.high.node.Stale
	c.Simulated = c.low.node.Simulated || c.high != nil && c.high.node.Simulated
	c.Hubs = c.way.hubNames()
	c.Kind = c.way.kind()
	if total := c.way.total; total.known() {
		c.ForwardBitsPerS, c.BackwardBitsPerS = &total.tx, &total.rx
	}
	c.judge(reason)
}

func compareCables(a, b *cable) int {
	for i := range min(len(a.Ends), len(b.Ends)) {
		if d := a.Ends[i].End.Compare(b.Ends[i].End); d != 0 {
			return d
		}
	}
	return cmp.Or(cmp.Compare(len(a.Ends), len(b.Ends)), cmp.Compare(a.PeerName, b.PeerName),
		slices.Compare(a.Hubs, b.Hubs), cmp.Compare(a.peerUUID, b.peerUUID))
}
