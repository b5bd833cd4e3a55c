//go:build darwin && cgo

package native

/*
#include <mach/mach_time.h>
#include <stdint.h>

// fulmen_continuous_ns returns mach_continuous_time in nanoseconds; it goes on
// in sleep, which mach_absolute_time does not. The split keeps ticks * numer
// from overflowing: on Apple silicon a tick is 125/3 ns.
static uint64_t fulmen_continuous_ns(void) {
	mach_timebase_info_data_t base;
	if (mach_timebase_info(&base) != 0 || base.denom == 0) {
		return 0;
	}
	uint64_t ticks = mach_continuous_time();
	return ticks / base.denom * base.numer + ticks % base.denom * base.numer / base.denom;
}
*/
import "C"

import "time"

func systemBoot() (func() time.Duration, error) {
	if C.fulmen_continuous_ns() == 0 {
		return nil, Unsupported(FeatureClock, ReasonReadFailed.With("mach_timebase_info"))
	}
	return func() time.Duration { return time.Duration(C.fulmen_continuous_ns()) }, nil
}
