package probe

import (
	"fmt"
	"time"
)

const (
	// inFlight is the most that may be between a sender's program and a receiver's
	// for each connection: what both systems keep for it, 10 MiB on Linux.
	inFlight = 12 << 20
	// late is by how much a message may be late on a busy machine.
	late = 150 * time.Millisecond
)

// pace is a count of the receiver, beside what its sender saw when it arrived:
// its own time, and what it had written until then.
type pace struct {
	count
	arrived time.Duration
	written int64
}

// follows reports, of two counts of a receiver that came one after the other,
// why they cannot be true; "" where they can. first is the first of all.
func (p pace) follows(first, before pace) string {
	switch {
	case p.at < before.at || p.bytes < before.bytes:
		return "its count went backwards"
	case p.bytes > p.written:
		return fmt.Sprintf("it says it has %d bytes, and %d were sent", p.bytes, p.written)
	}
	claimed, own := p.at-first.at, p.arrived-first.arrived
	if claimed > own+own/4+late || own > claimed+claimed/4+late {
		return fmt.Sprintf("it says that %v passed, and here %v did", claimed, own)
	}
	return ""
}

// agrees compares what a receiver says of a stretch with what was written in
// it: "" where both can be true.
func agrees(from, to pace, streams int) string {
	claimed, written := to.bytes-from.bytes, to.written-from.written
	slack := int64(streams) * inFlight
	if claimed > 2*written+slack || written > 2*claimed+slack {
		return fmt.Sprintf("it says that %d bytes came while %d were sent", claimed, written)
	}
	return ""
}

// sent compares what a sender says it wrote with what came.
func sent(claimed, received int64, opened int) string {
	if claimed < received || claimed > received+int64(opened)*inFlight {
		return fmt.Sprintf("it says that it sent %d bytes, and %d came", claimed, received)
	}
	return ""
}
