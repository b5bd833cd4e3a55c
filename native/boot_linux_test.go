package native_test

import (
	"testing"
	"time"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"fulmen/native"
)

// TestBootCountsSleep: the system's clock is the one that goes on in sleep.
func TestBootCountsSleep(t *testing.T) {
	is := is.New(t)
	clock, err := native.SystemClock()
	is.NoErr(err)
	now := func() time.Duration {
		var ts unix.Timespec
		is.NoErr(unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts))
		return time.Duration(ts.Nano())
	}
	before, boot, after := now(), clock.Boot(), now()
	if boot < before-time.Microsecond || boot > after { // macOS counts in ticks
		t.Errorf("%v is not between %v and %v", boot, before, after)
	}
}
