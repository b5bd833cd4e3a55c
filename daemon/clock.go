package daemon

import (
	"time"

	"fulmen/daemon/api"
)

// watched is documents whose publishing is an occasion to look at the clock.
type watched struct {
	documents
	look func()
}

// Put publishes a document.
func (w watched) Put(kind api.Kind, name string, value any, unknown map[string]api.Reason) error {
	w.look()
	return w.documents.Put(kind, name, value, unknown)
}

// lookAtClock raises a condition where the wall clock was set.
func (d *daemon) lookAtClock() {
	if step := d.clock.Look(d.platform.Clock); step != 0 {
		d.logs.Part("daemon").Warn("the wall clock was set", "by", step)
		d.conditions.Raise(api.ReasonClockStepped, "by "+step.Round(time.Second).String())
		d.node.CompareClocks()
	}
}
