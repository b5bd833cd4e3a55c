package probe

import (
	"math"
	"slices"
	"time"
)

// roundTrips is what a series of round trips gave.
type roundTrips struct {
	times []time.Duration // of those that took no second try, in their order
	lost  int             // for which a system sent again
	// counted says that both systems tell what they sent again.
	counted bool
}

// median is that of the times, in microseconds.
func (r *roundTrips) median() *float64 {
	if len(r.times) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(r.times))
	middle := len(sorted) / 2
	at := sorted[middle]
	if len(sorted)%2 == 0 {
		at = (sorted[middle-1] + at) / 2
	}
	return micros(float64(at))
}

// jitter is the mean difference of consecutive times, in microseconds.
func (r *roundTrips) jitter() *float64 {
	if len(r.times) < 2 {
		return nil
	}
	var sum float64
	for i, t := range r.times[1:] {
		sum += math.Abs(float64(t - r.times[i]))
	}
	return micros(sum / float64(len(r.times)-1))
}

// loss is the part that took a second try.
func (r *roundTrips) loss() *float64 {
	tried := len(r.times) + r.lost
	if !r.counted || tried == 0 {
		return nil
	}
	ratio := float64(r.lost) / float64(tried)
	return &ratio
}

// micros is nanoseconds in microseconds, to a tenth.
func micros(ns float64) *float64 {
	us := math.Round(ns/100) / 10
	return &us
}
