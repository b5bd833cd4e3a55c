package probe

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// count is how many bytes a receiver had at a time since its first one.
type count struct {
	at    time.Duration
	bytes int64
}

// count is what a word tells.
func (w message) count() count {
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

// planOf is how a direction is measured, where a round trip takes so long, over so many
// paths, which have as many connections each.
// A connection doubles its speed each round trip until it has found its own.
func planOf(amount Amount, rtt time.Duration, streams, paths int) plan {
	if amount == AmountFull {
		slot := min(max(50*time.Millisecond, 8*rtt), 300*time.Millisecond)
		return plan{streams: paths, find: true, slot: slot, warmUp: min(10*slot, 1200*time.Millisecond), lasts: time.Second, bytes: fullBytes}
	}
	if streams <= 0 {
		streams = 2
	}
	slot := min(max(5*time.Millisecond, 4*rtt), 100*time.Millisecond)
	return plan{streams: min(streams, maxStreams/paths) * paths, slot: slot, warmUp: 8 * slot, lasts: 50 * time.Millisecond, bytes: 32 << 20}
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
	case m.best > 0 && now <= m.best*gained:
		m.streams /= 2
		m.find = false
		m.restart()
		return stepFewer
	case 2*m.streams <= maxStreams:
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

const (
	// inFlight is by how much more may be between a sender's program and a
	// receiver's after a while, for each connection: what both systems keep for
	// it, where that is little to what was sent. Linux keeps 10 MiB as it comes.
	inFlight = 16 << 20
	// late is by how much every message of a row may be late on a busy machine,
	// and row how many that is.
	late = 100 * time.Millisecond
	row  = 8
	// faster is how many times as fast as anything was ever sent it may have come:
	// what had waited on the way comes at once.
	faster = 3
	// while is over how long the fastest is looked for.
	while = 5 * time.Millisecond
)

// pace is a count of the receiver, beside what its sender saw when it arrived:
// its own time, and what it had written until then.
type pace struct {
	count
	arrived time.Duration
	written int64
	// newest says that no other count had arrived: it was not waiting here.
	newest bool
}

// drift is by how much the sender's clock is ahead. Messages come late and never
// early, so that the least of some is the best.
func (p pace) drift() time.Duration { return p.arrived - p.at }

// witness follows the counts of a receiver and finds what cannot be true.
type witness struct {
	first, last pace
	any         bool
	early       []time.Duration // the drifts of the first row
	recent      []time.Duration // those of the last row
	mark        pace            // where the present while began
	fastest     float64         // of what was sent in a while, in bits a second
}

// see takes the next count, and says why it cannot be true; "" where it can.
func (w *witness) see(p pace) string {
	if !w.any {
		w.any, w.first, w.last, w.mark = true, p, p, p
	}
	// What was written and when is known here, however late a count may be.
	if p.arrived-w.mark.arrived >= while {
		w.fastest = max(w.fastest, count{w.mark.arrived, w.mark.written}.rate(count{p.arrived, p.written}))
		w.mark = p
	}
	before := w.last
	w.last = p
	switch {
	case p.at < before.at || p.bytes < before.bytes:
		return "its count went backwards"
	case p.bytes > p.written:
		return fmt.Sprintf("it says it has %d bytes, and %d were sent", p.bytes, p.written)
	case !p.newest:
		return ""
	}
	if len(w.early) < row {
		w.early = append(w.early, p.drift())
		return ""
	}
	if w.recent = append(w.recent, p.drift()); len(w.recent) <= row {
		return ""
	}
	w.recent = w.recent[1:]
	own := p.arrived - w.first.arrived
	if off := slices.Min(w.recent) - slices.Min(w.early); off.Abs() > late+own/10 {
		return fmt.Sprintf("it says that %v passed, and here %v did", p.at-w.first.at, own)
	}
	return ""
}

// agrees compares what the receiver says of a stretch with what was written:
// "" where they agree. Where they do not, either node may have been too busy to
// know.
func (w *witness) agrees(from, to pace, streams int) string {
	claimed, written := to.bytes-from.bytes, to.written-from.written
	if from.newest && to.newest && written > 3*claimed+int64(streams)*inFlight {
		return fmt.Sprintf("it says that %d bytes came while %d were sent", claimed, written)
	}
	if rate := from.rate(to.count); w.fastest > 0 && rate > faster*w.fastest {
		return fmt.Sprintf("it says that %.3g bits a second came, while %.3g were sent", rate, w.fastest)
	}
	return ""
}
