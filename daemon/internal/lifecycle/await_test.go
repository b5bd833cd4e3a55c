package lifecycle

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
)

// A stopped daemon ends when nobody has been connected for a while, and not before.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		began := time.Now()
		var ended atomic.Int32 // timers run beside
		i := &idle{clock: native.ClockFrom(time.Now, func() time.Duration { return time.Since(began) }), over: func() { ended.Add(1) }}
		pass := func(d time.Duration) {
			time.Sleep(d)
			synctest.Wait()
		}
		i.change(0)
		pass(stoppedFor - time.Second)
		i.change(1)
		i.change(1)
		pass(time.Hour)
		i.change(-1)
		pass(time.Hour)
		is.Equal(ended.Load(), int32(0)) // one is still there
		i.change(-1)
		pass(stoppedFor - time.Second)
		i.change(1)
		i.change(-1)
		pass(stoppedFor - time.Second)
		is.Equal(ended.Load(), int32(0))
		pass(2 * time.Second)
		is.Equal(ended.Load(), int32(1))
	})
}
