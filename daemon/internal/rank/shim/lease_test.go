package shim

import (
	"io"
	"os/exec"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/internal/rank/shimproto"
	"fulmen/native"
)

// TestASleepThatOutlastsTheLease is a machine that wakes and hears a renewal
// before any timer has rung: the lease is over all the same.
func TestASleepThatOutlastsTheLease(t *testing.T) {
	for _, test := range []struct {
		name  string
		slept time.Duration
		ends  bool
	}{
		{"shorter", 20 * time.Second, false},
		{"longer", time.Hour, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			var slept atomic.Int64
			began := time.Now()
			clock := native.ClockFrom(time.Now, func() time.Duration { return time.Since(began) + time.Duration(slept.Load()) })
			program := exec.Command("sleep", "1000")
			program.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			is.NoErr(program.Start())
			defer program.Wait()
			defer program.Process.Kill()

			spec := shimproto.Spec{Ref: shimproto.Ref{Job: "j4k2m9xq7", Attempt: 1}, Epoch: 1, LeaseS: 30, GraceS: 10, Folder: t.TempDir()}
			s := newShim(spec.Folder, spec, clock, io.Discard)
			defer close(s.over)
			s.phase, s.family.program = shimproto.PhaseRunning, program.Process.Pid
			s.armLease(spec.LeaseS)
			slept.Store(int64(test.slept))
			woken := clock.Boot()
			s.renew(30)
			is.Equal(s.record.Cause != nil, test.ends)
			if test.ends {
				is.Equal(s.record.Cause.Reason, "lease_expired")
				is.Equal(s.phase, shimproto.PhaseEnding)
				is.True(program.Wait() != nil) // it got the signal
				is.True(s.clock.Boot() >= s.leaseEnd)
			} else {
				is.True(s.leaseEnd >= woken+30*time.Second)
			}
		})
	}
}
