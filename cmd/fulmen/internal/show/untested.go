package show

import (
	"slices"

	"fulmen/daemon/api"
)

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
