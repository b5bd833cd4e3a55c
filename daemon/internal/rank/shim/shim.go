package shim

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/shimproto"
	"fulmen/native"
)

const (
	// killAgain is how long after a SIGKILL what is still there is killed again:
	// something inside the system that does not end at once.
	killAgain = 200 * time.Millisecond
	// hopeless is how long after the program's own end the shim goes on trying to
	// kill what it left behind, which may have more rights than the shim.
	hopeless = 10 * time.Second
	// linger is how long connections are kept after the end, so that whoever is
	// connecting still hears of it. Whoever comes later reads exit.json.
	linger = 5 * time.Second
)

// shim holds one rank. All its fields belong to the goroutine of loop; the others
// hand it functions over do.
type shim struct {
	folder string
	spec   shimproto.Spec
	clock  native.Clock
	report io.Writer
	events chan func()
	over   chan struct{} // closed when loop has ended

	fence    *shimproto.Fence
	sessions map[*session]struct{}
	latest   *session // that said hello last; nil when it is over
	feeder   *input

	streams  *streams
	terminal *terminal // nil where the spec wants none
	pumps    pumps
	logs     []*logFile
	guard    *guard

	phase    shimproto.Phase
	family   family
	began    time.Duration // of the program, on Boot
	record   shimproto.ExitRecord
	stopped  string // the signal that stopped the program; empty while it goes on
	leaseEnd time.Duration
	lease    native.Timer

	stopping bool // SIGTERM was sent, and the grace is not over
	killAt   time.Duration
	kill     native.Timer
	hang     native.Timer // of a terminal
	kills    int64        // [native.MemoryKills]'s of the group when the program started

	probes   map[int]*probe             // by process
	starting int                        // those whose process is not known yet
	strays   map[int]syscall.WaitStatus // ended meanwhile, of processes that nobody knows

	reaped    bool          // the program was
	reapedAt  time.Duration // when
	finishing bool
	finished  bool // the connections' time is over
}

// do runs f on the goroutine of loop, if that still runs.
func (s *shim) do(f func()) {
	select {
	case s.events <- f:
	case <-s.over:
	}
}

// after runs f on the goroutine of loop later.
func (s *shim) after(d time.Duration, f func()) native.Timer {
	return s.clock.AfterFunc(d, func() { s.do(f) })
}

// logf leaves a line for whoever looks for the cause of something odd.
func (s *shim) logf(format string, args ...any) {
	fmt.Fprintf(s.report, "%s %s: %s\n", native.Stamp(s.clock.Now()), s.spec.Ref, fmt.Sprintf(format, args...))
}

// loop runs the shim until the rank has ended and whoever is connected knows.
func (s *shim) loop(children, end <-chan os.Signal) {
	defer close(s.over)
	for !s.finished {
		select {
		case f := <-s.events:
			f()
		case <-children:
			s.reap()
		case signal := <-end:
			s.stop(0, s.spec.GraceS, shimproto.Cause{
				Reason: string(api.ReasonStopping), Message: "the system asked the rank's shim to end (" + signal.String() + ")",
			})
		}
	}
}

// started takes over a program that runs, or the reason why not.
func (s *shim) started(pid int, err error) {
	s.streams.closeTheirs()
	if err != nil {
		s.record.NotStarted = causeOf(err)
		s.phase = shimproto.PhaseEnding
		s.reaped = true
		s.finish()
		return
	}
	s.record.PID, s.family.program = pid, pid
	if s.record.Cause != nil {
		s.terminate() // it was stopped before it was known to run
	} else {
		s.phase = shimproto.PhaseRunning
		s.announce()
	}
	s.reap()
}

// renew prolongs the lease, unless it is over already: what slept through its
// lease must not be woken by a late renewal.
func (s *shim) renew(seconds float64) {
	if s.clock.Boot() >= s.leaseEnd {
		s.leaseOver()
		return
	}
	s.armLease(seconds)
}

func (s *shim) armLease(seconds float64) {
	if s.lease != nil {
		s.lease.Stop()
	}
	left := api.Seconds(seconds)
	s.leaseEnd = s.clock.Boot() + left
	s.lease = s.after(left, s.leaseOver)
}

func (s *shim) leaseOver() {
	if s.clock.Boot() < s.leaseEnd {
		return // it was renewed while the timer rang
	}
	s.stop(0, s.spec.GraceS, shimproto.Cause{
		Reason: string(api.ReasonLeaseExpired), Message: "nobody renewed the lease in time",
	})
}

