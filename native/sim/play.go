package sim

import (
	"context"
	"fmt"
	"sync"
	"time"

	"fulmen/native"
	"fulmen/native/sim/scenario"
)

// Play applies the scenario's time line, whose times count from this call. It
// returns when the last event was applied, when one fails (the rest is then not
// played), when the context ends, or with [native.ErrClosed] when the world is
// closed. Several calls play several times.
func (w *World) Play(ctx context.Context) error {
	p := &player{world: w, events: w.scenario.TimeLine, began: w.clock.Boot(), done: make(chan error, 1)}
	defer p.end()
	p.play()
	select {
	case err := <-p.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-w.ended:
		return native.ErrClosed
	}
}

// player is one playing of a time line. Events are applied by the clock's own
// call and each arms the next, so that they keep their order, and are done when
// a clock moved by hand has moved.
type player struct {
	world  *World
	events []scenario.Event // those to come
	began  time.Duration
	done   chan error

	mu    sync.Mutex
	timer native.Timer
	over  bool
}

// play applies what is due and arms a timer for what is not.
func (p *player) play() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.events) != 0 && !p.over {
		next := p.events[0]
		if left := next.After - (p.world.clock.Boot() - p.began); left > 0 {
			p.timer = p.world.clock.AfterFunc(left, p.play)
			return
		}
		p.events = p.events[1:]
		if err := p.world.Apply(next.Op); err != nil {
			p.over = true
			p.done <- fmt.Errorf("time line, after %s: %w", next.After, err)
			return
		}
	}
	if !p.over {
		p.over = true
		p.done <- nil
	}
}

// end stops the timer and waits for an event that is being applied.
func (p *player) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	if p.timer != nil {
		p.timer.Stop()
	}
}
