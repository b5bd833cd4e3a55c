package show

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Links writes the cables, and what was measured over every path.
func (v View) Links(w io.Writer, list api.LinkListResult, nodes []api.NodeView) error {
	n := namesOf(nodes)
	if err := v.cables(w, list, n); err != nil {
		return err
	}
	if list.Rows = withUntested(list.Rows, list.Cables); len(list.Rows) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	if err := v.measuredPaths(w, list, nodes, n); err != nil {
		return err
	}
	for _, r := range list.Rows {
		if r.MeasuredAt.IsZero() && !r.Simulated && !isUntested(r) {
			_, err := fmt.Fprintln(w, "\nWhat was not measured is measured while somebody watches, or with: fulmen measure link --all")
			return err
		}
	}
	return nil
}

// cables writes the table of cables.
func (v View) cables(w io.Writer, list api.LinkListResult, n names) error {
	if len(list.Cables) == 0 {
		_, err := fmt.Fprintln(w, "No Thunderbolt cable is plugged in. See the ports with: fulmen topology")
		return err
	}
	heading := []string{"CABLE", "KIND", "SPEED", "THROUGH", "RDMA", "VERDICT"}
	if v.Wide {
		heading = []string{"CABLE", "PLACES", "INTERFACES", "KIND", "SPEED", "THROUGH", "RDMA", "VERDICT"}
	}
	table := text.NewTable(heading...)
	for _, c := range list.Cables {
		row := []string{n.cable(c)}
		if v.Wide {
			row = append(row, bothEnds(c, func(e api.CableEnd) string { return e.Place }), bothEnds(c, func(e api.CableEnd) string { return e.Interface }))
		}
		table.Row(append(row, kindWord(c.Kind), cableSpeed(c), orNone(strings.Join(c.Hubs, ", ")), rdmaVerdict(c.RDMA), cableVerdict(c))...)
	}
	if err := table.Write(w); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "\n%s.\n", cableCounts(list.Cables)); err != nil {
		return err
	}
	return loops(w, list.Loops, n)
}

// bothEnds joins something of both ends of a cable, the first end's first.
func bothEnds(c api.Cable, of func(api.CableEnd) string) string {
	var out []string
	for _, e := range c.Ends {
		out = append(out, orUnknown(of(e)))
	}
	return strings.Join(out, " ~ ")
}

// Link writes one cable: what it is, whether it can do RDMA and why not, and
// what was measured over it.
func (v View) Link(w io.Writer, l api.LinkGetResult, nodes []api.NodeView) error {
	n := namesOf(nodes)
	c := l.Cable
	table := text.NewTable()
	table.Row("cable", n.cable(c))
	for _, e := range c.Ends {
		table.Row("", join("  ", n.end(e.End), e.Place, e.Interface, e.Device))
	}
	table.Row("kind", kindWord(c.Kind))
	table.Row("speed", n.speeds(c))
	if len(c.Hubs) > 0 {
		table.Row("through", strings.Join(c.Hubs, ", then "))
	}
	table.Row("verdict", cableVerdict(c))
	for _, r := range c.Reasons {
		if info, ok := api.LookupReason(r); ok && info.Remedy != "" {
			table.Row("", info.Remedy)
		}
	}
	table.Row("RDMA", join(": ", rdmaVerdict(l.RDMA.Verdict), l.RDMA.Text))
	if err := table.Write(w); err != nil {
		return err
	}
	if err := v.rdmaChecks(w, l.RDMA.Checks, n); err != nil {
		return err
	}
	if l.Rows = withUntested(l.Rows, []api.Cable{c}); len(l.Rows) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	return v.paths(w, l.Rows, newInterfaces(nodes, nil, []api.Cable{c}), n)
}

// speeds is a cable's speed, each way named where they differ.
func (n names) speeds(c api.Cable) string {
	there, back := c.ForwardBitsPerS, c.BackwardBitsPerS
	switch {
	case there == nil || back == nil:
		return cableSpeed(c)
	case *there == *back:
		return text.BitsPerS(*there) + " each way"
	case len(c.Ends) < 2:
		return speed(*there, *back)
	}
	first, second := n.end(c.Ends[0].End), n.end(c.Ends[1].End)
	return fmt.Sprintf("%s from %s to %s, %s back", text.BitsPerS(*there), first, second, text.BitsPerS(*back))
}

// rdmaChecks writes what was checked for RDMA; what is not well, with what to do.
func (v View) rdmaChecks(w io.Writer, checks []api.RDMACheck, n names) error {
	if len(checks) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	table := text.NewTable()
	for _, c := range checks {
		mark := answer(c.Answer)
		if c.Advice && c.Answer == api.AnswerNo {
			mark = "advice"
		}
		where := ""
		if c.End.Valid() {
			where = n.end(c.End)
		}
		table.Row("", mark, where, v.said(c.Text, c.Reason))
		if c.Remedy != "" && c.Answer != api.AnswerYes {
			table.Row("", "", "", c.Remedy)
		}
	}
	return table.Write(w)
}

// withUntested adds a row for every cable that is ready for RDMA and was never tested:
// nothing tests it unasked unless Fulmen has just enabled it.
func withUntested(rows []api.LinkRow, cables []api.Cable) []api.LinkRow {
	rows = slices.Clone(rows)
	for _, c := range cables {
		low, high := c.Link.Low.Node, c.Link.High.Node
		if c.RDMA != api.RDMAReady || !c.Link.Valid() || low == high || c.Stale ||
			slices.ContainsFunc(rows, func(r api.LinkRow) bool { return r.Transport == api.TransportRDMA && r.Link == c.Link }) {
			continue
		}
		rows = append(rows, api.LinkRow{
			LinkRowKey: api.LinkRowKey{From: low, To: high, Transport: api.TransportRDMA, Name: c.Link.String()},
			Kind:       api.LinkRDMA, Link: c.Link, Verdict: api.VerdictUnknown, Reasons: []api.Reason{api.ReasonNotMeasured}, Simulated: c.Simulated,
		})
	}
	return rows
}

// isUntested reports whether a row is of a cable that nobody has tested over RDMA.
func isUntested(r api.LinkRow) bool {
	return r.Transport == api.TransportRDMA && r.MeasuredAt.IsZero() && r.Link.Valid() && slices.Equal(r.Reasons, []api.Reason{api.ReasonNotMeasured})
}
