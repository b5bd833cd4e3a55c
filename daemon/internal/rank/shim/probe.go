package shim

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/shimproto"
	"fulmen/native"
)

const (
	// maxProbes bounds the probes at once: a daemon makes one of each kind.
	maxProbes = 4
	// probeDrain is how long what has ended with its group may still be read.
	probeDrain = 100 * time.Millisecond
	// envProgram finds a command by the PATH of its environment, as its account.
	envProgram = "/usr/bin/env"
)

// probe is a command that runs beside the program. Its fields belong to the goroutine of loop.
type probe struct {
	shim     *shim
	session  *session
	answer   shimproto.Probed
	pid      int // 0 until it is known
	deadline native.Timer
	out      *os.File
	printed  chan string   // once all has been read
	over     chan struct{} // closed when it has ended
}

// probe runs a command. Its group ends with it; what has left that ends with the rank.
func (s *shim) probe(c *session, r shimproto.Probe) {
	p := &probe{shim: s, session: c, answer: shimproto.Probed{Re: r.ID}, printed: make(chan string, 1), over: make(chan struct{})}
	if s.phase != shimproto.PhaseRunning || s.reaped || len(s.probes)+s.starting >= maxProbes {
		p.refuse(notStarted(api.ReasonSpawnFailed, "the rank does not run, or has too many probes"))
		return
	}
	streams, err := probeStreams(s.spec.User)
	if err != nil {
		p.refuse(err)
		return
	}
	p.out = streams.out
	spec := s.spec
	spec.Program, spec.Args = envProgram, r.Command
	s.starting++
	p.deadline = s.after(api.Seconds(r.TimeoutS), func() {
		p.answer.TimedOut = true
		p.kill()
	})
	go func() {
		pid, err := start(spec, streams, p.over)
		streams.closeTheirs()
		s.do(func() { p.started(pid, err) })
	}()
	go func() { p.printed <- readEnd(p.out) }()
}

// probeStreams are no input, and one pipe for both outputs.
func probeStreams(u *shimproto.User) (*streams, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	out, theirs, err := os.Pipe()
	if err != nil {
		closeFiles(null)
		return nil, err
	}
	if u != nil && os.Geteuid() == 0 {
		_ = theirs.Chown(int(u.UID), int(u.GID)) // as of the program's
	}
	return &streams{theirs: [3]*os.File{null, theirs, theirs}, out: out}, nil
}

// readEnd reads all that is printed, and keeps the end.
func readEnd(from *os.File) string {
	var kept []byte
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		kept = append(kept, buffer[:n]...)
		kept = append(kept[:0], kept[max(0, len(kept)-shimproto.MaxProbed):]...)
		if err != nil {
			return strings.ToValidUTF8(string(kept), "\uFFFD")
		}
	}
}

// refuse says that it does not run.
func (p *probe) refuse(err error) {
	p.answer.NotStarted = causeOf(err)
	p.session.send(p.shim, p.answer)
}

// started notes its process, which may have ended already.
func (p *probe) started(pid int, err error) {
	s := p.shim
	s.starting--
	if err != nil {
		p.deadline.Stop()
		close(p.over)
		closeFiles(p.out)
		p.refuse(err)
	} else {
		p.pid, s.probes[pid] = pid, p
		if p.answer.TimedOut || s.phase != shimproto.PhaseRunning {
			p.kill()
		}
	}
	if status, hasEnded := s.strays[pid]; hasEnded && err == nil {
		p.ended(status)
	}
	if s.starting == 0 {
		clear(s.strays)
	}
}

func (p *probe) kill() {
	if p.pid != 0 {
		_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	}
}

// ended ends what it has left in its group, and answers.
func (p *probe) ended(status syscall.WaitStatus) {
	s := p.shim
	p.kill()
	p.deadline.Stop()
	delete(s.probes, p.pid)
	close(p.over)
	if status.Signaled() {
		p.answer.Signal = signalName(status.Signal())
	} else {
		p.answer.Code = new(status.ExitStatus())
	}
	go func() {
		if err := p.out.SetReadDeadline(time.Now().Add(probeDrain)); err != nil && !errors.Is(err, os.ErrClosed) {
			closeFiles(p.out)
		}
		p.answer.Printed = <-p.printed
		closeFiles(p.out)
		s.do(func() { p.session.send(s, p.answer) })
	}()
}

// killProbes ends all of them, for the rank ends.
func (s *shim) killProbes() {
	for _, p := range s.probes {
		p.kill()
	}
}
