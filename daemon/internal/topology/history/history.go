package history

import (
	"cmp"
	"slices"

	"fulmen/daemon/api"
)

// AddLink makes the value of a path's next document: the new result with what was
// known before as its history. Where isAnew is true the path has become another
// one, and its history begins with the result.
func AddLink(now, before api.LinkProfile, isAnew bool) api.LinkProfile {
	now.Muted = before.Muted
	if !isAnew {
		now.History = Results(before)
		now.History = now.History[:min(len(now.History), api.HistoryLength)]
		now.Best, now.Median = before.Best, before.Median
	}
	newest := resultOf(now)
	all := append([]api.LinkResult{newest}, now.History...)
	best := *cmp.Or(now.Best, &newest)
	best.MeasuredAt = newest.MeasuredAt
	best.UpBitsPerS = most(best.UpBitsPerS, newest.UpBitsPerS)
	best.DownBitsPerS = most(best.DownBitsPerS, newest.DownBitsPerS)
	best.RTTUS, best.JitterUS = least(best.RTTUS, newest.RTTUS), least(best.JitterUS, newest.JitterUS)
	best.LossRatio = least(best.LossRatio, newest.LossRatio)
	usual := *cmp.Or(now.Median, &api.LinkResult{})
	usual.MeasuredAt = newest.MeasuredAt
	usual.UpBitsPerS = usualRate(ups(all), usual.UpBitsPerS)
	usual.DownBitsPerS = usualRate(downs(all), usual.DownBitsPerS)
	usual.RTTUS = median(collect(all, func(r api.LinkResult) *float64 { return r.RTTUS }))
	usual.JitterUS = median(collect(all, func(r api.LinkResult) *float64 { return r.JitterUS }))
	usual.LossRatio = median(collect(all, func(r api.LinkResult) *float64 { return r.LossRatio }))
	now.Best, now.Median = &best, &usual
	return now
}

func resultOf(p api.LinkProfile) api.LinkResult {
	return api.LinkResult{MeasuredAt: p.MeasuredAt, UpBitsPerS: p.UpBitsPerS, DownBitsPerS: p.DownBitsPerS,
		RTTUS: p.RTTUS, JitterUS: p.JitterUS, LossRatio: p.LossRatio, MovedBytes: p.MovedBytes}
}

// Results are all results of a path, the newest first.
func Results(p api.LinkProfile) []api.LinkResult {
	all := append([]api.LinkResult{}, p.History...)
	if p.MeasuredAt.IsZero() {
		return all
	}
	return append([]api.LinkResult{resultOf(p)}, all...)
}

func ups(all []api.LinkResult) []*int64 {
	return collect(all, func(r api.LinkResult) *int64 { return r.UpBitsPerS })
}

func downs(all []api.LinkResult) []*int64 {
	return collect(all, func(r api.LinkResult) *int64 { return r.DownBitsPerS })
}

// AddGPU makes the value of a GPU's next document: the new result with what was
// known before as its history. The best and the median are of those results that
// were made with the same system, MLX and BLAS.
func AddGPU(now, before api.GPUProfile) api.GPUProfile {
	now.History = slices.Clone(before.History)
	if r, ok := gpuResult(before); ok {
		now.History = slices.Insert(now.History, 0, r)
	}
	now.History = now.History[:min(len(now.History), api.HistoryLength)]
	newest, ok := gpuResult(now)
	if !ok {
		return now
	}
	alike := []api.GPUResult{newest}
	for _, r := range now.History {
		if r.Conditions.OSBuild == newest.Conditions.OSBuild && r.Conditions.MLXVersion == newest.Conditions.MLXVersion &&
			r.Conditions.BLAS == newest.Conditions.BLAS {
			alike = append(alike, r)
		}
	}
	best, usual := newest, newest
	best.FP16TFLOPS = slices.MaxFunc(alike, byCompute).FP16TFLOPS
	best.MemoryBytesPerS = slices.MaxFunc(alike, byMemory).MemoryBytesPerS
	slices.SortFunc(alike, byCompute)
	usual.FP16TFLOPS = alike[len(alike)/2].FP16TFLOPS
	slices.SortFunc(alike, byMemory)
	usual.MemoryBytesPerS = alike[len(alike)/2].MemoryBytesPerS
	now.Best, now.Median = &best, &usual
	return now
}

