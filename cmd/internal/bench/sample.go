package main

import (
	"fmt"
	"slices"
	"time"
)

// least is how often something is measured before its rows are looked at: of six values a median has an interval.
const least = 7

// sample measures something at least so many times, and goes on until the rows that the values make are decided or no
// round fits into the time. They are looked at each time that there are half as many values again, not after each: an
// interval that is looked at often enough lies on one side once by luck.
func (b *run) sample(what string, rounds int, within time.Duration, round func(n int) error, rows func() []Row) error {
	b.report(what)
	began, longest := time.Now(), time.Duration(0)
	for n, look := 0, rounds; ; n++ {
		isOver := n > 0 && (b.shortest || time.Since(began)+longest > within)
		if isOver || n >= look {
			if found := rows(); isOver || !slices.ContainsFunc(found, isUndecided) {
				b.rows = append(b.rows, found...)
				return nil
			}
			look += (n + 1) / 2
		}
		start := time.Now()
		if err := round(n); err != nil {
			if n > 0 && b.ctx.Err() != nil { // the time is over, and what there is counts
				b.rows = append(b.rows, rows()...)
				return nil
			}
			return fmt.Errorf("%s: %w", what, err)
		}
		longest = max(longest, time.Since(start))
	}
}

func isUndecided(r Row) bool { return r.Verdict == Undecided }
