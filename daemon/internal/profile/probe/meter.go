package probe

import (
	"math"
	"time"
)

// count is how many bytes a receiver had at a time since its first one.
type count struct {
	at    time.Duration
	bytes int64
}

// count is what a word tells.
func (w word) count() count {
	return count{at: time.Duration(min(w.AtUS, math.MaxInt64/1000)) * time.Microsecond, bytes: w.Bytes}
}

// rate is bits a second from one count to a later one; 0 where no time passed.
func (c count) rate(later count) float64 {
	if later.at <= c.at {
		return 0
	}
	return float64(later.bytes-c.bytes) * 8 / (later.at - c.at).Seconds()
}

// plan is how one direction is measured.
type plan struct {
	// streams is how many connections it begins with; find looks for more.
	streams int
	find    bool
	// slot is over how long a speed is taken to see whether it still grows, and
	// warmUp how long to wait at most until it does not.
	slot, warmUp time.Duration
	// lasts and bytes are how long and how much is then measured, whichever ends
	// first.
	lasts time.Duration
	bytes int64
}

// settled is by how much the speeds of two slots may differ when the connections
// have come to speed: one that is slower than the one before may only have been
// held up, and what waited meanwhile would come on top of what follows. gained
// is by how much more streams must make it faster.
const (
	settled = 1.05
	gained  = 1.05
)

// planOf is how a direction is measured, where a round trip takes so long.
// A connection doubles its speed each round trip until it has found its own.
func planOf(amount Amount, rtt time.Duration, streams int) plan {
	if amount == AmountFull {
		slot := min(max(50*time.Millisecond, 8*rtt), 300*time.Millisecond)
		return plan{streams: 1, find: true, slot: slot, warmUp: min(10*slot, 1200*time.Millisecond), lasts: time.Second, bytes: fullBytes}
	}
	if streams <= 0 {
		streams = 2
	}
	slot := min(max(5*time.Millisecond, 4*rtt), 100*time.Millisecond)
	return plan{streams: min(streams, maxStreams), slot: slot, warmUp: 8 * slot, lasts: 50 * time.Millisecond, bytes: 32 << 20}
}

// step is what to do next.
type step int

const (
	stepOn    step = iota // take another count
	stepMore              // use meter.streams connections, which is more
	stepFewer             // use meter.streams connections, which is fewer
	stepDone              // meter.from to meter.to is the result
)

// meter decides, from a receiver's counts alone, when the connections have come
// to speed, how many fill the path, and what the result is. It takes no clock.
type meter struct {
	plan
	measuring bool
	slotFrom  *count  // where the present slot began
	began     *count  // where the present number of streams began
	speed     float64 // of the slot before
	best      float64 // the speed that fewer streams came to
	from, to  count
}

func newMeter(p plan) *meter { return &meter{plan: p} }

// add takes a count.
func (m *meter) add(c count) step {
	if m.slotFrom == nil {
		m.slotFrom, m.began = &c, &c
		m.from = c
		return stepOn
	}
	if m.measuring {
		took := c.at - m.from.at
		if took < m.lasts && c.bytes-m.from.bytes < m.bytes {
			return stepOn
		}
		m.to = c
		return stepDone
	}
	if c.at-m.slotFrom.at < m.slot {
		return stepOn
	}
	before, now := m.speed, m.slotFrom.rate(c)
	m.slotFrom, m.speed = &c, now
	if (now > before*settled || before > now*settled) && c.at-m.began.at < m.warmUp {
		return stepOn
	}
	if !m.find {
		return m.measure(c)
	}
	switch {
	case m.streams > 1 && now <= m.best*gained:
		m.streams /= 2
		m.find = false
		m.restart()
		return stepFewer
	case m.streams < maxStreams:
		m.best = now
		m.streams *= 2
		m.restart()
		return stepMore
	}
	return m.measure(c)
}

func (m *meter) measure(from count) step {
	m.measuring, m.from = true, from
	return stepOn
}

// restart begins with the next count, which the new number of streams gives.
func (m *meter) restart() { m.slotFrom, m.began, m.speed = nil, nil, 0 }

// result is bits a second.
func (m *meter) result() int64 { return int64(m.from.rate(m.to)) }
