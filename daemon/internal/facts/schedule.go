package facts

import (
	"slices"
	"time"

	"fulmen/native"
)

// schedule says which areas are to be read when. It reads no clock.
type schedule struct {
	areas map[native.Area]*times
}

// times are an area's.
type times struct {
	read  time.Time // the last one
	again time.Time // when the reading after the last hint is due; zero = not
	since time.Time // the first hint that is waiting for it
	pace  time.Duration
}

func newSchedule() *schedule { return &schedule{areas: map[native.Area]*times{}} }

// due gives the areas to read now, in a fixed order, given those that were
// hinted at since the last call and those that move by themselves.
func (s *schedule) due(now time.Time, hinted []native.Area, paced map[native.Area]time.Duration) []native.Area {
	var list []native.Area
	for _, area := range areas() {
		t := s.areas[area]
		if t == nil {
			t = &times{}
			s.areas[area] = t
		}
		if t.dueNow(now, slices.Contains(hinted, area), paced[area]) {
			list = append(list, area)
			t.read = now
		}
	}
	return list
}

// dueNow decides for one area, and plans its next reading.
func (t *times) dueNow(now time.Time, hinted bool, pace time.Duration) bool {
	t.pace = pace
	first := false
	if hinted {
		first = t.again.IsZero() // nothing was waiting: this is the first hint
		if first {
			t.since = now
		}
		t.again = now.Add(Settle)
		if limit := t.since.Add(Longest); t.again.After(limit) {
			t.again = limit
		}
	}
	settled := !t.again.IsZero() && !now.Before(t.again)
	if settled {
		t.again, t.since = time.Time{}, time.Time{}
	}
	return first || settled || (pace > 0 && now.Sub(t.read) >= pace)
}

// next is when something is due without a hint; zero where nothing is.
func (s *schedule) next(now time.Time) time.Time {
	var at time.Time
	earlier := func(candidate time.Time) {
		if at.IsZero() || candidate.Before(at) {
			at = candidate
		}
	}
	for _, t := range s.areas {
		if !t.again.IsZero() {
			earlier(t.again)
		}
		if t.pace > 0 {
			earlier(t.read.Add(t.pace))
		}
	}
	if !at.IsZero() && at.Before(now) {
		return now
	}
	return at
}
