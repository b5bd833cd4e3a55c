package show

import (
	"slices"

	"fulmen/daemon/api"
)

// wiring is what the documents and the cables of a cluster say together about
// each port.
type wiring struct {
	names   names
	domains map[string]api.LinkEnd // by domain UUID
	cables  map[api.LinkEnd][]api.Cable
}

func newWiring(n names, docs []api.Document, cables []api.Cable) wiring {
	w := wiring{names: n, domains: map[string]api.LinkEnd{}, cables: map[api.LinkEnd][]api.Cable{}}
	for _, p := range portsOf(docs) {
		if p.value.DomainUUID != "" {
			w.domains[p.value.DomainUUID] = p.end()
		}
	}
	for _, c := range cables {
		for _, e := range c.Ends {
			w.cables[e.End] = append(w.cables[e.End], c)
		}
	}
	return w
}

// port is a thunderbolt document.
type port struct {
	doc   api.Document
	value api.Thunderbolt
}

func (p port) end() api.LinkEnd {
	return api.LinkEnd{Node: p.doc.Node, Receptacle: p.value.Receptacle}
}

// portsOf are the ports among documents, in the order of nodes and numbers.
func portsOf(docs []api.Document) []port {
	var out []port
	for _, d := range docs {
		p := port{doc: d}
		if d.Kind == api.KindThunderbolt && !d.Deleted && d.Decode(&p.value) == nil {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b port) int { return a.end().Compare(b.end()) })
	return out
}

// plug is a line of what hangs on a port: a hub, or a machine.
type plug struct {
	depth int        // how many hubs it hangs below
	what  string     // its name
	speed string     // of the hop to it; empty where that is not known
	cable *api.Cable // the cable to a machine; nil of a hub, and where none is known
	note  string
	// oneSided says that the port itself does not tell of the cable.
	oneSided bool
}

// plugs are the lines of a port, each below the hub that it hangs on.
func (w wiring) plugs(p port) []plug {
	t := tree{wiring: w, port: p, left: slices.Clone(w.cables[p.end()]), shown: map[string]bool{}}
	t.below("", 0)
	for _, h := range p.value.Hubs { // what hangs on a hub that is not in the list, or in a ring
		if !t.shown[h.Route] {
			t.hub(h, 0)
		}
	}
	for _, peer := range p.value.Peers {
		if !t.shown[peer.Hub] && peer.Hub != "" {
			t.peer(peer, 0)
		}
	}
	for _, c := range t.left {
		t.lines = append(t.lines, plug{what: w.otherEnd(c, p.end()), speed: cableSpeedFrom(c, p.end()), cable: &c, oneSided: true})
	}
	return t.lines
}

// otherEnd names the end of a cable that is not this one.
func (w wiring) otherEnd(c api.Cable, this api.LinkEnd) string {
	if len(c.Ends) < 2 {
		return stranger(c.PeerName)
	}
	if c.Ends[0].End == this {
		return w.names.end(c.Ends[1].End)
	}
	return w.names.end(c.Ends[0].End)
}

// cableSpeedFrom is a cable's speed as one end has it: away from it first.
func cableSpeedFrom(c api.Cable, end api.LinkEnd) string {
	if len(c.Ends) > 1 && c.Ends[1].End == end {
		c.ForwardBitsPerS, c.BackwardBitsPerS = c.BackwardBitsPerS, c.ForwardBitsPerS
	}
	return cableSpeed(c)
}

// tree walks what hangs on a port. The routes of hubs are the peers' word, so
// a ring among them must not hold it up.
type tree struct {
	wiring
	port  port
	left  []api.Cable // cables that no peer was found for
	shown map[string]bool
	lines []plug
}

// below adds what hangs on the hub of a route; on the port, where it is empty.
func (t *tree) below(route string, depth int) {
	t.shown[route] = true
	for _, h := range t.port.value.Hubs {
		if h.Parent == route && !t.shown[h.Route] {
			t.hub(h, depth)
		}
	}
	for _, p := range t.port.value.Peers {
		if p.Hub == route {
			t.peer(p, depth)
		}
	}
}

func (t *tree) hub(h api.ThunderboltHub, depth int) {
	hop := h.Negotiated
	if hop == nil && h.Parent == "" {
		hop = t.port.value.Negotiated
	}
	t.lines = append(t.lines, plug{depth: depth, what: "hub " + hubName(h), speed: negotiated(hop)})
	t.below(h.Route, depth+1)
}

func hubName(h api.ThunderboltHub) string {
	if name := join(" ", h.Vendor, h.Name); name != "" {
		return name
	}
	return "without a name"
}

func (t *tree) peer(p api.ThunderboltPeer, depth int) {
	hop := p.Negotiated
	if hop == nil && p.Hub == "" {
		hop = t.port.value.Negotiated
	}
	line := plug{depth: depth, speed: negotiated(hop)}
	other, isNode := t.domains[p.DomainUUID]
	at := slices.IndexFunc(t.left, func(c api.Cable) bool {
		if isNode {
			return slices.ContainsFunc(c.Ends, func(e api.CableEnd) bool { return e.End == other })
		}
		return len(c.Ends) == 1 && c.PeerName == p.Name
	})
	if at >= 0 {
		c := t.left[at]
		t.left = slices.Delete(t.left, at, at+1)
		line.cable = &c
	}
	if line.what = stranger(p.Name); isNode {
		line.what = t.names.end(other)
	}
	t.lines = append(t.lines, line)
}
