package probe

import (
	"context"
	"sync/atomic"
	"time"

	"fulmen/native"
)

// watch calls stalled where nothing is seen for so long, and half of that later
// at the latest. It ends with ctx.
func watch(ctx context.Context, clock native.Clock, seen *atomic.Int64, after time.Duration, stalled func()) {
	before, quiet := seen.Load(), 0
	// Nothing announces that nothing happens.
	for native.Pause(ctx, clock, after/2) {
		now := seen.Load()
		if quiet++; now != before {
			before, quiet = now, 0
		}
		if quiet == 2 {
			stalled()
			return
		}
	}
}
