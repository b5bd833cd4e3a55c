package metrics

import (
	"context"
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
		start, watchers, begun := time.Now(), 0, 0
		clock := native.ClockFrom(time.Now, func() time.Duration { return time.Since(start) })
		w := Watching{Clock: clock, Want: func() func() {
			watchers, begun = watchers+1, begun+1
			return func() { watchers-- }
		}}
		scrape := func(want time.Duration) {
			before := time.Now()
			w.Scrape(context.Background())
			is.Equal(time.Since(before), want)
			is.Equal(watchers, 1)
		}
		scrape(settle)
		for range 5 { // it goes on as long as somebody scrapes
			time.Sleep(keep - 2*settle)
			scrape(0)
		}
		is.Equal(begun, 1)
		time.Sleep(keep)
		synctest.Wait()
		is.Equal(watchers, 0)
		scrape(settle)
		is.Equal(begun, 2)
		time.Sleep(keep)
		synctest.Wait()
	})
}
