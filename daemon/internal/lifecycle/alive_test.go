package lifecycle

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
)

func TestKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		began := time.Now()
		clock := native.ClockFrom(time.Now, func() time.Duration { return time.Since(began) })
		var reported atomic.Int64
		hangs := make(chan struct{})
		var isStuck atomic.Bool
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			KeepAlive(ctx, clock, 20*time.Second, func() {
				if isStuck.Load() {
					<-hangs
				}
			}, func() error { reported.Add(1); return errors.New("not heard") })
		}()
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		is.Equal(reported.Load(), int64(7)) // at once, and every 10 s whether it was heard or not
		isStuck.Store(true)
		time.Sleep(time.Hour)
		synctest.Wait()
		is.Equal(reported.Load(), int64(7)) // what hangs is silent
		isStuck.Store(false)
		close(hangs)
		time.Sleep(11 * time.Second)
		synctest.Wait()
		is.Equal(reported.Load(), int64(9))
		stop()
		<-ended
		time.Sleep(time.Hour)
		synctest.Wait()
		is.Equal(reported.Load(), int64(9))
		KeepAlive(t.Context(), clock, 0, nil, nil) // nobody waits for it
	})
}
