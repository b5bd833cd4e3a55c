package sidechannel

import (
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

const (
	// notifyAfter is how long news of a handshake wait for more, and until nothing was
	// carried for as long, but not for longer than notifyAtMost; joinedAfter is how long
	// news wait that it is through. What is published in its midst takes time of its
	// ranks.
	notifyAfter  = 100 * time.Millisecond
	notifyAtMost = time.Second
	joinedAfter  = 10 * time.Millisecond
)

// reporter tells how far a rank has come, each time that this is news, in order.
type reporter struct {
	c     *Channels
	ref   api.RankRef
	state func() (now api.Handshake, over bool)

	reporting sync.Mutex
	reported  api.Handshake

	mu      sync.Mutex
	timer   native.Timer
	round   int           // of the timer
	soon    bool          // it is told when that passes, whatever is carried
	since   time.Duration // when there were news, on Clock.Boot
	carried time.Duration // when anything was carried last
}

// changed has it told soon; that a channel was severed, at once: whoever complains of
// it must not be heard first.
func (t *reporter) changed() {
	now, over := t.state()
	switch {
	case over:
	case now.Severed:
		t.notify()
	default:
		t.arm(now.State == api.HandshakeJoined)
	}
}

// arm has it told once nothing is carried any more, or soon.
func (t *reporter) arm(soon bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.timer == nil:
		t.since = t.c.cfg.Clock.Boot()
	case t.soon || !soon:
		return
	default:
		t.timer.Stop()
	}
	after := notifyAfter
	if t.soon = soon; soon {
		after = joinedAfter
	}
	t.startLocked(after)
}

// startLocked has it looked after a time whether it is to be told.
func (t *reporter) startLocked(after time.Duration) {
	t.round++
	round := t.round
	t.timer = t.c.cfg.Clock.AfterFunc(after, func() {
		if t.rested(round) {
			t.notify()
		}
	})
}

// rested reports whether it is to be told when a timer has passed, and waits on where
// it is not.
func (t *reporter) rested(round int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer == nil || t.round != round {
		return false
	}
	left := min(t.carried+notifyAfter, t.since+notifyAtMost) - t.c.cfg.Clock.Boot()
	if !t.soon && left > 0 {
		t.startLocked(left)
		return false
	}
	t.timer = nil
	return true
}

// carries says that something is carried.
func (t *reporter) carries() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.carried = t.c.cfg.Clock.Boot()
	}
}

func (t *reporter) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	stopTimer(t.timer)
	t.timer = nil
}

func (t *reporter) notify() {
	t.reporting.Lock()
	defer t.reporting.Unlock()
	now, over := t.state()
	same := now.State == t.reported.State && now.Severed == t.reported.Severed && slices.Equal(now.Missing, t.reported.Missing)
	if same || over || t.reported.State == api.HandshakeJoined {
		return
	}
	t.reported = now
	t.c.cfg.Notify(t.ref, now)
}
