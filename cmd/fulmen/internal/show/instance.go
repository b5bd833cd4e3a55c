package show

import (
	"fmt"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// IsReady reports whether what a job serves can be used now.
func IsReady(j api.Job) bool {
	a := Current(j)
	return j.Phase == api.JobRunning && a != nil && !a.ReadyAt.IsZero() && j.Reason != api.ReasonNotReady
}

// Instances lists them, each with why it is not ready, and why it was started again last.
func (v View) Instances(w *Page, all []api.Instance, n Names) {
	if len(all) == 0 {
		w.Line("You serve no model. Begin with: fulmen serve MODEL")
		return
	}
	table := text.NewTable("NAME", "MODEL", "ENGINE", "ADDRESS", "ATTEMPT", "STATE").Less("ENGINE", "ATTEMPT", "MODEL")
	for _, one := range all {
		table.Row(one.Name, join(" at ", one.Model.Model, one.Model.Revision), one.Engine, one.URL, fmt.Sprint(one.Attempt), instanceState(one, n))
		if end := one.LastEnd; end != nil {
			table.Span("  the attempt before ended: " + sentence(explained(end.Reason, end.Message)))
		}
	}
	w.Table(table)
}

func instanceState(i api.Instance, n Names) string {
	switch {
	case !i.ReadyAt.IsZero():
		return join(" on ", "ready", n.List(i.Nodes))
	case i.Phase == api.JobRunning:
		return join(": ", "not ready", i.Message)
	}
	return join(": ", string(i.Phase), explained(i.Reason, i.Message))
}

// Instance says where one is and how it is used.
func (v View) Instance(w *Page, i api.Instance, n Names) {
	w.Line(i.Name + " is " + instanceState(i, n) + ": " + i.URL)
	w.Line("")
	w.Line("  curl " + i.URL + "/v1/chat/completions -H 'Content-Type: application/json' \\")
	w.Line(`    -d '{"messages": [{"role": "user", "content": "Hello"}]}'`)
}
