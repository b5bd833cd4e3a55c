package rdmaprobe

import (
	"math"

	"fulmen/daemon/api"
	"fulmen/daemon/api/worker"
	"fulmen/daemon/internal/proc"
)

// Result is what a test gave. Up is away from the node that measured. A test
// without numbers has no sizes: it has shown that the cable works.
type Result struct {
	// UpBitsPerS and DownBitsPerS are the best of all sizes.
	UpBitsPerS, DownBitsPerS int64
	// RTTUS is the median round trip of the smallest messages, JitterUS the mean
	// difference of consecutive ones, and RTTSamples counts them.
	RTTUS, JitterUS float64
	RTTSamples      int
	// MovedBytes is what was sent, both ways together.
	MovedBytes int64
	// Sizes are the results by size of message, in rising order.
	Sizes []api.SizeResult
}

const (
	// maxBytesPerS is more than any cable carries.
	maxBytesPerS = 1e12
	// maxSizes and maxRuns bound what a worker may tell.
	maxSizes = 64
	maxRuns  = 1 << 20
	// besides is how many messages the worker sends for a size beside the counted
	// ones: two to check, six to warm up, one more each way before the clock starts.
	besides = 2 + 6 + 2
)

// read takes the numbers of a worker, and refuses those that cannot be.
func read(record proc.Record) (Result, *api.Error) {
	var said worker.SendRecv
	nonsense := func(format string, args ...any) *api.Error {
		return api.Errorf(api.ReasonSourceMalformed, "", "The test's worker gave a result that makes no sense: "+format+".", args...)
	}
	if err := record.Word.Decode(&said); err != nil {
		return Result{}, nonsense("%v", err)
	}
	if len(said.Rows) == 0 || len(said.Rows) > maxSizes {
		return Result{}, nonsense("%d sizes of messages", len(said.Rows))
	}
	var r Result
	last := uint64(0)
	for i, row := range said.Rows {
		switch {
		case row.MessageBytes <= last || row.MessageBytes > math.MaxInt32 || row.Runs < 1 || row.Runs > maxRuns:
			return Result{}, nonsense("%d messages of %d bytes", row.Runs, row.MessageBytes)
		case !plausible(row.UpBytesPerS, maxBytesPerS) || !plausible(row.DownBytesPerS, maxBytesPerS):
			return Result{}, nonsense("%v and %v bytes per second", row.UpBytesPerS, row.DownBytesPerS)
		case !plausible(row.RTTUS, 60e6) || row.JitterUS != 0 && !plausible(row.JitterUS, 60e6):
			return Result{}, nonsense("round trips of %v us, with a jitter of %v", row.RTTUS, row.JitterUS)
		}
		last = row.MessageBytes
		up, down, rtt := int64(math.Round(8*row.UpBytesPerS)), int64(math.Round(8*row.DownBytesPerS)), row.RTTUS
		r.UpBitsPerS, r.DownBitsPerS = max(r.UpBitsPerS, up), max(r.DownBitsPerS, down)
		if i == 0 {
			r.RTTUS, r.JitterUS, r.RTTSamples = row.RTTUS, row.JitterUS, row.Runs
		}
		r.MovedBytes += int64(row.MessageBytes) * int64(4*row.Runs+besides)
		r.Sizes = append(r.Sizes, api.SizeResult{MessageBytes: int64(row.MessageBytes), UpBitsPerS: &up, DownBitsPerS: &down, RTTUS: &rtt})
	}
	return r, nil
}

// plausible reports whether a number is above 0 and no more than a bound.
func plausible(f, most float64) bool { return f > 0 && f <= most }
