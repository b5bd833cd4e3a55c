package history

import "fulmen/daemon/api"

// AddLink makes the value of a path's next document: the new result with what was
// known before as its history. Where isAnew is true the path has become another
// one, and its history begins with the result.
func AddLink(now, before api.LinkProfile, isAnew bool) api.LinkProfile {
	now.Muted = before.Muted
	if !isAnew {
		now.History = past(before)
		now.Best, now.Median = before.Best, before.Median
	}
	newest := resultOf(now)
	all := append([]api.LinkResult{newest}, now.History...)
	best := orNew(now.Best, newest)
	best.MeasuredAt = newest.MeasuredAt
	best.UpBitsPerS = most(best.UpBitsPerS, newest.UpBitsPerS)
	best.DownBitsPerS = most(best.DownBitsPerS, newest.DownBitsPerS)
	best.RTTUS, best.JitterUS = least(best.RTTUS, newest.RTTUS), least(best.JitterUS, newest.JitterUS)
	best.LossRatio = least(best.LossRatio, newest.LossRatio)
	usual := orNew(now.Median, api.LinkResult{})
	usual.MeasuredAt = newest.MeasuredAt
	usual.UpBitsPerS = usualRate(ups(all), usual.UpBitsPerS)
	usual.DownBitsPerS = usualRate(downs(all), usual.DownBitsPerS)
	usual.RTTUS = median(collect(all, func(r api.LinkResult) *float64 { return r.RTTUS }))
	usual.JitterUS = median(collect(all, func(r api.LinkResult) *float64 { return r.JitterUS }))
	usual.LossRatio = median(collect(all, func(r api.LinkResult) *float64 { return r.LossRatio }))
	now.Best, now.Median = &best, &usual
	return now
}

// past is the results of a path, the newest first, as a newer one's history.
func past(before api.LinkProfile) []api.LinkResult {
	all := before.History
	if !before.MeasuredAt.IsZero() {
		all = append([]api.LinkResult{resultOf(before)}, all...)
	}
	return all[:min(len(all), api.HistoryLength)]
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

// orNew is a copy of a summary, or a new one.
func orNew(r *api.LinkResult, otherwise api.LinkResult) api.LinkResult {
	if r == nil {
		return otherwise
	}
	return *r
}
