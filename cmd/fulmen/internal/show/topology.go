package show

import (
	"fmt"
	"slices"
	"strings"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Topology is what fulmen topology shows, of a live cluster and of a scenario
// alike. In JSON each field is as the method of its comment gives it.
type Topology struct {
	// Nodes are as in node.list.
	Nodes []api.NodeView `json:"nodes"`
	// Docs are as in state.get, of the kinds in TopologyKinds.
	Docs []api.Document `json:"docs"`
	// Links is link.list.
	Links api.LinkListResult `json:"links"`
}

// TopologyKinds are the documents behind a Topology.
func TopologyKinds() []api.Kind {
	return []api.Kind{api.KindIdentity, api.KindThunderbolt, api.KindRDMA, api.KindNetwork, api.KindReach}
}

// Topology writes what joins each two nodes, then what is plugged where as a tree; on wide
// screens every path too.
func (v View) Topology(w *Page, t Topology) {
	n := NamesOf(t.Nodes)
	v.pairs(w, t.Links, t.Nodes)
	t.Links.Rows = v.ways(t.Links, t.Nodes)
	if v.Wide && len(t.Links.Rows) > 0 {
		v.paths(w, t.Links.Rows, newInterfaces(t.Nodes, t.Docs, t.Links.Cables), n)
		w.Line("")
	}
	w.Line(topologyTotals(t))
	loops(w, t.Links.Loops, n)
	w.Line("")
	cables := slices.Clone(t.Links.Cables)
	for i := range cables {
		if !v.Wide { // the pairs say why
			cables[i].Reasons, cables[i].Stale, cables[i].Muted = nil, false, false
		}
	}
	wires, table := newWiring(n, t.Docs, cables), text.NewTable()
	areMixed := slices.ContainsFunc(t.Nodes, func(n api.NodeView) bool { return !n.Simulated })
	for i, node := range t.Nodes {
		if i > 0 {
			table.Span("")
		}
		node.Simulated = node.Simulated && areMixed // the totals say it of all
		table.Span(v.nodeLine(node, t.Docs))
		v.ports(table, node, t.Docs, wires)
	}
	w.Table(table)
}

// nodeLine is what a node is, and whether what follows about it is of now.
func (v View) nodeLine(node api.NodeView, docs []api.Document) string {
	f := facts{v, node.Node, docs}
	var identity api.Identity
	doc, found := f.read(api.KindIdentity, &identity)
	name := NamesOf([]api.NodeView{node}).Of(node.Node)
	if node.Self {
		name += " *"
	}
	machine, stale := "", ""
	if found {
		machine = f.hardware(identity, doc)
	}
	if node.Liveness != api.LivenessAlive && node.Liveness != "" {
		stale = "STALE: " + join(": ", string(node.Liveness), strings.TrimSuffix(node.Message, "."))
	}
	return join("  ", name, machine, stale, simulated(node.Simulated))
}

// ports adds the lines of a node's ports.
func (v View) ports(table *text.Table, node api.NodeView, docs []api.Document, wires wiring) {
	found := false
	for _, p := range portsOf(docs) {
		if p.doc.Node != node.Node {
			continue
		}
		found = true
		rdma := portRDMA(docs, p.end())
		lines := wires.plugs(p)
		if len(lines) == 0 {
			if p.value.Connected != nil && !*p.value.Connected && !v.Wide {
				rdma = "" // of an empty port it tells nothing about the cluster
			}
			v.portRow(table, p, plug{what: v.unplugged(p), note: lastReported(p.doc)}, rdma)
		}
		for i, line := range lines {
			line.what = strings.Repeat("  ", line.depth) + "-> " + line.what
			if i == 0 {
				line.note = join(", ", line.note, lastReported(p.doc))
				v.portRow(table, p, line, rdma)
				continue
			}
			cells := []string{"", "", line.what, line.speed, "", lineNote(line)}
			if v.Wide {
				cells = append([]string{"", "", "", ""}, cells[2:]...)
			}
			table.Row(cells...)
		}
	}
	if !found {
		table.Row("  no Thunderbolt ports are known")
	}
}

// unplugged is what a port holds that lists nothing.
func (v View) unplugged(p port) string {
	switch {
	case p.value.Connected == nil:
		return v.unknown(p.doc, "connected")
	case *p.value.Connected:
		return "-> a device that is neither a hub nor a computer"
	}
	return "empty"
}

func (v View) portRow(table *text.Table, p port, line plug, rdma string) {
	label := "  port " + p.value.PortNumber.String()
	if !v.Wide {
		table.Row(label, p.value.Place, line.what, line.speed, rdma, lineNote(line))
		return
	}
	can := v.or(generation(p.value.Capability), p.doc, "capability")
	table.Row(label, v.or(p.value.Place, p.doc, "place"), can, v.or(p.value.Interface, p.doc, "interface"), line.what, line.speed, rdma, lineNote(line))
}

// lineNote is what is to be said of a cable that is not as it should be.
func lineNote(line plug) string {
	if line.cable == nil {
		return line.note
	}
	c := *line.cable
	if len(c.Ends) < 2 && slices.Equal(c.Reasons, []api.Reason{api.ReasonPeerUnknown}) {
		c.Verdict, c.Reasons = api.VerdictGood, nil // the name of the other end says it
	}
	if line.oneSided {
		c.OneSided = false
		line.note = join(", ", "only the other end sees it", line.note)
	}
	verdict := cableVerdict(c)
	verdict = strings.TrimPrefix(strings.TrimPrefix(verdict, string(api.VerdictGood)), ", ")
	return join(", ", verdict, line.note)
}

// topologyTotals counts what is there.
func topologyTotals(t Topology) string {
	sim := false
	for _, n := range t.Nodes {
		sim = sim || n.Simulated
	}
	measured := 0
	for _, r := range t.Links.Rows {
		if !r.MeasuredAt.IsZero() {
			measured++
		}
	}
	paths := text.Count(len(t.Links.Rows), "path")
	if len(t.Links.Rows) > 0 {
		paths += fmt.Sprintf(" (%d measured)", measured)
	}
	return join(", ", text.Count(len(t.Nodes), "node"), cableCounts(t.Links.Cables), paths, simulated(sim)) + "."
}

// cableCounts is how many cables there are, and how many of them are not good:
// 3 cables (1 slow).
func cableCounts(cables []api.Cable) string {
	by := map[api.LinkVerdict]int{}
	for _, c := range cables {
		by[c.Verdict]++
	}
	var bad []string
	for _, v := range []api.LinkVerdict{api.VerdictDown, api.VerdictBad, api.VerdictSlow} {
		if by[v] > 0 {
			bad = append(bad, fmt.Sprintf("%d %s", by[v], v))
		}
	}
	if len(bad) == 0 {
		return text.Count(len(cables), "cable")
	}
	return text.Count(len(cables), "cable") + " (" + strings.Join(bad, ", ") + ")"
}

// loops warns of rings of bridged cables.
func loops(w *Page, rings [][]api.NodeID, n Names) {
	for _, ring := range rings {
		info, _ := api.LookupReason(api.ReasonBridgeLoop)
		fmt.Fprintf(w, "\nWarning: %s: %s.\n  %s\n", strings.TrimSuffix(info.Text, "."), text.Clean(n.List(ring)), info.Remedy)
	}
}

// wiring is what the documents and the cables of a cluster say together about
// each port.
type wiring struct {
	names   Names
	domains map[string]api.LinkEnd // by domain UUID
	cables  map[api.LinkEnd][]api.Cable
}

func newWiring(n Names, docs []api.Document, cables []api.Cable) wiring {
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
	return api.LinkEnd{Node: p.doc.Node, PortNumber: p.value.PortNumber}
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
		return nonMember(c.PeerName)
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
	if line.what = nonMember(p.Name); isNode {
		line.what = t.names.end(other)
	}
	t.lines = append(t.lines, line)
}
