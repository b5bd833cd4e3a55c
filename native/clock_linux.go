package native

import (
	"syscall"
	"time"
	"unsafe"
)

// clockBoottime is CLOCK_BOOTTIME of linux/time.h: monotonic, suspend included.
const clockBoottime = 7

// systemBoot probes the clock once, so that a refusal (a seccomp filter) is an
// error at the start and not in the middle of a lease.
func systemBoot() (func() time.Duration, error) {
	if _, err := readBoottime(); err != nil {
		return nil, &ActionError{Action: FeatureClock, Subject: "CLOCK_BOOTTIME", Err: Unsupported(FeatureClock, ReasonReadFailed.With(err.Error()))}
	}
	return func() time.Duration {
		boot, err := readBoottime()
		if err != nil {
			// It worked at the start and takes no resource: only memory
			// corruption gets here, and a lease must not be judged by a zero.
			panic("clock_gettime(CLOCK_BOOTTIME): " + err.Error())
		}
		return boot
	}, nil
}

func readBoottime() (time.Duration, error) {
	var ts syscall.Timespec
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockBoottime, uintptr(unsafe.Pointer(&ts)), 0)
	if errno != 0 {
		return 0, errno
	}
	return time.Duration(ts.Nano()), nil
}