// stop ends the group. A second stop can only shorten the grace, and the first
// one's cause stays.
func (s *shim) stop(asked int64, grace float64, cause shimproto.Cause) {
	killAt := s.clock.Boot() + api.Seconds(grace)
	switch {
	case s.finishing || s.phase == shimproto.PhaseExited:
		return
	case s.record.Cause == nil && s.reaped:
		return // it has ended by itself, and what is left is being killed
	case s.record.Cause == nil:
		s.record.Cause, s.killAt, s.stopping = &cause, killAt, grace > 0
		s.logf("ending: %s (epoch %d)", cause.Message, asked)
		if s.phase != shimproto.PhaseStarting {
			s.terminate()
		}
	case s.stopping && killAt < s.killAt:
		s.killAt = killAt
		if s.phase != shimproto.PhaseStarting {
			s.awaitGrace()
		}
	}
}

// terminate does what stop has noted.
func (s *shim) terminate() {
	s.phase = shimproto.PhaseEnding
	s.killProbes()
	if s.stopping {
		s.family.signal(syscall.SIGTERM)
		// A stopped process does nothing about a signal before it goes on.
		s.family.signal(syscall.SIGCONT)
		s.stopTerminal()
	}
	s.announce()
	s.awaitGrace()
}

// stopTerminal passes the signal on to the command that has the terminal, and
// hangs up when half the grace is over: a shell at its terminal does not mind
// SIGTERM. At once would be too early for what cleans up after a SIGTERM.
func (s *shim) stopTerminal() {
	t := s.terminal
	if t == nil {
		return
	}
	t.signal(s.family.program, syscall.SIGTERM)
	t.signal(s.family.program, syscall.SIGCONT)
	s.hang = s.after((s.killAt-s.clock.Boot())/2, func() {
		if s.stopping && !s.finishing {
			t.signal(s.family.program, syscall.SIGHUP)
			if !s.reaped {
				s.family.signal(syscall.SIGHUP)
			}
		}
	})
}

// awaitGrace sees to the end of the grace, which may be now.
func (s *shim) awaitGrace() {
	if s.kill != nil {
		s.kill.Stop()
	}
	if left := s.killAt - s.clock.Boot(); left > 0 {
		s.kill = s.after(left, s.graceOver)
		return
	}
	s.graceOver()
}

func (s *shim) graceOver() {
	if s.finishing || s.clock.Boot() < s.killAt {
		return
	}
	if s.stopping {
		s.stopping, s.record.KilledAfterGrace = false, true
	}
	s.killNow()
}

// killNow kills the group and what has left it, and goes on until nothing is left.
func (s *shim) killNow() {
	if s.finishing {
		return
	}
	if !s.reaped {
		s.family.signal(syscall.SIGKILL)
	}
	s.killProbes()
	left := s.family.kill()
	if s.reaped && (!left || s.clock.Boot()-s.reapedAt > hopeless) {
		if left {
			s.logf("something that the program started cannot be killed")
		}
		s.finish()
		return
	}
	if s.kill != nil {
		s.kill.Stop()
	}
	s.kill = s.after(killAgain, s.killNow)
}

// reap takes whatever has ended, and sees what that means.
func (s *shim) reap() {
	if s.phase == shimproto.PhaseStarting {
		return // the program's number is not known yet; started comes back here
	}
	for {
		var status syscall.WaitStatus
		var usage syscall.Rusage
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG|syscall.WUNTRACED|syscall.WCONTINUED, &usage)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			break
		}
		switch by, isHalt := halt(status); {
		case isHalt:
			s.halted(pid, by)
		case pid == s.family.program && !s.reaped:
			s.ended(status, usage)
		case pid == s.guard.pid:
			s.replaceGuard()
		case s.probes[pid] != nil:
			s.probes[pid].ended(status)
		case s.starting > 0:
			s.strays[pid] = status
		}
	}
	switch {
	case !s.reaped || s.finishing:
	case s.stopping:
		// The rest of the group has the grace too.
		if !s.family.left() {
			s.finish()
		}
	default:
		s.killNow()
	}
}

// ended takes down how the program ended.
func (s *shim) ended(status syscall.WaitStatus, usage syscall.Rusage) {
	s.reaped, s.reapedAt = true, s.clock.Boot()
	setEnd(&s.record, status, usage)
	if status.Signaled() && status.Signal() == syscall.SIGKILL && s.record.Cause == nil {
		// A unit of systemd has a control group of its own; otherwise it is the daemon's,
		// and a rank that somebody else has killed while it counted up is taken for one
		// that memory has ended.
		s.record.OutOfMemory = s.kills >= 0 && native.CountMemoryKills().Group > s.kills
	}
	if s.phase != shimproto.PhaseEnding {
		s.phase = shimproto.PhaseEnding
		s.announce()
	}
}
