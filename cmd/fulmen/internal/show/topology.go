package show

import (
	"fmt"
	"io"
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

// Topology writes what is plugged where as a tree, then the paths and the totals.
func (v View) Topology(w io.Writer, t Topology) error {
	n := namesOf(t.Nodes)
	wires := newWiring(n, t.Docs, t.Links.Cables)
	table := text.NewTable()
	for i, node := range t.Nodes {
		if i > 0 {
			table.Span("")
		}
		table.Span(v.nodeLine(node, t.Docs))
		v.ports(table, node, t.Docs, wires)
	}
	if err := table.Write(w); err != nil {
		return err
	}
	if len(t.Links.Rows) > 0 {
		fmt.Fprintln(w)
		if err := v.paths(w, sorted(t.Links.Rows, t.Nodes), newInterfaces(t.Nodes, t.Docs, t.Links.Cables), n); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(w, "\n%s\n", topologyTotals(t)); err != nil {
		return err
	}
	return loops(w, t.Links.Loops, n)
}

// nodeLine is what a node is, and whether what follows about it is of now.
func (v View) nodeLine(node api.NodeView, docs []api.Document) string {
	f := facts{v, node.Node, docs}
	var identity api.Identity
	doc, found := f.read(api.KindIdentity, &identity)
	name := namesOf([]api.NodeView{node}).of(node.Node)
	if node.Self {
		name += " *"
	}
	machine := ""
	if found {
		machine = f.hardware(identity, doc)
	}
	return join("  ", name, machine, staleness(node), simulated(node.Simulated))
}

// staleness says of a node that is not reached why, and that what is shown of
// it may be old; nothing of one that is.
func staleness(node api.NodeView) string {
	if node.Liveness == api.LivenessAlive || node.Liveness == "" {
		return ""
	}
	return "STALE: " + join(": ", string(node.Liveness), strings.TrimSuffix(node.Message, "."))
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
			v.portRow(table, p, plug{what: v.unplugged(p), note: lastTold(p.doc)}, rdma)
		}
		for i, line := range lines {
			line.what = strings.Repeat("  ", line.depth) + "-> " + line.what
			if i == 0 {
				line.note = join(", ", line.note, lastTold(p.doc))
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
		return "-> a device that is neither hub nor computer"
	}
	return "empty"
}

func (v View) portRow(table *text.Table, p port, line plug, rdma string) {
	label := "  port " + p.value.Receptacle.String()
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
	c.Simulated = false // the node's line says it
	if len(c.Ends) < 2 && slices.Equal(c.Reasons, []api.Reason{api.ReasonPeerUnknown}) {
		c.Verdict, c.Reasons = api.VerdictGood, nil // the name of the other end says it
	}
	if line.oneSided {
		c.OneSided = false
		line.note = join(", ", "only the other end sees it", line.note)
	}
	said := cableVerdict(c)
	said = strings.TrimPrefix(strings.TrimPrefix(said, string(api.VerdictGood)), ", ")
	return join(", ", said, line.note)
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
	paths := count(len(t.Links.Rows), "path")
	if len(t.Links.Rows) > 0 {
		paths += inParentheses(fmt.Sprintf("%d measured", measured))
	}
	return join(", ", count(len(t.Nodes), "node"), cableCounts(t.Links.Cables), paths, simulated(sim)) + "."
}

func inParentheses(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
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
	return count(len(cables), "cable") + inParentheses(strings.Join(bad, ", "))
}

// loops warns of rings of bridged cables.
func loops(w io.Writer, rings [][]api.NodeID, n names) error {
	for _, ring := range rings {
		var who []string
		for _, id := range ring {
			who = append(who, n.of(id))
		}
		info, _ := api.LookupReason(api.ReasonBridgeLoop)
		if _, err := fmt.Fprintf(w, "\nWarning: %s: %s.\n  %s\n", strings.TrimSuffix(info.Text, "."), text.Clean(strings.Join(who, ", ")), info.Remedy); err != nil {
			return err
		}
	}
	return nil
}
