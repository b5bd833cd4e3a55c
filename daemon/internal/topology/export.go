package topology

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"fulmen/daemon/api"
)

// Export writes a graph in a form that other tools read. An error names what is
// missing.
func (g Graph) Export(p api.LinkExportParams, find func(api.NodeRef) (api.NodeID, error)) (api.LinkExportResult, error) {
	var nodes []api.NodeID
	for _, ref := range p.Nodes {
		node, err := find(ref)
		if err != nil {
			return api.LinkExportResult{}, err
		}
		nodes = append(nodes, node)
	}
	var result api.LinkExportResult
	switch p.Form {
	case api.ExportJSON:
		text, err := json.MarshalIndent(g.List(), "", "  ")
		if err != nil {
			return result, err
		}
		result.Text, result.Notes = string(text)+"\n", g.Notes
	case api.ExportDOT:
		result.Text, result.Notes = g.DOT(), g.Notes
	case api.ExportHostfile:
		text, notes, err := g.Hostfile(nodes, p.Backend)
		if err != nil {
			return result, err
		}
		result.Text, result.Notes = text, notes
	case api.ExportMatrix:
		matrix, notes, err := g.Matrix(nodes, p.Backend)
		if err != nil {
			return result, err
		}
		result.Text, result.Notes = matrix.Text(), notes
	default:
		return result, api.Errorf(api.ReasonBadValue, "form", "%q is no form; it is one of json, dot, hostfile, matrix", string(p.Form))
	}
	return result, nil
}

// DOT is the cables as a GraphViz graph, in the layout that
// mlx.distributed_config prints: an undirected graph of rectangles, the two
// interfaces on each edge. Added to that are the speed, hubs as ellipses,
// computers without Fulmen as dashed rectangles; a cable that one end alone
// sees is dashed, one that is down dotted.
func (g Graph) DOT() string {
	d := &dotWriter{nodes: map[api.NodeID]string{}, drawn: map[string]bool{}}
	d.out.WriteString("graph G {\n  node [shape=rectangle];\n")
	for i, n := range g.index.nodes {
		id := "n" + strconv.Itoa(i+1)
		d.nodes[n.ID] = id
		d.vertex(id, n.displayName(), "")
	}
	d.placeHubs(g.cables)
	for i, c := range g.cables {
		d.cable(c, "p"+strconv.Itoa(i+1))
	}
	d.out.WriteString("}\n")
	return d.out.String()
}

type dotWriter struct {
	out   strings.Builder
	nodes map[api.NodeID]string
	hubs  map[hubPlace]string
	// drawn are the edges that are there: cables behind one hub share its upstream piece.
	drawn map[string]bool
}

func (d *dotWriter) vertex(id, label, style string) {
	fmt.Fprintf(&d.out, "  %s [label=%s%s];\n", id, dotQuoted(label), style)
}

// placeHubs draws every hub once, by all the places that the ends give it.
func (d *dotWriter) placeHubs(cables []*cable) {
	var groups []*hubGroup
	of := map[hubPlace]*hubGroup{}
	for _, c := range cables {
		for _, h := range c.way.hubs {
			group := &hubGroup{name: h.name}
			groups = append(groups, group)
			for _, p := range h.places {
				if known := of[p]; known != nil {
					group.join(known)
				}
				of[p] = group
			}
		}
	}
	d.hubs = make(map[hubPlace]string, len(of))
	ids := map[*hubGroup]string{}
	for _, group := range groups {
		if root := group.root(); ids[root] == "" {
			ids[root] = "h" + strconv.Itoa(len(ids)+1)
			d.vertex(ids[root], root.name, ", shape=ellipse")
		}
	}
	for p, group := range of {
		d.hubs[p] = ids[group.root()]
	}
}

// hubGroup is the places that are one hub, as a forest of sets.
type hubGroup struct {
	name   string
	parent *hubGroup
}

func (h *hubGroup) root() *hubGroup {
	for h.parent != nil {
		h = h.parent
	}
	return h
}

func (h *hubGroup) join(o *hubGroup) {
	if a, b := h.root(), o.root(); a != b {
		a.parent = b
	}
}

// cable draws a cable, in pieces where hubs are between.
func (d *dotWriter) cable(c *cable, peer string) {
	far, farLabel := peer, ""
	if c.high != nil {
		far, farLabel = d.nodes[c.high.node.ID], dotEnd(c.high)
	} else {
		d.vertex(peer, cmp.Or(c.PeerName, "unknown"), ", style=dashed")
	}
	style := ""
	switch {
	case c.Verdict == api.VerdictDown:
		style = ", style=dotted"
	case c.OneSided:
		style = ", style=dashed"
	}
	at, label := d.nodes[c.low.node.ID], dotEnd(c.low)
	for i, h := range c.way.hubs {
		hub := d.hubs[h.places[0]]
		d.edge(at, hub, label, c.way.hops[i], style)
		at, label = hub, ""
	}
	if farLabel != "" && label != "" {
		label += "/"
	}
	d.edge(at, far, label+farLabel, c.way.hops[len(c.way.hops)-1], style)
}

// edge draws one piece once.
func (d *dotWriter) edge(from, to, label string, h hop, style string) {
	if h.known() {
		if label != "" {
			label += "\n"
		}
		label += speedText(h.tx, h.rx)
	}
	line := fmt.Sprintf("  %s -- %s [label=%s%s];\n", from, to, dotQuoted(label), style)
	if !d.drawn[line] {
		d.drawn[line] = true
		d.out.WriteString(line)
	}
}

// dotEnd is what stands at an end of an edge.
func dotEnd(p *port) string {
	return cmp.Or(p.iface(), "port "+p.Receptacle.String())
}

// speedText writes 80 Gb/s, or 120/40 Gb/s where the directions differ.
func speedText(tx, rx int64) string {
	gigabits := func(v int64) string { return strconv.FormatFloat(float64(v)/1e9, 'f', -1, 64) }
	if tx == rx {
		return gigabits(tx) + " Gb/s"
	}
	return gigabits(tx) + "/" + gigabits(rx) + " Gb/s"
}

// dotQuoted writes a label as a DOT string: names are other people's, so
// quotes, backslashes and control characters must not end or change it.
func dotQuoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case unicode.IsControl(r):
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
