package replica

import (
	"time"

	"fulmen/native/waker"
)

// compareSoon plans a comparison with a neighbour, unless one is planned
// earlier; the caller holds mu.
func (r *Replica) compareSoon(p *peer, delay time.Duration) {
	c := &p.compare
	due := r.clock.Boot() + delay
	if p.isGone() || c.timer != nil && c.due <= due {
		return
	}
	if c.timer != nil {
		c.timer.Stop()
	}
	c.due = due
	c.timer = r.clock.AfterFunc(delay, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if p.isGone() || c.due != due {
			return
		}
		c.timer = nil
		if c.isRunning {
			c.isWanted = true
			return
		}
		c.isRunning = true
		r.spawn(func() { r.runComparison(p) })
	})
}

// compareAtSlot plans the comparison with a neighbour that came up: the first of a
// burst at once, the others one by one after it. Whoever waits for the other
// side to begin does so itself a second later if nothing came; the caller holds mu.
func (r *Replica) compareAtSlot(p *peer, isSecond bool) {
	p.compare.isUrgent, p.compare.isForced = true, true
	if isSecond {
		r.compareSoon(p, time.Second+r.jitter(r.timing.Stagger*5))
		return
	}
	now := r.clock.Boot()
	r.nextSlot = max(r.nextSlot, now)
	r.compareSoon(p, r.nextSlot-now)
	r.nextSlot += r.timing.Stagger
}

// soon is when to compare with one of n neighbours who should have heard
// otherwise; the caller holds mu.
func (r *Replica) soon(n int) time.Duration {
	return r.timing.Relay + r.jitter(r.timing.Relay+time.Duration(n)*r.timing.Stagger)
}

// compareLater plans comparisons with neighbours, in random order, who most likely hear of
// something by others: with a few soon, so that where they do not it goes on from there,
// and with the rest once those have had time to; the caller holds mu.
func (r *Replica) compareLater(near []*peer) {
	for i, p := range near {
		delay := r.soon(len(near))
		if i >= relays {
			delay += 20 * r.timing.Relay
		}
		r.compareSoon(p, delay)
	}
}

// jitter is a random part of a span; the caller holds mu.
func (r *Replica) jitter(span time.Duration) time.Duration {
	return time.Duration(r.rand.Int64N(int64(max(span, 1))))
}

// compareSlowly compares with one neighbour at random now and then. Nothing
// announces that a message was lost with the process that was to pass it on, or
// that a disk gave back what was overwritten; so somebody has to look. It is
// the only traffic of a cluster in which nothing changes.
func (r *Replica) compareSlowly() {
	due := waker.New()
	for {
		r.mu.Lock()
		pause := r.timing.Period*3/4 + r.jitter(r.timing.Period/2)
		r.mu.Unlock()
		timer := r.clock.AfterFunc(pause, due.Wake)
		select {
		case <-r.ctx.Done():
			timer.Stop()
			return
		case <-due:
		}
		r.mu.Lock()
		if near := r.neighbours(func(*peer) bool { return true }); len(near) > 0 {
			near[0].compare.isForced = true
			r.compareSoon(near[0], 0)
		}
		r.mu.Unlock()
	}
}
