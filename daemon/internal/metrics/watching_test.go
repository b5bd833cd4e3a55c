package metrics

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
)

// Who scrapes watches until it has not scraped for some time, and the first scrape waits for
// what moves.
func TestWatching(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		start := time.Now()
		var watchers, begun atomic.Int32
		clock := native.ClockFrom(time.Now, func() time.Duration { return time.Since(start) })
		w := Watching{Clock: clock, Want: func() func() {
			watchers.Add(1)
			begun.Add(1)
			return func() { watchers.Add(-1) }
		}}
		scrape := func(want time.Duration) {
			before := time.Now()
			w.Scrape(context.Background())
			is.Equal(time.Since(before), want)
			is.Equal(watchers.Load(), int32(1))
		}
		scrape(settle)
		for range 5 { // it goes on as long as somebody scrapes
			time.Sleep(keep - 2*settle)
			scrape(0)
		}
		is.Equal(begun.Load(), int32(1))
		time.Sleep(keep)
		synctest.Wait()
		is.Equal(watchers.Load(), int32(0))
		scrape(settle)
		is.Equal(begun.Load(), int32(2))
		time.Sleep(keep)
		synctest.Wait()
	})
}
