package main

import (
	"fmt"
	"runtime"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// moment is what was used until now.
type moment struct {
	at   time.Time
	own  time.Duration // processor time of this program and of what it ran
	busy time.Duration // of everything on this machine; 0 where it is not told
}

func now() moment {
	m := moment{at: time.Now()}
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			m.own += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	if system, err := procfs.NewDefaultFS(); err == nil {
		m.busy = busy(system)
	}
	return m
}

// busy is how long the processors were: all but idle and waiting for a disk. Guests are
// in it already. It is 0 where that is not told.
func busy(system procfs.FS) time.Duration {
	stat, err := system.Stat()
	if err != nil {
		return 0
	}
	c := stat.CPUTotal
	return time.Duration((c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ + c.Steal) * float64(time.Second)).Round(time.Millisecond)
}

// cost is what all of it took.
type cost struct {
	wall, own, others time.Duration
	cores             int
}

func since(m moment) cost {
	end := now()
	c := cost{wall: end.at.Sub(m.at), own: end.own - m.own, cores: runtime.NumCPU()}
	c.others = max(0, end.busy-m.busy-c.own)
	return c
}

// quiet is how long it takes on two cores with nothing else to do: without the
// time that other programs took, and at least as long as two cores compute.
func (c cost) quiet() time.Duration {
	return max(c.own/2, c.wall-c.others/time.Duration(c.cores))
}

func (c cost) within(limit time.Duration) error {
	if c.quiet() <= limit {
		return nil
	}
	return fmt.Errorf("it takes %s on two quiet cores, which is more than %s: make the slowest packages quicker", clock(c.quiet()), clock(limit))
}

func (c cost) String() string {
	return fmt.Sprintf("%s on two quiet cores (here %s; %s of processor time, %s of other programs)", clock(c.quiet()), clock(c.wall), clock(c.own), clock(c.others))
}
