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
	nodes, err := FindAll(p.Nodes, find)
	if err != nil {
		return api.LinkExportResult{}, err
	}
	if err := CheckNetworks("networks", p.Networks); err != nil {
		return api.LinkExportResult{}, err
	}
	if len(p.Networks) > 0 && p.Form != api.ExportHostfile {
		return api.LinkExportResult{}, api.Errorf(api.ReasonBadValue, "networks", "networks: only a host file names addresses").WithRemedy("Leave them out.")
	}
	g.Named = p.Networks
	result := api.LinkExportResult{Notes: g.Notes}
	switch p.Form {
	case api.ExportJSON:
		var text []byte
		text, err = json.MarshalIndent(g.List(), "", "  ")
		result.Text = string(text) + "\n"
	case api.ExportDOT:
		result.Text = g.DOT()
	case api.ExportHostfile:
		result.Text, result.Notes, err = g.Hostfile(nodes, p.Backend)
	case api.ExportMatrix:
		var matrix DeviceMatrix
		matrix, result.Notes, err = g.Matrix(nodes, p.Backend)
		result.Text = matrix.Text()
	default:
		err = api.Errorf(api.ReasonBadValue, "form", "%q is not a form; use json, dot, hostfile or matrix", string(p.Form))
	}
	if err != nil {
		return api.LinkExportResult{}, err
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
	of, names := map[hubPlace]int{}, []string{} // places that are one hub have its number
	for _, c := range cables {
		for _, h := range c.way.hubs {
			number := len(names)
			names = append(names, h.name)
			for _, p := range h.places {
				if known, is := of[p]; is {
					for q, n := range of {
						if n == number {
							of[q] = known
						}
					}
					number = known
				}
				of[p] = number
			}
		}
	}
	ids := map[int]string{}
	for _, c := range cables {
		for _, h := range c.way.hubs {
			number := of[h.places[0]]
			if ids[number] == "" {
				ids[number] = "h" + strconv.Itoa(len(ids)+1)
				d.vertex(ids[number], names[number], ", shape=ellipse")
			}
		}
	}
	d.hubs = make(map[hubPlace]string, len(of))
	for p, number := range of {
		d.hubs[p] = ids[number]
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
	return cmp.Or(p.iface(), "port "+p.PortNumber.String())
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

// ranksOf finds the nodes of an export in the order of their ranks; none given
// means all, ordered by id.
func (g Graph) ranksOf(ids []api.NodeID) ([]*node, error) {
	ranks := g.index.nodes
	if len(ids) > 0 {
		ranks = nil
		seen := map[api.NodeID]bool{}
		for _, id := range ids {
			n := g.index.byID[id]
			switch {
			case n == nil:
				return nil, api.NewError(api.ReasonNoSuchNode, id.Display())
			case seen[id]:
				return nil, api.Errorf(api.ReasonBadValue, id.Display(), "%s is named twice", n.displayName())
			}
			seen[id] = true
			ranks = append(ranks, n)
		}
	}
	if len(ranks) < 2 {
		return nil, api.Errorf(api.ReasonBadValue, "nodes", "%d nodes are no group: name two or more", len(ranks))
	}
	return ranks, nil
}

// pairSubject names a pair of nodes in a cause.
func pairSubject(a, b *node) string { return string(a.ID) + "~" + string(b.ID) }

// refusal is the error of an export that cannot be: it names every fault.
func refusal(reason api.Reason, causes []api.Cause, format string, args ...any) error {
	err := api.Errorf(reason, "", format, args...)
	err.Data.Causes = causes
	return err
}
