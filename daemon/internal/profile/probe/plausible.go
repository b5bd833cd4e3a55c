package probe

import (
	"fmt"
	"slices"
	"time"
)

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
