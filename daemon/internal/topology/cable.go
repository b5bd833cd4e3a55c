package topology

import (
	"cmp"
	"reflect"
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
	// lone is why the other end is not known; empty where it is.
	lone api.Reason
	way  way
	// views are what the low and the high end tell; nil where one tells nothing.
	views [2]*view
	rdma  readiness.Report
	// wasReady says that RDMA was ready by what an end that is silent now said last.
	wasReady bool
	// peerUUID is the domain of an end that is not known; it orders, and is never shown.
	peerUUID string
}

// between reports whether the cable joins the two nodes, in either direction.
func (c *cable) between(a, b api.NodeID) bool {
	return c.high != nil && (c.low.node.ID == a && c.high.node.ID == b || c.low.node.ID == b && c.high.node.ID == a)
}

// cablesOf matches what every port tells with the domains of all ports.
func cablesOf(x *index) []*cable {
	joined := map[api.LinkID]*cable{}
	var all []*cable
	for _, n := range x.nodes {
		for _, p := range n.ports {
			for _, v := range viewsOf(p) {
				if c := x.newCable(joined, v); c != nil {
					all = append(all, c)
				}
			}
		}
	}
	for _, c := range all {
		c.fill()
	}
	slices.SortFunc(all, compareCables)
	return all
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

// newCable makes the cable that one end's view shows; nil where it shows none, or where
// the other end's view has made it already.
func (x *index) newCable(joined map[api.LinkID]*cable, v *view) *cable {
	domain := strings.ToUpper(v.peer.DomainUUID)
	other, claimed := x.byUUID[domain]
	c := &cable{low: v.at, views: [2]*view{v}, peerUUID: domain}
	switch {
	case domain == "":
		c.lone = api.ReasonSourceMalformed
	case v.at.shared || claimed && other == nil:
		c.lone = api.ReasonSourcesDisagree
	case !claimed:
		c.lone = api.ReasonPeerUnknown
	}
	if c.lone != "" {
		c.PeerName = v.peer.Name
		return c
	}
	id, err := api.NewLinkID(v.at.end(), other.end())
	if err != nil {
		x.notes.add(api.ReasonSourceMalformed, v.at.end().String(), "%s names itself as its peer", v.at.name())
		return nil
	}
	isHigh := id.Low != v.at.end()
	if known := joined[id]; known != nil && isHigh {
		known.views[1] = v
		return nil
	} else if known != nil {
		known.views[0] = v
		return nil
	}
	c.Link, c.high, c.peerUUID = id, other, ""
	if isHigh {
		c.low, c.high, c.views = other, v.at, [2]*view{nil, v}
	}
	joined[id] = c
	return c
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

// fill derives the rest of what the ends tell.
func (c *cable) fill() {
	c.way = wayOf(c.views[0], c.views[1])
	c.Ends = []api.CableEnd{endOf(c.low)}
	reason := c.lone
	c.OneSided = c.views[0] == nil || c.views[1] == nil
	if c.high != nil {
		c.Ends = append(c.Ends, endOf(c.high))
	}
	if c.high != nil && c.OneSided {
		reason = api.ReasonSourcesDisagree
		reporter, silent := c.low, c.high
		if c.views[0] == nil {
			reporter, silent = silent, reporter
		}
		if reporter.node.Stale && !silent.node.Stale { // who can be reached sees nothing there
			reason = api.ReasonLinkDown
		}
	}
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

// Diff is the difference between two graphs; false where there is none.
func Diff(before, after api.LinkListResult) (api.LinkChanged, bool) {
	var c api.LinkChanged
	c.Cables, c.GoneCables = cableChanges(before.Cables, after.Cables)
	c.Rows, c.GoneRows = changes(before.Rows, after.Rows, func(r *api.LinkRow) api.LinkRowKey { return r.LinkRowKey })
	c.Networks, c.GoneNetworks = changes(before.Networks, after.Networks, func(n *api.NetworkLine) api.NetworkLineKey { return n.NetworkLineKey })
	if !slices.EqualFunc(before.Loops, after.Loops, slices.Equal) {
		c.Loops = append([][]api.NodeID{}, after.Loops...) // none is said as an empty list
	}
	return c, len(c.Cables)+len(c.GoneCables)+len(c.Rows)+len(c.GoneRows)+len(c.Networks)+len(c.GoneNetworks) > 0 || c.Loops != nil
}

// changes gives what is new or changed, and the keys of what is gone, each in its order.
func changes[K comparable, V any](before, after []V, keyOf func(*V) K) (put []V, gone []K) {
	was := make(map[K]*V, len(before))
	for i := range before {
		was[keyOf(&before[i])] = &before[i]
	}
	for i := range after {
		key := keyOf(&after[i])
		if old := was[key]; old == nil || !reflect.DeepEqual(*old, after[i]) {
			put = append(put, after[i])
		}
		delete(was, key)
	}
	for i := range before {
		if key := keyOf(&before[i]); was[key] != nil {
			gone = append(gone, key)
		}
	}
	return put, gone
}

// cableChanges lists the ends whose cables changed, and those that have none any more. A
// hub gives a receptacle several, and
// of those without an id two may look alike: wherever one of an end is gone, the
// end is given with all that it has left.
func cableChanges(before, after []api.Cable) (put []api.Cable, gone []api.LinkEnd) {
	was, is := byFirstEnd(before), byFirstEnd(after)
	for _, end := range endsOf(before, after) {
		old, now := was[end], is[end]
		if reflect.DeepEqual(old, now) {
			continue
		}
		if !keepsAll(old, now) {
			gone = append(gone, end)
			put = append(put, now...)
			continue
		}
		for _, cable := range now {
			if !slices.ContainsFunc(old, func(o api.Cable) bool { return reflect.DeepEqual(o, cable) }) {
				put = append(put, cable)
			}
		}
	}
	return put, gone
}

func byFirstEnd(cables []api.Cable) map[api.LinkEnd][]api.Cable {
	groups := map[api.LinkEnd][]api.Cable{}
	for _, cable := range cables {
		groups[cable.Ends[0].End] = append(groups[cable.Ends[0].End], cable)
	}
	return groups
}

// endsOf lists the first ends of cables, in order, each once.
func endsOf(lists ...[]api.Cable) []api.LinkEnd {
	var ends []api.LinkEnd
	for _, cables := range lists {
		for _, cable := range cables {
			ends = append(ends, cable.Ends[0].End)
		}
	}
	slices.SortFunc(ends, api.LinkEnd.Compare)
	return slices.Compact(ends)
}

// cableKey is how a client tells the cables of one end apart.
type cableKey struct {
	link api.LinkID
	peer string
}

// keepsAll reports whether every cable of an end is still there, and no two of
// them have one key, before or now.
func keepsAll(old, now []api.Cable) bool {
	before, after := keysOf(old), keysOf(now)
	for key := range before {
		if !after[key] {
			return false
		}
	}
	return len(before) == len(old) && len(after) == len(now)
}

func keysOf(cables []api.Cable) map[cableKey]bool {
	keys := map[cableKey]bool{}
	for _, cable := range cables {
		keys[cableKey{cable.Link, cable.PeerName}] = true
	}
	return keys
}