func byCompute(a, b api.GPUResult) int { return cmp.Compare(a.FP16TFLOPS, b.FP16TFLOPS) }
func byMemory(a, b api.GPUResult) int  { return cmp.Compare(a.MemoryBytesPerS, b.MemoryBytesPerS) }

// gpuResult is what a profile says; false where it has not both numbers.
func gpuResult(p api.GPUProfile) (api.GPUResult, bool) {
	if p.FP16TFLOPS == nil || p.MemoryBytesPerS == nil {
		return api.GPUResult{}, false
	}
	return api.GPUResult{MeasuredAt: p.MeasuredAt, FP16TFLOPS: *p.FP16TFLOPS, MemoryBytesPerS: *p.MemoryBytesPerS, Conditions: p.Conditions}, true
}

// leastEarlier is how many results a path must have had before it can be said to
// have got worse.
const leastEarlier = 3

// Drop is one way of a path that has got worse.
type Drop struct {
	// IsDown says that it is the way towards the node that measured.
	IsDown bool
	// NowBitsPerS is what it gives now, UsualBitsPerS what it gave.
	NowBitsPerS, UsualBitsPerS int64
}

// Drops are the ways of a path of which the last api.LinkDropRuns results are all
// more than api.LinkDropRatio below what was usual.
func Drops(p api.LinkProfile) []Drop {
	var found []Drop
	if p.Median == nil {
		return nil
	}
	all := Results(p)
	for _, way := range []struct {
		isDown bool
		rates  []*int64
		usual  *int64
	}{{false, ups(all), p.Median.UpBitsPerS}, {true, downs(all), p.Median.DownBitsPerS}} {
		low := streak(way.rates, way.usual)
		if low >= api.LinkDropRuns && (len(way.rates)-low >= leastEarlier || len(way.rates) > api.HistoryLength) {
			found = append(found, Drop{IsDown: way.isDown, NowBitsPerS: *way.rates[0], UsualBitsPerS: *way.usual})
		}
	}
	return found
}

// IsLow reports whether the last result of a path is more than api.LinkDropRatio
// below what is usual: whether that is so is to be seen with a long measurement.
func IsLow(p api.LinkProfile) bool {
	return p.Median != nil && (low(p.UpBitsPerS, p.Median.UpBitsPerS) || low(p.DownBitsPerS, p.Median.DownBitsPerS))
}

// streak counts the newest rates that are low without a break.
func streak(rates []*int64, usual *int64) int {
	n := 0
	for n < len(rates) && low(rates[n], usual) {
		n++
	}
	return n
}

func low(now, usual *int64) bool {
	return now != nil && usual != nil && float64(*now) < (1-api.LinkDropRatio)*float64(*usual)
}

// collect gives one number of all results that have it, the newest first.
func collect[T any](all []api.LinkResult, of func(api.LinkResult) *T) []*T {
	var found []*T
	for _, r := range all {
		if v := of(r); v != nil {
			found = append(found, v)
		}
	}
	return found
}

// usualRate is the median of rates. It stays what it was while they are low, so
// that what got worse is not soon called usual; until nothing better is remembered.
func usualRate(rates []*int64, before *int64) *int64 {
	if n := streak(rates, before); n > 0 && n < len(rates) {
		return before
	}
	return median(rates)
}

// median is the middle of some numbers, the lower of two; nil of none.
func median[T cmp.Ordered](values []*T) *T {
	if len(values) == 0 {
		return nil
	}
	sorted := make([]T, len(values))
	for i, v := range values {
		sorted[i] = *v
	}
	slices.Sort(sorted)
	return &sorted[(len(sorted)-1)/2]
}

// most and least are the larger and the smaller of two numbers that may be absent.
func most[T cmp.Ordered](a, b *T) *T {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

func least[T cmp.Ordered](a, b *T) *T {
	if a == nil || b != nil && *b < *a {
		return b
	}
	return a
}
