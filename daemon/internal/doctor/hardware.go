package doctor

import (
	"context"
	"fmt"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
)

// checkHardware holds each fact of this machine's hardware against what the system says of
// it now, and against a second source where the system has one: a check for each fact.
func (d Doctor) checkHardware(ctx context.Context) ([]api.DoctorCheck, error) {
	var published []api.Document
	for _, record := range d.Ledger.List(ledger.Filter{Nodes: []api.NodeID{d.Ledger.Node()}}) {
		published = append(published, record.Document())
	}
	rows, err := d.Facts.Compare(ctx, published)
	if err != nil {
		return nil, err
	}
	if second, has := d.Machine.(native.Comparer); has {
		rows = append(rows, second.Compare(ctx)...)
	}
	checks := make([]api.DoctorCheck, len(rows))
	for i, row := range rows {
		checks[i] = hardwareCheck(row)
	}
	return checks, nil
}

// hardwareCheck is a comparison as a check.
func hardwareCheck(c native.Comparison) api.DoctorCheck {
	check := api.DoctorCheck{Check: "hardware"}
	switch {
	case !c.Known():
		check.Answer, check.Reason = api.AnswerUnknown, api.Reason(c.Why.Key())
		silent := c.Sources[0]
		if i := slices.Index(c.Told[:], ""); i == 1 {
			silent = c.Sources[1]
		}
		check.Text = fmt.Sprintf("%s: %s does not say", c.Fact, silent)
		if c.Why != "" {
			check.Text += " (" + string(c.Why) + ")"
		}
		check.Text += "."
	case c.Same:
		check.Answer, check.Text = api.AnswerYes, fmt.Sprintf("%s: %s.", c.Fact, c.Told[0])
	default:
		check.Answer, check.Reason = api.AnswerNo, api.ReasonSourcesDisagree
		check.Text = fmt.Sprintf("%s: %s by %s, %s by %s.", c.Fact, c.Told[0], c.Sources[0], c.Told[1], c.Sources[1])
	}
	return check
}
