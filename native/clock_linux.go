package native

import (
	"time"

	"golang.org/x/sys/unix"
)

// systemBoot probes the clock once, so that a refusal (a seccomp filter) is an
// error at the start and not in the middle of a lease.
func systemBoot() (func() time.Duration, error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return nil, &ActionError{Action: FeatureClock, Subject: "CLOCK_BOOTTIME", Err: Unsupported(FeatureClock, ReasonReadFailed.With(err.Error()))}
	}
	return func() time.Duration {
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
			// It worked at the start and takes no resource: only memory
			// corruption gets here, and a lease must not be judged by a zero.
			panic("clock_gettime(CLOCK_BOOTTIME): " + err.Error())
		}
		return time.Duration(ts.Nano())
	}, nil
}
