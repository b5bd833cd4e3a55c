package native_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
)

// bubbleClock runs on a synctest bubble's time; sleep adds to its boot clock
// alone, as a sleeping machine does while Go's own clock stands still.
func bubbleClock() (clock native.Clock, sleep func(time.Duration)) {
	start := time.Now()
	var slept atomic.Int64
	boot := func() time.Duration { return time.Since(start) + time.Duration(slept.Load()) }
	return native.ClockFrom(time.Now, boot), func(d time.Duration) { slept.Add(int64(d)) }
}

func TestTimerFiresOnTime(t *testing.T) {
	for name, d := range map[string]time.Duration{
		"at once": 0, "in the past": -time.Second, "short": 3 * time.Second,
		"one step": native.MaxTimerStep, "many steps": 25*time.Second + time.Millisecond,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				clock, _ := bubbleClock()
				fired := make(chan time.Duration, 2)
				timer := clock.AfterFunc(d, func() { fired <- clock.Boot() })
				is.Equal(<-fired, max(d, 0))
				is.True(!timer.Stop()) // it has run
				time.Sleep(time.Hour)
				is.Equal(len(fired), 0) // once only
			})
		})
	}
}

func TestTimerAfterSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		clock, sleep := bubbleClock()
		fired := make(chan time.Duration, 1)

		// Nobody says that the machine slept: late by one step at most.
		clock.AfterFunc(time.Minute, func() { fired <- clock.Boot() })
		time.Sleep(5 * time.Second)
		sleep(time.Hour)
		due := time.Minute
		got := <-fired
		is.True(got >= due)
		is.True(got-(time.Hour+5*time.Second) <= native.MaxTimerStep)

		// Somebody does: at once, and what is not due stays.
		began := clock.Boot()
		clock.AfterFunc(time.Minute, func() { fired <- clock.Boot() - began })
		later := clock.AfterFunc(3*time.Hour, func() { t.Error("not due and yet run") })
		sleep(time.Hour)
		clock.Recheck()
		is.Equal(<-fired, time.Hour)
		is.True(later.Stop())
	})
}

// Timers that wait for long wake the process together.
func TestTimersShareTheirSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		start := time.Now()
		awake := map[time.Duration]bool{} // when the clock was read
		var mu sync.Mutex
		clock := native.ClockFrom(time.Now, func() time.Duration {
			mu.Lock()
			defer mu.Unlock()
			now := time.Since(start)
			awake[now] = true
			return now
		})
		const timers = 5
		fired := make(chan struct{}, timers)
		for range timers {
			clock.AfterFunc(time.Minute, func() { fired <- struct{}{} })
			time.Sleep(time.Second)
		}
		mu.Lock()
		clear(awake)
		mu.Unlock()
		for range timers {
			<-fired
		}
		mu.Lock()
		defer mu.Unlock()
		is.Equal(len(awake), 6+timers-1) // six steps, the last with the first timer, and the other timers
	})
}

func TestTimerStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		clock, sleep := bubbleClock()
		timer := clock.AfterFunc(time.Minute, func() { t.Error("stopped and yet run") })
		time.Sleep(15 * time.Second) // in its second step
		is.True(timer.Stop())
		is.True(!timer.Stop())
		sleep(time.Hour)
		clock.Recheck()
		time.Sleep(time.Hour)
	})
}

func TestWithTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		clock, _ := bubbleClock()
		ctx, cancel := native.WithTimeout(t.Context(), clock, time.Minute, "rank 2 on mac-studio-2 to join")
		defer cancel()
		<-ctx.Done()
		is.Equal(clock.Boot(), time.Minute)
		cause := context.Cause(ctx)
		is.True(errors.Is(cause, context.DeadlineExceeded))
		is.Equal(cause.Error(), "waited 1m0s for rank 2 on mac-studio-2 to join")

		ctx, cancel = native.WithTimeout(t.Context(), clock, time.Minute, "nothing")
		cancel()
		time.Sleep(time.Hour)
		is.Equal(context.Cause(ctx), context.Canceled) // the timer is gone
	})
}

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		clock, _ := bubbleClock()
		ctx, cancel := context.WithCancel(t.Context())
		woken := make(chan struct{}, 1)
		is.True(native.Wait(ctx, clock, time.Minute, woken))
		is.Equal(clock.Boot(), time.Minute)
		woken <- struct{}{}
		is.True(native.Wait(ctx, clock, native.Forever, woken))
		is.Equal(clock.Boot(), time.Minute)
		time.AfterFunc(time.Hour, cancel)
		is.True(!native.Wait(ctx, clock, native.Forever, woken))
		is.Equal(clock.Boot(), time.Minute+time.Hour)
		is.True(!native.Pause(ctx, clock, time.Minute))
	})
}

// The machine's own clock: real, so bounded by the other clock and not by luck.
func TestSystemClock(t *testing.T) {
	is := is.New(t)
	clock, err := native.SystemClock()
	is.NoErr(err)
	mono, boot := time.Now(), clock.Boot()
	is.True(boot > 0)
	fired := make(chan struct{})
	clock.AfterFunc(20*time.Millisecond, func() { close(fired) })
	<-fired
	gone := clock.Boot() - boot
	is.True(gone >= 20*time.Millisecond)
	// Both clocks run at one rate while the machine is awake; the slack is for
	// the two readings not being one moment.
	is.True((time.Since(mono) - gone).Abs() < 5*time.Second)
}
