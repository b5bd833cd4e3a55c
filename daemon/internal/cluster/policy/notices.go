package policy

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

const (
	// noticesHeld bounds the notices that wait to be dealt with; a machine gives
	// one at a time, and another after the last was acknowledged.
	noticesHeld = 8
	// stillHere is how long after its deadline a restart that was announced must
	// have ended this process; who lives on then was not restarted.
	stillHere = time.Minute
)

// Run follows the machine's power until ctx ends: it says what is coming, waits
// until others have heard it, and lets the system go on. Whether they have or
// not, the system is let go before its own deadline. It ends at once, without an
// error, where the system gives no notice.
func (s *Self) Run(ctx context.Context) error {
	notices := make(chan native.PowerNotice, noticesHeld)
	stop, err := s.options.Power.Notices(func(n native.PowerNotice) {
		select {
		case notices <- n:
		default: // the system goes on at the notice's own deadline
		}
	})
	if errors.Is(err, native.ErrUnsupported) {
		s.options.Log.Info("the system does not tell when it sleeps", "error", err)
		return nil
	}
	if err != nil {
		return err
	}
	departed := func() {}
	defer func() {
		departed()
		if err := stop(); err != nil {
			s.options.Log.Warn("power notices could not be ended", "error", err)
		}
	}()
	for {
		var notice native.PowerNotice
		select {
		case <-ctx.Done():
			return nil
		case notice = <-notices:
		}
		s.options.Log.Info("power", "event", notice.Event, "cause", notice.Cause)
		departed()
		departed = func() {}
		s.heed(ctx, notice)
		if notice.Event == native.PowerWillPowerOff {
			departed = s.expectEnd(api.Seconds(notice.WithinS) + stillHere)
		}
	}
}

// heed deals with one notice.
func (s *Self) heed(ctx context.Context, notice native.PowerNotice) {
	if notice.Event == native.PowerAwake {
		s.options.Clock.Recheck()
	}
	state, reason := meaning(notice)
	if state != "" {
		if err := s.report(state, reason, false); err != nil {
			s.options.Log.Error("the node's state could not be published", "state", state, "error", err)
		}
	}
	within, departing := FlushWithin, DepartWithin
	if notice.WithinS > 0 { // half of it, so that the answer is in time
		within = min(within, api.Seconds(notice.WithinS)/2)
		departing = min(departing, max(0, api.Seconds(notice.WithinS)/2-within))
	}
	if s.options.Depart != nil && (state == api.SelfAsleep || state == api.SelfRestarting) {
		var gone sync.WaitGroup
		gone.Go(func() {
			ctx, cancel := native.WithTimeout(ctx, s.options.Clock, departing, "what runs on this node to end")
			defer cancel()
			s.options.Depart(ctx, state, reason)
		})
		s.flush(ctx, within)
		gone.Wait() // and then others hear what became of it
	}
	s.flush(ctx, within)
	if notice.ID == "" {
		return
	}
	if err := s.options.Power.Acknowledge(context.WithoutCancel(ctx), notice.ID); err != nil {
		s.options.Log.Warn("a power notice could not be acknowledged", "event", notice.Event, "error", err)
	}
}

// expectEnd says that this node is awake when after some time it still is,
// because whoever announced a restart called it off.
func (s *Self) expectEnd(within time.Duration) (cancel func()) {
	timer := s.options.Clock.AfterFunc(within, func() {
		if s.State().State != api.SelfRestarting {
			return
		}
		s.options.Log.Warn("the machine did not restart as it had announced")
		if err := s.report(api.SelfAwake, "", false); err != nil {
			s.options.Log.Error("the node's state could not be published", "state", api.SelfAwake, "error", err)
		}
	})
	return func() { timer.Stop() }
}

// meaning is what a notice says about this node; empty for an event of a newer
// version. macOS announces a restart and a shutdown by the same notice, so that
// only the cause, where it is told, tells them apart.
func meaning(notice native.PowerNotice) (api.SelfState, api.Reason) {
	cause := strings.ToLower(notice.Cause)
	has := func(words ...string) bool {
		for _, word := range words {
			if strings.Contains(cause, word) {
				return true
			}
		}
		return false
	}
	switch notice.Event {
	case native.PowerAwake:
		return api.SelfAwake, ""
	case native.PowerWillSleep:
		if has("lid", "clamshell") {
			return api.SelfAsleep, api.ReasonLidClosed
		}
		return api.SelfAsleep, ""
	case native.PowerWillPowerOff:
		if has("shut", "halt", "power off", "poweroff") && !has("restart", "reboot") {
			return api.SelfRestarting, api.ReasonShuttingDown
		}
		return api.SelfRestarting, ""
	}
	return "", ""
}
