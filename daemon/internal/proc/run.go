package proc

import (
	"context"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"fulmen/native"
)

const (
	// afterKill is how long a killed process may take to be gone. Only one
	// that is stuck inside the system takes longer.
	afterKill = 5 * time.Second
	// afterEnd is how long the pipes may stay open once the worker's group is
	// gone. Only a process that left the group holds them.
	afterEnd = time.Second
	// late is how late an alarm rings only where the machine slept meanwhile.
	late = 2 * time.Second
)

// Run runs a worker to its end, which it brings about itself when ctx ends, the
// deadline passes, or the worker is silent for too long. It always returns a
// record, at the latest Deadline + Grace + 6 s after it was called.
func Run(ctx context.Context, clock native.Clock, c Command) (r Record) {
	c = c.withDefaults()
	r.ExitCode = -1
	f := facts{command: c}
	if ctx.Err() != nil {
		r.Outcome, r.Sentence = Cancelled, c.Who+" was not started: it was cancelled before."
		return r
	}
	before := native.CountMemoryKills()
	p, err := start(c)
	if err != nil {
		f.notStarted(&r, err)
		return r
	}
	r.PID = p.Pid
	if c.Started != nil {
		c.Started(p.Pid)
	}
	run := &running{clock: clock, command: c, process: p, progress: newListener(clock.Boot)}
	run.listen()
	f.stopped = run.supervise(ctx, &r)
	run.finish(&r)
	f.broken = run.progress.notify(&r)
	f.oom, f.memory = oomSince(before, native.CountMemoryKills()), physicalMemory()
	f.judge(&r)
	return r
}

// running is a worker under supervision.
type running struct {
	clock    native.Clock
	command  Command
	process  *process
	progress *listener
	out      capture
	err      capture

	ended    chan struct{} // closed when the process has ended; it is not reaped yet
	readers  sync.WaitGroup
	received sync.WaitGroup
	done     chan struct{} // closed when no more progress can come
}

// listen starts what reads and what waits.
func (r *running) listen() {
	r.ended, r.done = make(chan struct{}), make(chan struct{})
	go func() {
		r.process.watch.wait(r.process.Pid)
		close(r.ended)
	}()
	r.readers.Go(func() { r.progress.listen(r.process.messages) })
	r.readers.Go(func() { r.out.drain(r.process.stdout) })
	r.readers.Go(func() { r.err.drain(r.process.stderr) })
	if r.command.Progress != nil {
		r.received.Go(func() { r.progress.deliver(r.command.Progress, r.done) })
	}
}

// supervise waits for the worker's end and brings it about where it must. It
// returns why it asked for it, or "".
func (r *running) supervise(ctx context.Context, record *Record) (stopped Outcome) {
	c := r.command
	deadline := r.alarm(c.Deadline)
	defer func() { deadline.Stop() }()
	silence := r.alarm(c.Silence)
	defer func() { silence.Stop() }()
	var grace, kill alarm
	defer func() { grace.Stop(); kill.Stop() }()
	cancelled, concluded := ctx.Done(), r.progress.concluded
	stop := func(why Outcome) {
		if stopped != "" || record.KilledAfterGrace {
			return
		}
		stopped, cancelled = why, nil
		r.process.signal(syscall.SIGTERM)
		// A stopped process does nothing about a signal before it goes on.
		r.process.signal(syscall.SIGCONT)
		grace.Stop()
		grace = r.alarm(c.Grace)
	}
	for {
		select {
		case <-r.ended:
			return stopped
		case <-cancelled:
			stop(Cancelled)
		case <-deadline.woken:
			stop(TooLong)
		case <-silence.woken:
			left := c.Silence - r.progress.quiet()
			if r.clock.Boot()-silence.due > late {
				left = c.Silence // the worker slept too: it gets its time again
			}
			if left > 0 {
				silence = r.alarm(left)
			} else {
				stop(Hung)
			}
		case <-concluded:
			concluded = nil
			silence.Stop()
			if r.progress.garbled() {
				stop(Garbled)
			} else if stopped == "" {
				grace = r.alarm(c.Grace) // it has said all and has to go
			}
		case <-grace.woken:
			record.KilledAfterGrace = true
			r.process.signal(syscall.SIGKILL)
			kill = r.alarm(afterKill)
		case <-kill.woken:
			record.Stuck = true
			return stopped
		}
	}
}

// finish ends what is left of the group, reaps the worker, closes everything
// and fills in the record.
func (r *running) finish(record *Record) {
	if record.Stuck {
		go func() {
			<-r.ended
			r.process.signal(syscall.SIGKILL)
			_, _ = r.process.Wait()
		}()
	} else {
		// Before the worker is reaped, so that the group is certainly its own.
		r.process.signal(syscall.SIGKILL)
		r.reap(record)
	}
	read := make(chan struct{})
	go func() {
		r.readers.Wait()
		close(read)
	}()
	held := r.alarm(afterEnd)
	defer held.Stop()
	select {
	case <-read:
	case <-held.woken:
		record.PipesHeld = !record.Stuck
	}
	r.process.close()
	<-read
	close(r.done)
	r.received.Wait()
	record.Stdout, record.Stderr = r.out.String(), r.err.String()
}

// reap takes the worker's exit status and what it used.
func (r *running) reap(record *Record) {
	state, err := r.process.Wait()
	if err != nil {
		return // somebody else reaped it: how it ended is unknown
	}
	record.ExitCode = state.ExitCode()
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		record.Signal = unix.SignalName(status.Signal())
	}
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		record.MaxRSSBytes = native.MaxRSSBytes(int64(usage.Maxrss))
	}
}

// alarm rings once, on the clock that counts sleep. The zero value never does.
type alarm struct {
	due   time.Duration // on the clock's Boot
	woken chan struct{}
	timer native.Timer
}

func (r *running) alarm(after time.Duration) alarm {
	woken := make(chan struct{}, 1)
	return alarm{due: r.clock.Boot() + after, woken: woken, timer: r.clock.AfterFunc(after, func() { woken <- struct{}{} })}
}

// Stop keeps the alarm from ringing.
func (a alarm) Stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
}
