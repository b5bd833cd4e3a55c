package history

import "fulmen/daemon/api"

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
