package collective

import (
	"fmt"
	"slices"
	"time"

	"fulmen/daemon/api/worker"
)

// Options say what to measure.
type Options struct {
	// Backend is ring, jaccl, or any.
	Backend string
	// DType is float32, float16 or bfloat16.
	DType string
	// MinBytes and MaxBytes bound the sizes of messages, which double.
	MinBytes, MaxBytes uint64
	// PerSize is about how long one size is timed.
	PerSize time.Duration
}

const (
	minRuns, maxRuns = 3, 200
	warmUpRuns       = 3
	// largestMessage keeps a message's elements within MLX's 32-bit shapes.
	largestMessage = 4 << 30
)

// Check finds what is wrong with options that a person gave.
func (o Options) Check() error {
	wrong := func(format string, args ...any) error {
		return &worker.Error{Reason: worker.ReasonUsage, Message: fmt.Sprintf(format, args...)}
	}
	switch o.Backend {
	case "ring", "jaccl", "nccl", "mpi", "any":
	default:
		return wrong("-backend is %q: choose ring, jaccl, nccl, mpi or any", o.Backend)
	}
	switch {
	case itemBytes(o.DType) == 0:
		return wrong("-dtype is %q: choose float32, float16 or bfloat16", o.DType)
	case o.MinBytes < 4:
		return wrong("-min-bytes is %d: give 4 or more", o.MinBytes)
	case o.MaxBytes < o.MinBytes:
		return wrong("-max-bytes is %d, less than -min-bytes, which is %d", o.MaxBytes, o.MinBytes)
	case o.MaxBytes > largestMessage:
		return wrong("-max-bytes is %d: give %d or less", o.MaxBytes, uint64(largestMessage))
	case o.PerSize <= 0:
		return wrong("-per-size is %v: give more than 0", o.PerSize)
	}
	return nil
}

// itemBytes is the size of an element, 0 for a type that is not measured.
func itemBytes(dtype string) uint64 {
	switch dtype {
	case "float32":
		return 4
	case "float16", "bfloat16":
		return 2
	}
	return 0
}

// sizes are the messages' sizes in bytes: doubling, whole elements.
func (o Options) sizes() []uint64 {
	item := itemBytes(o.DType)
	var all []uint64
	for size := o.MinBytes / item * item; size <= o.MaxBytes; size *= 2 {
		all = append(all, size)
	}
	return all
}

// runs is how often to time something that takes took. Every rank computes it
// from the same number, so that all do the same.
func runs(took, budget time.Duration) int {
	if took <= 0 {
		return maxRuns
	}
	return int(min(max(budget/took, minRuns), maxRuns))
}

// summary gives the median of some times in their order, the larger of two in the
// middle, and the mean difference of those that follow each other.
func summary(times []time.Duration) (median, jitter time.Duration) {
	if len(times) == 0 {
		return 0, 0
	}
	for i, t := range times[1:] {
		jitter += (t - times[i]).Abs()
	}
	if n := len(times) - 1; n > 0 {
		jitter /= time.Duration(n)
	}
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2], jitter
}

// row computes a row of the table from the mean time of a run. The factor of
// the bus is that of nccl-tests for an all-reduce of size ranks.
func row(bytes uint64, size, count int, mean time.Duration, wrong int) worker.AllReduceRow {
	r := worker.AllReduceRow{MessageBytes: bytes, Runs: count, TimeUS: float64(mean) / 1e3, WrongCount: wrong}
	if mean > 0 {
		r.AlgBytesPerS = float64(bytes) / mean.Seconds()
		r.BusBytesPerS = r.AlgBytesPerS * 2 * float64(size-1) / float64(size)
	}
	return r
}

// pattern is how many different values an element may have: few enough that
// sums of 16 ranks are exact in every type, bfloat16 with its 8 bits included.
const pattern = 2

// element is what a rank contributes at index i.
func element(rank, i int) float32 { return float32((rank + 1) * (i%pattern + 1)) }

// reduced is the sum of that over all ranks.
func reduced(size, i int) float32 { return float32(size * (size + 1) / 2 * (i%pattern + 1)) }

// wrong counts the elements that are not what they must be.
func wrong(got []float32, want func(i int) float32) int {
	count := 0
	for i, value := range got {
		if value != want(i) {
			count++
		}
	}
	return count
}
