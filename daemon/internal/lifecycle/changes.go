package lifecycle

import (
	"context"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/config"
	"fulmen/daemon/internal/health"
	"fulmen/native/waker"
)

// Reported raises the conditions of the configuration and of the disk.
type Reported struct {
	Live *config.Live
	// IsFull reports whether the database finds no room on the disk of the folder State.
	// The condition is no document that the database keeps, so that it can be told in both.
	IsFull     func() bool
	State      string
	Conditions *health.Health
}

// Notify raises or clears the conditions of both.
func (t Reported) Notify() {
	details := map[api.Reason]string{
		api.ReasonConfigInvalid: "", api.ReasonConfigUnknownKey: "", api.ReasonNeedsRestart: "", api.ReasonDiskFull: "",
	}
	for _, cause := range t.Live.Status().Causes() {
		details[cause.Reason] = cause.Message
	}
	if t.IsFull() {
		details[api.ReasonDiskFull] = "the disk of " + t.State
	}
	for code, detail := range details {
		t.Conditions.Set(code, detail)
	}
}

// Follow tells them again whenever they may be otherwise, until ctx ends.
func (t Reported) Follow(ctx context.Context, changes waker.Waker) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-changes:
			t.Notify()
		}
	}
}
