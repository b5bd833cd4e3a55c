package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"fulmen/daemon/api"
)

const (
	// evidence is how much of what a process said is kept: the end of it.
	evidence = 2 << 10
	// outputDelay is how long a process's own children may hold its output after
	// its end.
	outputDelay = 2 * time.Second
)

// process is a program that this one started.
type process struct {
	name   string // for people
	cmd    *exec.Cmd
	life   io.Closer // its standard input, which ends with this program
	ready  chan string
	ended  chan struct{}
	err    error // why, once ended
	output *lineWriter
}

// start starts a program as an account, in the process group of leader, or in a
// new one that it leads. The first line of out that isReady tells is the one that
// await gives.
func start(name string, leader *process, as Account, variables []string, isReady func(string) bool, program string, args ...string) (*process, error) {
	p := &process{name: name, cmd: exec.Command(program, args...), ready: make(chan string, 1), ended: make(chan struct{})}
	as.runs(p.cmd, variables...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: as.credential} // Ctrl-C is this program's; it ends them in order
	if leader != nil {
		p.cmd.SysProcAttr.Pgid = leader.cmd.Process.Pid
	}
	p.cmd.WaitDelay = outputDelay
	p.output = &lineWriter{line: func(line string) {
		if isReady(line) {
			select {
			case p.ready <- line:
			default: // it is known already
			}
		}
	}}
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	life, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.life = life
	if err := p.cmd.Start(); err != nil {
		return nil, notStarted(program)
	}
	go func() {
		err := p.cmd.Wait()
		if errors.Is(err, exec.ErrWaitDelay) {
			err = nil // it ended well; a child of it held the output
		}
		p.err = err
		close(p.ended)
	}()
	return p, nil
}

// notStarted is the error of a program of ours that does not start.
func notStarted(program string) *api.Error {
	return api.Errorf(api.ReasonInternal, program, "%s could not be started.", program).
		WithRemedy("Install fulmen and fulmend from the same release.")
}

// await waits until the process says that it is ready, and gives the line.
func (p *process) await(ctx context.Context) (string, error) {
	select {
	case line := <-p.ready:
		return line, nil
	case <-p.ended:
		select {
		case line := <-p.ready: // said before it ended
			return line, nil
		default:
		}
		return "", p.failure()
	case <-ctx.Done():
		return "", late(ctx, strings.ToLower(p.name[:1])+p.name[1:]+" to be ready")
	}
}

// isRunning reports whether the process has not ended.
func (p *process) isRunning() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// how says how a process ended.
func (p *process) how() string {
	if p.err == nil {
		return "exit code 0"
	}
	if ended, ok := errors.AsType[*exec.ExitError](p.err); ok && ended.Exited() {
		return fmt.Sprintf("exit code %d", ended.ExitCode())
	}
	return p.err.Error()
}

// failure is an end that nobody asked for, with the last words.
func (p *process) failure() error {
	e := api.Errorf(api.ReasonInternal, p.name, "%s ended (%s).", p.name, p.how()).WithRemedy("")
	for line := range strings.SplitSeq(p.output.end(), "\n") {
		if line != "" {
			e.Data.Causes = append(e.Data.Causes, api.Cause{Message: line})
		}
	}
	return e
}

// within waits for the end, at most so long; false where it did not come.
func (p *process) within(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.ended:
		return true
	case <-t.C:
		return false
	}
}

// signal asks a process to end; one that has ended already does not mind.
func (p *process) signal() {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		_ = p.cmd.Process.Kill() // whatever the reason, it has to end
	}
}

// late is the end of a wait; the deadline has its own words as the cause.
func late(ctx context.Context, what string) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return api.Errorf(api.ReasonCancelled, "", "Cancelled while waiting for %s.", what)
	}
	return api.Errorf(api.ReasonDeadline, "", "Timed out waiting for %s.", what).WithWait(what).
		WithRemedy("Give it more time with --within, or use --keep to look at the logs.")
}

// lineWriter passes lines on and keeps the end of them.
type lineWriter struct {
	line func(string)

	mu   sync.Mutex
	part []byte
	kept []byte
}

// Write takes output of a process; it never fails.
func (s *lineWriter) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, p...)
	if extra := len(s.kept) - evidence; extra > 0 {
		s.kept = bytes.Clone(s.kept[extra:])
	}
	s.part = append(s.part, p...)
	for {
		line, rest, found := bytes.Cut(s.part, []byte("\n"))
		if !found {
			break
		}
		s.line(string(line))
		s.part = rest
	}
	if len(s.part) > api.MaxMessageBytes {
		s.part = nil // no line of ours is that long
	}
	return len(p), nil
}

// end is what was said last.
func (s *lineWriter) end() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(bytes.TrimSpace(s.kept))
}
