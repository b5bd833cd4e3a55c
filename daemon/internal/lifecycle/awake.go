package lifecycle

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"fulmen/native"
)

// awakeWithin bounds one call that asks the system to stay awake.
const awakeWithin = 5 * time.Second

// awakeReason is what the system shows people who ask why it stays awake.
const awakeReason = "Fulmen runs a job"

// Awake keeps the machine from idle sleep while ranks run on it that want that. A lid that is
// closed, and a person's own command, are not withstood: see [native.Power].
type Awake struct {
	keep    func(ctx context.Context, reason string) (release func() error, err error)
	running func() bool
	clock   native.Clock
	log     *slog.Logger

	mu      sync.Mutex
	busy    bool         // somebody sees to it
	dirty   bool         // something changed since it was looked at
	ended   bool         // nothing is held any more
	release func() error // while it is held
}

// NewAwake keeps it by keep while running; a nil keep: the system cannot be asked.
func NewAwake(clock native.Clock, keep func(ctx context.Context, reason string) (release func() error, err error), running func() bool, log *slog.Logger) *Awake {
	return &Awake{keep: keep, running: running, clock: clock, log: log}
}

// Changed looks again whether ranks run. It returns at once, and may be called
// under any lock.
func (v *Awake) Changed() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.dirty = true
	if v.busy || v.keep == nil {
		return
	}
	v.busy = true
	go v.see()
}

// Close lets the machine sleep.
func (v *Awake) Close() error {
	v.mu.Lock()
	v.ended = true
	v.mu.Unlock()
	v.Changed()
	return nil
}

// see holds or lets go, until nothing has changed since it looked.
func (v *Awake) see() {
	for {
		v.mu.Lock()
		if !v.dirty {
			v.busy = false
			v.mu.Unlock()
			return
		}
		v.dirty = false
		held, ended := v.release, v.ended
		v.mu.Unlock()
		wanted := !ended && v.running()
		if wanted == (held != nil) {
			continue
		}
		if wanted {
			held = v.take()
		} else {
			v.end(held)
			held = nil
		}
		v.mu.Lock()
		v.release = held
		v.mu.Unlock()
	}
}

// take asks the system; nil where it refuses.
func (v *Awake) take() func() error {
	ctx, cancel := native.WithTimeout(context.Background(), v.clock, awakeWithin, "the system to stay awake")
	defer cancel()
	release, err := v.keep(ctx, awakeReason)
	if err != nil {
		v.log.Warn("this machine may fall asleep while ranks run", "error", err)
		return nil
	}
	return release
}

func (v *Awake) end(release func() error) {
	if err := release(); err != nil {
		v.log.Warn("this machine may stay awake, though no rank runs", "error", err)
	}
}
