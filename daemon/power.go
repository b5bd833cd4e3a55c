package daemon

import (
	"context"
	"errors"

	"fulmen/daemon/api"
	"fulmen/native"
)

// powerNotices bounds the notices that wait to be dealt with; a machine gives
// one at a time, and another after the last was acknowledged.
const powerNotices = 8

// followPower says when this machine goes to sleep and when it is back, until ctx
// ends. What waits for the machine's clock is looked at as soon as it wakes.
func (d *daemon) followPower(ctx context.Context) {
	log := d.logs.part("daemon")
	notices := make(chan native.PowerNotice, powerNotices)
	stop, err := d.platform.Power.Notices(func(n native.PowerNotice) {
		select {
		case notices <- n:
		default: // the system goes on at the notice's own deadline
		}
	})
	if errors.Is(err, native.ErrUnsupported) {
		return
	}
	if err != nil {
		log.Warn("the system does not tell when it sleeps", "error", err)
		return
	}
	defer stop()
	for {
		var notice native.PowerNotice
		select {
		case <-ctx.Done():
			return
		case notice = <-notices:
		}
		log.Info("power", "event", notice.Event, "cause", notice.Cause)
		switch notice.Event {
		case native.PowerWillSleep:
			d.say(api.SelfAsleep)
		case native.PowerWillPowerOff:
			d.say(api.SelfRestarting)
		case native.PowerAwake:
			d.platform.Clock.Recheck()
			d.say(api.SelfAwake)
		}
		if notice.ID == "" {
			continue
		}
		if err := d.platform.Power.Acknowledge(ctx, notice.ID); err != nil && ctx.Err() == nil {
			log.Warn("a power notice could not be acknowledged", "event", notice.Event, "error", err)
		}
	}
}
