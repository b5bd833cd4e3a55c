package daemon

import (
	"context"

	"fulmen/daemon/api"
)

// woken is a channel with a token whenever somebody is to look again.
type woken chan struct{}

// wake gives it one. It returns at once, and may be called under any lock.
func (w woken) wake() {
	select {
	case w <- struct{}{}:
	default:
	}
}

// tellConditions tells how the configuration and the disk are whenever they may have
// become otherwise, until ctx ends.
func (d *daemon) tellConditions(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.reconfigured:
			d.tellConfiguration()
		case <-d.filled:
			d.tellDisk()
		}
	}
}

// tellConfiguration tells how the configuration file and what is in force relate.
func (d *daemon) tellConfiguration() {
	d.conditions.Clear(api.ReasonConfigInvalid, api.ReasonConfigUnknownKey, api.ReasonNeedsRestart)
	for _, condition := range d.live.Status().Conditions(api.TimeOf(d.platform.Clock.Now())) {
		d.conditions.Raise(condition.Code, condition.Text)
	}
}

// tellDisk tells whether the database finds no room on the disk. The condition is no
// document that the database keeps, so that it can be told in both.
func (d *daemon) tellDisk() {
	if d.database.IsFull() {
		d.conditions.Raise(api.ReasonDiskFull, "the disk of "+d.folders.State)
	} else {
		d.conditions.Clear(api.ReasonDiskFull)
	}
}
