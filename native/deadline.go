package native

import (
	"context"
	"fmt"
	"math"
	"time"
)

// DeadlineError says what was waited for and for how long. It matches
// [context.DeadlineExceeded].
type DeadlineError struct {
	WaitingFor string        // "rank 2 on mac-studio-2 to join"
	After      time.Duration // the time that was allowed, sleep included
}

// Error reads "waited 1m0s for rank 2 on mac-studio-2 to join".
func (e *DeadlineError) Error() string {
	return fmt.Sprintf("waited %s for %s", e.After, e.WaitingFor)
}

// Is makes errors.Is(err, context.DeadlineExceeded) true.
func (e *DeadlineError) Is(target error) bool { return target == context.DeadlineExceeded }

// Timeout reports true, as net.Error does.
func (e *DeadlineError) Timeout() bool { return true }

// WithTimeout returns a context that ends when d has passed on the clock, sleep
// included. context.Cause then gives a [DeadlineError] that says what was being
// waited for; ctx.Err is context.Canceled, as for any cause. The returned
// function releases the timer and must be called.
func WithTimeout(ctx context.Context, clock Clock, d time.Duration, waitingFor string) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := clock.AfterFunc(d, func() { cancel(&DeadlineError{WaitingFor: waitingFor, After: d}) })
	return ctx, func() {
		timer.Stop()
		cancel(context.Canceled)
	}
}

// Pause waits until d has passed on the clock, sleep included. It reports false
// where ctx ended before.
func Pause(ctx context.Context, clock Clock, d time.Duration) bool { return Wait(ctx, clock, d, nil) }

// Forever is a time that does not pass.
const Forever time.Duration = math.MaxInt64

// Wait waits until it is woken, or until d has passed on the clock, sleep included. It
// reports false where ctx ended.
func Wait(ctx context.Context, clock Clock, d time.Duration, woken <-chan struct{}) bool {
	passed := make(chan struct{})
	if d != Forever {
		timer := clock.AfterFunc(d, func() { close(passed) })
		defer timer.Stop()
	}
	select {
	case <-passed:
	case <-woken:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}
