package show

import (
	"io"
	"reflect"
	"slices"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// folded are the rows with both directions of a way as one, where they say the
// same: each end has a row of what only one of them measured.
func folded(rows []api.LinkRow) []api.LinkRow {
	var out []api.LinkRow
	taken := map[int]bool{} // rows of out that stand for two already
	for _, r := range rows {
		i := slices.IndexFunc(out, func(o api.LinkRow) bool { return mirrors(o, r) })
		for i >= 0 && taken[i] {
			next := slices.IndexFunc(out[i+1:], func(o api.LinkRow) bool { return mirrors(o, r) })
			if next < 0 {
				i = -1
				break
			}
			i += 1 + next
		}
		if i >= 0 {
			taken[i] = true
			continue
		}
		out = append(out, r)
	}
	return out
}

// turned are rows of which those over cables begin at the node that is shown
// first: only one end of them has a row.
func turned(rows []api.LinkRow, nodes []api.NodeView) []api.LinkRow {
	at := func(id api.NodeID) int {
		return slices.IndexFunc(nodes, func(n api.NodeView) bool { return n.Node == id })
	}
	out := slices.Clone(rows)
	for i := range out {
		if r := &out[i]; r.Transport == api.TransportRDMA && at(r.From) > at(r.To) && at(r.To) >= 0 {
			r.From, r.To, r.UpBitsPerS, r.DownBitsPerS = r.To, r.From, r.DownBitsPerS, r.UpBitsPerS
		}
	}
	return out
}

// mirrors reports whether two rows are one way, seen from its two ends.
func mirrors(a, b api.LinkRow) bool {
	return a.From == b.To && a.To == b.From && a.From != a.To && a.Transport == b.Transport && a.Kind == b.Kind && a.Link == b.Link &&
		a.MeasuredAt.Equal(b.MeasuredAt.Time) && a.Verdict == b.Verdict && slices.Equal(a.Reasons, b.Reasons) &&
		reflect.DeepEqual(a.UpBitsPerS, b.DownBitsPerS) && reflect.DeepEqual(a.DownBitsPerS, b.UpBitsPerS) && reflect.DeepEqual(a.RTTUS, b.RTTUS)
}

// measuredPaths writes the table of what ways between nodes give, each direction.
func (v View) measuredPaths(w io.Writer, list api.LinkListResult, nodes []api.NodeView, n names) error {
	heading := []string{"BETWEEN", "AND", "KIND", "THERE", "BACK", "RTT/2", "JITTER/2", "MEASURED", "VERDICT"}
	if v.Wide {
		heading = []string{"BETWEEN", "AND", "KIND", "ADDRESS", "CABLE", "THERE", "BACK", "RTT/2", "JITTER/2", "LOSS", "MEASURED", "VERDICT"}
	}
	table := text.NewTable(heading...)
	for _, r := range folded(sorted(turned(list.Rows, nodes), nodes)) {
		cells := []string{n.of(r.From), n.of(r.To), kindWord(r.Kind)}
		if v.Wide {
			cable := none
			if r.Link.Valid() {
				cable = n.end(r.Link.Low) + " ~ " + n.end(r.Link.High)
			}
			cells = append(cells, orNone(address(r.Name)), cable)
		}
		cells = append(cells, rate(r.UpBitsPerS), rate(r.DownBitsPerS), half(r.RTTUS), half(r.JitterUS))
		if v.Wide {
			loss := none
			if r.LossRatio != nil {
				loss = text.Percent(*r.LossRatio)
			}
			cells = append(cells, loss)
		}
		table.Row(append(cells, v.age(r), join(" ", n.pathVerdict(r), simulated(r.Simulated)))...)
	}
	return table.Write(w)
}

// age is how old a row's numbers are, and why they are not made again.
func (v View) age(r api.LinkRow) string {
	measured := none
	if !r.MeasuredAt.IsZero() {
		measured = text.Ago(v.Now, r.MeasuredAt.Time)
	}
	if r.Old {
		measured += ", old"
	}
	if r.Waiting != nil {
		measured = join(", ", measured, "waiting: "+because(r.Waiting.Reason))
	}
	return measured
}
