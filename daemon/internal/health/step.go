package health

import (
	"sync"
	"time"

	"fulmen/native"
)

// stepLimit is how far the wall clock may move against the clock that counts
// from the start of the system, before it was set: NTP slews by half a
// millisecond in a second at most.
const stepLimit = 2 * time.Second

// ClockWatch finds out that the wall clock was set. Nothing announces it to
// everybody, so it looks whenever facts are published.
type ClockWatch struct {
	mu     sync.Mutex
	origin time.Time // the wall clock at Boot zero, as of the last look
}

// Look reports by how much the wall clock was set since the last look; 0 if it
// was not.
func (w *ClockWatch) Look(clock native.Clock) time.Duration {
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
