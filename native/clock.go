package native

import "time"

// Clock measures time so that a machine's sleep counts. Leases, deadlines and
// beats run on it: a Mac that slept for an hour has let its 30-second lease run
// out, and must know so on its first instruction after waking.
//
// Go's own monotonic clock stops in sleep on both systems (it is
// mach_absolute_time on macOS and CLOCK_MONOTONIC on Linux), and so do its
// timers: one armed for 30 s fires after 30 s awake, however long the sleep in
// between. Timers of this clock are corrected in two ways. Whoever hears that
// the machine woke calls Recheck, and every timer that is due runs at once.
// And no underlying timer is armed for longer than [MaxTimerStep], so that
// without any such notice a timer is late by at most that much after a sleep.
// Code that must not act after its time compares Boot with its deadline when it
// acts; a timer only wakes it.
type Clock interface {
	// Now returns the wall-clock time, for people. It can jump.
	Now() time.Time

	// Boot returns the time since a fixed point in this boot, sleep included.
	// It never goes backwards and means nothing on another machine or boot.
	Boot() time.Duration

	// AfterFunc runs f on a goroutine of its own once d has passed on Boot. A
	// d of zero or less runs it at once.
	AfterFunc(d time.Duration, f func()) Timer

	// Recheck compares all timers with Boot and runs those that are due. It is
	// to be called when the machine has woken; calling it for nothing is
	// harmless.
	Recheck()
}

// Timer is one pending call.
type Timer interface {
	// Stop prevents the call and reports whether it did. False means that it
	// has run, is running, or was stopped before.
	Stop() bool
}

// MaxTimerStep is the longest that an underlying timer is armed for, and so the
// longest a timer can be late after a sleep that nobody announced. It is a
// third of the lease, and costs an idle process one wake-up per step and
// pending timer at most.
const MaxTimerStep = 10 * time.Second
