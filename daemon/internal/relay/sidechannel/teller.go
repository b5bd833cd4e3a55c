package sidechannel

import (
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

const (
	// tellAfter is how long news of a handshake wait for more, and joinedAfter news
	// that it is through: what is published in its midst takes time of its ranks.
	tellAfter   = 100 * time.Millisecond
	joinedAfter = 10 * time.Millisecond
)

// teller tells how far a rank has come, each time that this is news, in order.
type teller struct {
	c     *Channels
	ref   api.RankRef
	state func() (now api.Handshake, over bool)

	telling sync.Mutex
	told    api.Handshake

	mu    sync.Mutex
	timer native.Timer
	due   time.Duration
}

// news has it told soon; that a channel was severed, at once: whoever complains of
// it must not be heard first.
func (t *teller) news() {
	now, over := t.state()
	switch {
	case over:
	case now.Severed:
		t.tell()
	case now.State == api.HandshakeJoined:
		t.arm(joinedAfter)
	default:
		t.arm(tellAfter)
	}
}

// arm has it told after a time, or sooner where that is due.
func (t *teller) arm(after time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	due := t.c.cfg.Clock.Boot() + after
	if t.timer != nil {
		if t.due <= due {
			return
		}
		t.timer.Stop()
	}
	t.due = due
	t.timer = t.c.cfg.Clock.AfterFunc(after, func() {
		t.mu.Lock()
		t.timer = nil
		t.mu.Unlock()
		t.tell()
	})
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
