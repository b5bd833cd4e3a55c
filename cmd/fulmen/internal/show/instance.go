package show

import (
	"fmt"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Instances lists them, each with why it is not ready, and why it was started again last, and
// where all of them answer.
func (v View) Instances(w *Page, list api.InstanceListResult, n Names) {
	all := list.Instances
	if len(all) == 0 {
		w.Line("You serve no model. Begin with: fulmen serve MODEL")
		return
	}
	table := text.NewTable("NAME", "MODEL", "ENGINE", "ADDRESS", "ATTEMPT", "TOKENS/S", "STATE")
	for _, one := range all {
		table.Row(one.Name, join(" at ", one.Model.Model, one.Model.Revision), one.Engine, one.URL, fmt.Sprint(one.Attempt), tokenRate(one), instanceState(one, n))
		if one.TokensMessage != "" {
			table.Span("  tokens a second are unknown: " + one.TokensMessage)
		}
		for _, r := range one.Replicas {
			table.Span(fmt.Sprintf("  %d: %s, attempt %d: %s", r.Replica, r.URL, r.Attempt, stateOf(r.InstanceJob, n)))
		}
		if end := one.LastEnd; end != nil {
			table.Span("  the attempt before ended: " + sentence(explained(end.Reason, end.Message)))
		}
	}
	w.Table(table)
	w.Line("All of them answer at " + list.Endpoint + ", by the name of their model.")
}

// tokenRate is how many tokens a second one makes.
func tokenRate(i api.Instance) string {
	switch {
	case i.TokensPerS != nil:
		return text.Fixed(*i.TokensPerS, 1)
	case i.TokensMessage != "":
		return "unknown"
	}
	return "–"
}

func instanceState(i api.Instance, n Names) string {
	if len(i.Replicas) > 0 {
		ready := 0
		for _, r := range i.Replicas {
			if !r.ReadyAt.IsZero() {
				ready++
			}
		}
		return fmt.Sprintf("%d of %d ready", ready, len(i.Replicas))
	}
	return stateOf(i.InstanceJob, n)
}

func stateOf(i api.InstanceJob, n Names) string {
	switch {
	case !i.ReadyAt.IsZero():
		return join(" on ", "ready", n.List(i.Nodes))
	case i.Phase == api.JobRunning:
		return join(": ", "not ready", i.Message)
	}
	return join(": ", string(i.Phase), explained(i.Reason, i.Message))
}

// Instance says where one is and how it is used, at the endpoint of this Mac.
func (v View) Instance(w *Page, i api.Instance, endpoint string, n Names) {
	w.Line(i.Name + " is " + instanceState(i, n) + ": " + i.URL)
	for _, r := range i.Replicas[min(1, len(i.Replicas)):] {
		w.Line(fmt.Sprintf("  %d: %s, %s", r.Replica, r.URL, stateOf(r.InstanceJob, n)))
	}
	w.Line("")
	w.Line("  curl " + endpoint + "/chat/completions -H 'Content-Type: application/json' \\")
	w.Line(`    -d '{"model": "` + i.Model.Model + `", "messages": [{"role": "user", "content": "Hello"}]}'`)
}
