package probe

import "time"

// Result is what a path gave. What was not measured is nil.
type Result struct {
	// UpBitsPerS is payload away from this node, DownBitsPerS towards it, each
	// timed by its receiver.
	UpBitsPerS, DownBitsPerS *int64
	// RTTUS is the median round trip of small messages, JitterUS the mean
	// difference of consecutive ones, in microseconds.
	RTTUS, JitterUS *float64
	// LossRatio is the part of the round trips for which a system had to send
	// again; nil where a system does not count that.
	LossRatio *float64
	// RTTSamples counts the round trips behind RTTUS and JitterUS.
	RTTSamples int
	// Streams counts the connections used at once, of the direction that used
	// more; UpStreams and DownStreams are those of each.
	Streams, UpStreams, DownStreams int
	// MovedBytes is what was sent, both ways together, warm-up included.
	MovedBytes int64
	// Took is how long the whole measurement took.
	Took time.Duration
}
