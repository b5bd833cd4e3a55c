package lifecycle

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
)

// A machine is kept awake from the first rank to the last, once.
func TestAwake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		began := time.Now()
		var ranks, held, taken atomic.Int64
		refuse := atomic.Bool{}
		v := NewAwake(native.ClockFrom(time.Now, func() time.Duration { return time.Since(began) }),
			func(context.Context, string) (func() error, error) {
				time.Sleep(10 * time.Millisecond) // ranks come and go meanwhile
				if refuse.Load() {
					return nil, errors.New("not now")
				}
				held.Add(1)
				taken.Add(1)
				return func() error { held.Add(-1); return nil }, nil
			}, func() bool { return ranks.Load() > 0 }, slog.New(slog.DiscardHandler))
		to := func(n int64) {
			ranks.Store(n)
			v.Changed()
		}
		settled := func() int64 {
			time.Sleep(time.Second)
			synctest.Wait()
			return held.Load()
		}
		to(1)
		to(2)
		is.Equal(settled(), int64(1))
		to(1)
		is.Equal(settled(), int64(1))
		is.Equal(taken.Load(), int64(1))
		to(0)
		is.Equal(settled(), int64(0))
		to(1)
		to(0) // before the system has answered
		is.Equal(settled(), int64(0))
		refuse.Store(true)
		to(1)
		is.Equal(settled(), int64(0))
		refuse.Store(false)
		to(2)
		is.Equal(settled(), int64(1))
		is.NoErr(v.Close())
		is.Equal(settled(), int64(0))
		to(3)
		is.Equal(settled(), int64(0))
	})
}
