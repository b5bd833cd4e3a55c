package policy

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest"
)

// A Mac that lends only when nobody uses it looks every few seconds and says what it finds;
// one that lends at any time does not look.
func TestUseIsWatchedWhileItMatters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		clock := nativetest.NewClock(time.Now())
		rules := api.Sharing{IdleAfterS: 60}
		changes := make(chan struct{})
		unused, looks := new(5.0), 0
		reported := Use{}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			useWatch{
				clock: clock, rules: func() api.Sharing { return rules },
				changed: func(ctx context.Context) {
					select {
					case <-changes:
					case <-ctx.Done():
					}
				},
				read: func(context.Context) (*float64, api.Reason) {
					if looks++; unused == nil {
						return nil, api.ReasonReadFailed
					}
					return unused, ""
				},
				report: func(u Use) error { reported = u; return nil },
			}.run(ctx)
		}()
		synctest.Wait()
		clock.Advance(time.Hour)
		synctest.Wait()
		is.Equal(looks, 0)

		rules.OnlyWhenIdle = true
		changes <- struct{}{}
		synctest.Wait()
		is.Equal(looks, 1)
		is.Equal(*reported.Idle, false)
		unused = new(61.0)
		clock.Advance(useEvery)
		synctest.Wait()
		is.Equal(looks, 2)
		is.Equal(*reported.Idle, true)
		unused = nil // the source falls silent: nobody may count on it
		clock.Advance(useEvery)
		synctest.Wait()
		is.True(reported.Idle == nil)
		is.Equal(reported.Unknown, api.ReasonReadFailed)

		rules.OnlyWhenIdle = false
		changes <- struct{}{}
		synctest.Wait()
		clock.Advance(time.Hour)
		synctest.Wait()
		is.Equal(looks, 3)
		cancel()
		<-ended
	})
}
