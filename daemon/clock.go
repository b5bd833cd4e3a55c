package daemon

import (
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

// stepLimit is how far the wall clock may move against the clock that counts
// from the start of the system, before it was set: NTP slews by half a
// millisecond in a second at most.
const stepLimit = 2 * time.Second

// clockWatch finds out that the wall clock was set. Nothing announces it to
// everybody, so it looks whenever facts are published.
type clockWatch struct {
	mu     sync.Mutex
	origin time.Time // the wall clock at Boot zero, as of the last look
}

// look reports by how much the wall clock was set since the last look; 0 if it
// was not.
func (w *clockWatch) look(clock native.Clock) time.Duration {
	// Go's monotonic reading is stripped: this is about the wall.
	origin := clock.Now().Round(0).Add(-clock.Boot())
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.origin
	w.origin = origin
	step := origin.Sub(before)
	if before.IsZero() || step.Abs() < stepLimit {
		return 0
	}
	return step
}

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
	if step := d.clock.look(d.platform.Clock); step != 0 {
		d.logs.part("daemon").Warn("the wall clock was set", "by", step)
		d.raise(api.ReasonClockStepped, "by "+step.Round(time.Second).String())
		d.node.CompareClocks()
	}
}
