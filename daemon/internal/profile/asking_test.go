package profile

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
)

// Measurements are wanted for a while after a placement, and only once however
// many there are.
func TestPlacementAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		began := time.Now()
		var wanted, asked atomic.Int32
		a := NewAsking(native.ClockFrom(time.Now, func() time.Duration { return time.Since(began) }), func() func() {
			wanted.Add(1)
			asked.Add(1)
			return func() { wanted.Add(-1) }
		})
		wait := func(d time.Duration) {
			time.Sleep(d)
			synctest.Wait()
		}
		a.Ask()
		a.Ask()
		wait(wantedAfter - time.Second)
		is.Equal(wanted.Load(), int32(0)) // a job that starts at once goes first
		wait(2 * time.Second)
		a.Ask()
		is.Equal(wanted.Load(), int32(1))
		wait(wantedFor)
		is.Equal(wanted.Load(), int32(0))
		a.Ask()
		wait(wantedAfter + time.Second)
		is.Equal(wanted.Load(), int32(1))
		a.Close()
		synctest.Wait()
		is.Equal(wanted.Load(), int32(0))
		a.Ask()
		wait(time.Hour)
		is.Equal(asked.Load(), int32(2))
	})
}
