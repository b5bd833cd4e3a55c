package topology

import (
	"cmp"
	"slices"

	"fulmen/daemon/api"
)

// measureCables says of every cable as what it is drawn, and what was measured over it as
// that: RDMA where it is ready, or was by the last word of an end that is silent now, else
// TCP over the paths that are there now.
func (m *rowMaker) measureCables(cables []*cable, paths []Path, profiles map[profileKey]*Profile) {
	for _, c := range cables {
		if c.Style = c.Kind; c.RDMA == api.RDMAReady || c.wasReady {
			c.Style = api.LinkRDMA
		}
	}
	over := map[profileKey]*Profile{}
	for key, p := range profiles {
		if p.Transport == api.TransportRDMA {
			over[key] = p
		}
	}
	var linked []Path
	for i := range paths {
		if p := &paths[i]; p.Link.Valid() {
			linked = append(linked, *p)
			if key := (profileKey{from: p.From, name: p.target().String()}); profiles[key] != nil {
				over[key] = profiles[key]
			}
		}
	}
	rows := m.rows(linked, over)
	best := map[api.LinkID]*api.LinkRow{}
	for i := range rows {
		row := &rows[i]
		c := m.links[row.Link]
		if c == nil || (row.Transport == api.TransportRDMA) != (c.Style == api.LinkRDMA) {
			continue
		}
		if old := best[row.Link]; old == nil || isBetter(row, old) {
			best[row.Link] = row
		}
	}
	for _, c := range cables {
		if row := best[c.Link]; c.high != nil && row != nil && c.Verdict != api.VerdictDown {
			c.LinkNumbers = numbersOf(row, c.low.node.ID)
			if row.Verdict == api.VerdictSlow {
				c.worsen(row.Verdict, row.Reasons[0])
			}
		}
		c.Text = textOf(c.Reasons)
	}
}

// networkLines are the lines of the picture for what is no cable: of each pair and kind
// what the best row says. A row of a cable that was pulled is of no line.
func networkLines(rows []api.LinkRow, index *index) []api.NetworkLine {
	best := map[api.NetworkLineKey]*api.LinkRow{}
	for i := range rows {
		row := &rows[i]
		if row.From == row.To || row.Kind == api.LinkLoopback || row.Link.Valid() || row.Transport == api.TransportRDMA {
			continue
		}
		key := api.NetworkLineKey{Low: min(row.From, row.To), High: max(row.From, row.To), Kind: row.Kind}
		if old := best[key]; old == nil || isBetter(row, old) {
			best[key] = row
		}
	}
	lines := make([]api.NetworkLine, 0, len(best))
	for key, row := range best {
		low, high := index.byID[key.Low], index.byID[key.High]
		if low == nil || high == nil {
			continue
		}
		text := textOf(row.Reasons)
		if len(row.Reasons) > 0 && row.Reasons[0] == api.ReasonNotMeasured && !row.MeasuredAt.IsZero() {
			text = "Not everything has been measured yet."
		}
		lines = append(lines, api.NetworkLine{
			NetworkLineKey: key, Verdict: row.Verdict, Reasons: row.Reasons, Text: text, LinkNumbers: numbersOf(row, key.Low),
			Stale: low.Stale || high.Stale, Simulated: row.Simulated,
		})
	}
	slices.SortFunc(lines, func(a, b api.NetworkLine) int {
		return cmp.Or(cmp.Compare(a.Low, b.Low), cmp.Compare(a.High, b.High), cmp.Compare(a.Kind, b.Kind))
	})
	return lines
}

// isBetter reports whether a row counts before another for the line that both are of: one
// that carries something, that was measured, that is as it should be, and that is faster.
// Over RDMA there is one way only, and the newest counts.
func isBetter(a, b *api.LinkRow) bool {
	isDown := func(r *api.LinkRow) bool { return r.Verdict == api.VerdictDown }
	order := cmp.Or(falseFirst(isDown(a), isDown(b)), falseFirst(!HasSpeed(a), !HasSpeed(b)))
	if a.Transport != api.TransportRDMA {
		order = cmp.Or(order, cmp.Compare(verdictRank(a.Verdict), verdictRank(b.Verdict)), cmp.Compare(Slower(b.UpBitsPerS, b.DownBitsPerS), Slower(a.UpBitsPerS, a.DownBitsPerS)))
	}
	return order < 0 || order == 0 && Newer(a, b)
}

func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// Slower is the slower of two directions, of those that are known; 0 for none.
func Slower(up, down *int64) int64 {
	switch {
	case up == nil && down == nil:
		return 0
	case up == nil:
		return *down
	case down == nil:
		return *up
	}
	return min(*up, *down)
}

// numbersOf are a row's numbers from the node that is first to the other; none of a row
// over which nothing goes now, or that was measured at another speed of its cable.
func numbersOf(r *api.LinkRow, first api.NodeID) (n api.LinkNumbers) {
	if r.Verdict == api.VerdictDown || slices.Contains(r.Reasons, api.ReasonLinkChanged) {
		return n
	}
	n.MeasuredForwardBitsPerS, n.MeasuredBackwardBitsPerS, n.RTTUS = r.UpBitsPerS, r.DownBitsPerS, r.RTTUS
	if r.From != first {
		n.MeasuredForwardBitsPerS, n.MeasuredBackwardBitsPerS = r.DownBitsPerS, r.UpBitsPerS
	}
	return n
}

// textOf is the first of some reasons in a sentence.
func textOf(reasons []api.Reason) string {
	if len(reasons) == 0 {
		return ""
	}
	info, _ := api.LookupReason(reasons[0])
	return info.Text
}
