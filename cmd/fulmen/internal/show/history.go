package show

import (
	"fmt"
	"io"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// shownResults is how many earlier results of a path are shown where not all are
// asked for.
const shownResults = 8

// History writes what paths gave earlier: the best, the usual, and the results, the
// newest first.
func (v View) History(w io.Writer, h api.LinkHistoryResult, nodes []api.NodeView) error {
	n := namesOf(nodes)
	if len(h.Paths) == 0 {
		_, err := fmt.Fprintln(w, "No path has been measured yet. Measure them with: fulmen measure link --all")
		return err
	}
	for i, p := range h.Paths {
		if i > 0 {
			fmt.Fprintln(w)
		}
		over := string(p.Transport)
		if a := address(p.Name); a != "" {
			over = "at " + a
		}
		if _, err := fmt.Fprintf(w, "%s\n", text.Clean(fmt.Sprintf("%s to %s, %s", n.of(p.From), n.of(p.To), over))); err != nil {
			return err
		}
		table := text.NewTable("", "THERE", "BACK", "RTT/2", "JITTER/2")
		row := func(what string, r *api.LinkResult) {
			if r != nil {
				table.Row("  "+what, rate(r.UpBitsPerS), rate(r.DownBitsPerS), half(r.RTTUS), half(r.JitterUS))
			}
		}
		row("best", p.Best)
		row("median", p.Median)
		results := p.Results
		if !v.Wide {
			results = results[:min(len(results), shownResults)]
		}
		for _, r := range results {
			row(text.Ago(v.Now, r.MeasuredAt.Time), &r)
		}
		if err := table.Write(w); err != nil {
			return err
		}
		if rest := len(p.Results) - len(results); rest > 0 {
			fmt.Fprintf(w, "  and %s; all of them with --wide\n", count(rest, "earlier result"))
		}
	}
	return nil
}
