package sidechannel

import (
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

const (
	// tellAfter is how long news of a handshake wait for more, and until nothing was
	// carried for as long, but not for longer than tellMost; joinedAfter is how long
	// news wait that it is through. What is published in its midst takes time of its
	// ranks.
	tellAfter   = 100 * time.Millisecond
	tellMost    = time.Second
	joinedAfter = 10 * time.Millisecond
)

// teller tells how far a rank has come, each time that this is news, in order.
type teller struct {
	c     *Channels
	ref   api.RankRef
	state func() (now api.Handshake, over bool)

	telling sync.Mutex
	told    api.Handshake

	mu      sync.Mutex
	timer   native.Timer
	round   int           // of the timer
	soon    bool          // it is told when that passes, whatever is carried
	since   time.Duration // when there were news, on Clock.Boot
	carried time.Duration // when anything was carried last
}

// news has it told soon; that a channel was severed, at once: whoever complains of
// it must not be heard first.
func (t *teller) news() {
	now, over := t.state()
	switch {
	case over:
	case now.Severed:
		t.tell()
	default:
		t.arm(now.State == api.HandshakeJoined)
	}
}

// arm has it told once nothing is carried any more, or soon.
func (t *teller) arm(soon bool) {
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
	after := tellAfter
	if t.soon = soon; soon {
		after = joinedAfter
	}
	t.start(after)
}

// start has it looked after a time whether it is to be told. The caller holds mu.
func (t *teller) start(after time.Duration) {
	t.round++
	round := t.round
	t.timer = t.c.cfg.Clock.AfterFunc(after, func() {
		if t.rested(round) {
			t.tell()
		}
	})
}

// rested reports whether it is to be told when a timer has passed, and waits on where
// it is not.
func (t *teller) rested(round int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer == nil || t.round != round {
		return false
	}
	left := min(t.carried+tellAfter, t.since+tellMost) - t.c.cfg.Clock.Boot()
	if !t.soon && left > 0 {
		t.start(left)
		return false
	}
	t.timer = nil
	return true
}

// carries says that something is carried.
func (t *teller) carries() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.carried = t.c.cfg.Clock.Boot()
	}
}

func (t *teller) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	stopTimer(t.timer)
	t.timer = nil
}

func (t *teller) tell() {
	t.telling.Lock()
	defer t.telling.Unlock()
	now, over := t.state()
	same := now.State == t.told.State && now.Severed == t.told.Severed && slices.Equal(now.Missing, t.told.Missing)
	if same || over || t.told.State == api.HandshakeJoined {
		return
	}
	t.told = now
	t.c.cfg.Tell(t.ref, now)
}
