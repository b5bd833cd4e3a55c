package lifecycle

import (
	"context"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/config"
)

// Changes remembers that the configuration or the disk may be otherwise, from before
// there is somebody to tell. Its methods return at once, and may be called under any lock.
type Changes struct{ configuration, disk chan struct{} }

// NewChanges remembers nothing yet.
func NewChanges() Changes { return Changes{make(chan struct{}, 1), make(chan struct{}, 1)} }

// Configuration says it of the configuration.
func (c Changes) Configuration() { wake(c.configuration) }

// Disk says it of the disk.
func (c Changes) Disk() { wake(c.disk) }

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Told raises the conditions of the configuration and of the disk.
type Told struct {
	Live *config.Live
	// IsFull reports whether the database finds no room on the disk of the folder State.
	// The condition is no document that the database keeps, so that it can be told in both.
	IsFull     func() bool
	State      string
	Now        func() time.Time
	Conditions Conditions
}

// Tell tells how both are now.
func (t Told) Tell() {
	t.configuration()
	t.disk()
}

// Follow tells it again whenever they may be otherwise, until ctx ends.
func (t Told) Follow(ctx context.Context, c Changes) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.configuration:
			t.configuration()
		case <-c.disk:
			t.disk()
		}
	}
}

func (t Told) configuration() {
	t.Conditions.Clear(api.ReasonConfigInvalid, api.ReasonConfigUnknownKey, api.ReasonNeedsRestart)
	for _, condition := range t.Live.Status().Conditions(api.TimeOf(t.Now())) {
		t.Conditions.Raise(condition.Code, condition.Text)
	}
}

func (t Told) disk() {
	if t.IsFull() {
		t.Conditions.Raise(api.ReasonDiskFull, "the disk of "+t.State)
	} else {
		t.Conditions.Clear(api.ReasonDiskFull)
	}
}
