package asuser

import (
	"bufio"
	"context"
	"encoding/json"
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
	"fulmen/daemon/internal/rank/prepare/account"
	"fulmen/daemon/internal/rank/prepare/look"
	"fulmen/native"
)

const (
	// maxComplaints is how much of what the process says on standard error is kept.
	maxComplaints = 4 << 10
	// afterKill is how long a killed process may take to be gone; only one that is
	// stuck inside the system takes longer, and it is left behind then.
	afterKill = time.Second
	// afterHint is how long a process that prepares gets to end by itself once
	// nobody wants its answer: its command's grace, and a little.
	afterHint = 3 * time.Second
)

// Runner starts processes as accounts.
type Runner struct {
	// Shim is the path of fulmen-shim, which every account can execute.
	Shim string
	// Check refuses a program that may not be started; nil = none is refused.
	Check func(program string) error
	// OwnUID is the daemon's uid.
	OwnUID uint32
	// Clock counts sleep.
	Clock native.Clock
	// Stay keeps processes for further looks; nil = each is started anew.
	Stay *Stay
}

// Ask has a process of the account answer a request, within the request's
// deadline. What the process writes to standard error as it works goes to log,
// where there is one; writing to it must not block for long.
func (r Runner) Ask(ctx context.Context, a account.Account, request look.Request, log io.Writer) (look.Answer, error) {
	request.Account, request.Home, request.Shell = a.Name, a.Home, a.Shell
	if err := request.Check(); err != nil {
		return look.Answer{}, err
	}
	request.Stay = r.Stay != nil && request.Op == look.OpFind && log == nil
	line, err := json.Marshal(request)
	if err != nil {
		return look.Answer{}, err
	}
	if len(line) >= look.MaxRequestBytes {
		return look.Answer{}, api.Errorf(api.ReasonBadValue, "program", "the program's arguments and environment are too large to look at")
	}
	ctx, cancel := native.WithTimeout(ctx, r.Clock, time.Duration(request.DeadlineS*float64(time.Second)), "a look at this Mac as "+a.Name)
	defer cancel()
	if ctx.Err() != nil {
		return look.Answer{}, context.Cause(ctx)
	}
	if request.Stay {
		return r.askStaying(ctx, a, append(line, '\n'))
	}
	p, err := r.start(a)
	if err != nil {
		return look.Answer{}, err
	}
	return p.talk(ctx, r.Clock, append(line, '\n'), log, request.Op == look.OpPrepare)
}

// process is a started process and this side's ends of its pipes.
type process struct {
	*exec.Cmd
	in, out, err *os.File
}

func (r Runner) start(a account.Account) (*process, error) {
	credential, err := a.Credential(r.OwnUID)
	if err != nil {
		return nil, err
	}
	if r.Check != nil {
		if err := r.Check(r.Shim); err != nil {
			return nil, err
		}
	}
	var ours, theirs [3]*os.File
	defer func() { closeAll(theirs[:]) }()
	for i := range ours {
		read, write, err := os.Pipe()
		if err != nil {
			closeAll(ours[:])
			return nil, err
		}
		if ours[i], theirs[i] = read, write; i == 0 {
			ours[i], theirs[i] = write, read
		}
	}
	p := &process{in: ours[0], out: ours[1], err: ours[2], Cmd: &exec.Cmd{
		Path: r.Shim, Args: []string{r.Shim, "look"}, Dir: "/", Env: []string{"PATH=/usr/bin:/bin"},
		Stdin: theirs[0], Stdout: theirs[1], Stderr: theirs[2],
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Credential: credential},
	}}
	if err := p.Start(); err != nil {
		closeAll(ours[:])
		if errors.Is(err, syscall.EACCES) && credential != nil {
			return nil, api.Errorf(api.ReasonSpawnFailed, a.Name, "%s cannot execute %s: every account must be able to", a.Name, r.Shim)
		}
		return nil, fmt.Errorf("start %s as %s: %w", r.Shim, a.Name, err)
	}
	return p, nil
}

// talk writes the request, takes the answer, and leaves no process behind.
func (p *process) talk(ctx context.Context, clock native.Clock, line []byte, log io.Writer, gently bool) (look.Answer, error) {
	out, complaints := &kept{limit: look.MaxAnswerBytes + 1}, &kept{limit: maxComplaints, also: log}
	outDone, errDone := make(chan struct{}), make(chan struct{})
	go func() {
		_, _ = io.Copy(out, p.out)
		close(outDone)
	}()
	go func() {
		_, _ = io.Copy(complaints, p.err)
		close(errDone)
	}()
	go func() { _, _ = p.in.Write(line) }() // it ends when the process does, at the latest
	var failure error
	select {
	case <-outDone:
	case <-ctx.Done():
		failure = context.Cause(ctx)
		if gently {
			// The end of its input tells the process to end its command politely.
			_ = p.in.Close()
			await(clock, afterHint, outDone)
		}
	}
	gone := p.reap(clock, errDone)
	closeAll([]*os.File{p.in, p.out, p.err})
	<-outDone
	<-errDone
	if failure != nil {
		return look.Answer{}, failure
	}
	answer, err := look.ParseAnswer(out.data)
	if err != nil && gone && !p.ProcessState.Success() {
		return look.Answer{}, fmt.Errorf("fulmen-shim look: %s: %s", p.ProcessState, strings.TrimSpace(complaints.String()))
	}
	return answer, err
}

// reap ends the process and reports whether it is gone. Not reaped yet, its group's
// number is certainly its own. What it started and left running is killed with it;
// an answer is complete by now.
func (p *process) reap(clock native.Clock, said <-chan struct{}) (gone bool) {
	_ = syscall.Kill(-p.Process.Pid, syscall.SIGKILL)
	reaped := make(chan struct{})
	go func() {
		_ = p.Wait()
		close(reaped)
	}()
	gone = await(clock, afterKill, reaped)
	await(clock, afterKill, said) // the last words are in the pipe
	return gone
}

// await waits until done is closed, at most for d.
func await(clock native.Clock, d time.Duration, done <-chan struct{}) bool {
	late := make(chan struct{})
	timer := clock.AfterFunc(d, func() { close(late) })
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-late:
		return false
	}
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// kept keeps the beginning of what is written, passes everything on, and never
// refuses: who writes is not to be held up.
type kept struct {
	limit int
	data  []byte
	also  io.Writer
}

// Write takes everything.
func (k *kept) Write(p []byte) (int, error) {
	k.data = append(k.data, p[:min(len(p), k.limit-len(k.data))]...)
	if k.also != nil {
		if _, err := k.also.Write(p); err != nil {
			k.also = nil
		}
	}
	return len(p), nil
}

// String is what was kept.
func (k *kept) String() string { return string(k.data) }

// stayFor is how long a process waits for the next request: the nodes of a job are
// asked within seconds of each other, and people start jobs one after the other.
const stayFor = 2 * time.Minute

// Stay keeps a process of each account for further looks: starting one takes ten
// times as long as looking. One that has started other programs is not kept, so
// that whatever they left goes with it.
type Stay struct {
	mu    sync.Mutex
	idle  map[string]*staying
	ended bool
}

// staying is a process that answers several requests.
type staying struct {
	*process
	lines      *bufio.Reader
	complaints *kept
	complained chan struct{} // closed when it says nothing more
	timer      native.Timer  // of its end, while it is idle
}

// nameOf tells accounts apart by all that a process takes from them.
func nameOf(a account.Account) string { return fmt.Sprint(a) }

// take gives the account's process, where one waits.
func (s *Stay) take(a account.Account) *staying {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.idle[nameOf(a)]
	if p != nil {
		delete(s.idle, nameOf(a))
		p.timer.Stop()
	}
	return p
}

// keep keeps a process for the next request; false where it is not needed.
func (s *Stay) keep(a account.Account, p *staying, clock native.Clock) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || s.idle[nameOf(a)] != nil {
		return false
	}
	if s.idle == nil {
		s.idle = map[string]*staying{}
	}
	s.idle[nameOf(a)] = p
	p.timer = clock.AfterFunc(stayFor, func() {
		s.mu.Lock()
		isIdle := s.idle[nameOf(a)] == p
		if isIdle {
			delete(s.idle, nameOf(a))
		}
		s.mu.Unlock()
		if isIdle {
			p.end(clock)
		}
	})
	return true
}

// Close ends what waits; nothing is kept from then on.
func (s *Stay) Close(clock native.Clock) {
	s.mu.Lock()
	s.ended = true
	all := s.idle
	s.idle = nil
	s.mu.Unlock()
	for _, p := range all {
		p.timer.Stop()
		p.end(clock)
	}
}

// askStaying has a process answer that may have answered before.
func (r Runner) askStaying(ctx context.Context, a account.Account, line []byte) (look.Answer, error) {
	p := r.Stay.take(a)
	isUsed := p != nil
	for {
		if p == nil {
			started, err := r.start(a)
			if err != nil {
				return look.Answer{}, err
			}
			p = newStaying(started)
		}
		answer, err := p.ask(ctx, line)
		if err == nil {
			if answer.Started || !r.Stay.keep(a, p, r.Clock) {
				p.end(r.Clock)
			}
			return answer, nil
		}
		p.end(r.Clock)
		if ctx.Err() != nil {
			return look.Answer{}, context.Cause(ctx)
		}
		if !isUsed {
			if p.ProcessState != nil && !p.ProcessState.Success() && errors.Is(err, io.ErrUnexpectedEOF) {
				err = fmt.Errorf("fulmen-shim look: %s: %s", p.ProcessState, strings.TrimSpace(p.complaints.String()))
			}
			return look.Answer{}, err
		}
		p, isUsed = nil, false // it may have been killed while it waited
	}
}

func newStaying(started *process) *staying {
	p := &staying{process: started, lines: bufio.NewReader(started.out), complaints: &kept{limit: maxComplaints}, complained: make(chan struct{})}
	go func() {
		_, _ = io.Copy(p.complaints, p.err)
		close(p.complained)
	}()
	return p
}

// ask writes a request and takes the answer. After an error the process is of no
// more use.
func (p *staying) ask(ctx context.Context, line []byte) (look.Answer, error) {
	type said struct {
		line []byte
		err  error
	}
	heard := make(chan said, 1)
	go func() {
		answer, err := look.ReadLine(p.lines, look.MaxAnswerBytes)
		if err == nil && answer[len(answer)-1] != '\n' {
			err = io.ErrUnexpectedEOF
		}
		heard <- said{answer, err}
	}()
	go func() { _, _ = p.in.Write(line) }() // it ends when the process does, at the latest
	select {
	case s := <-heard:
		if errors.Is(s.err, io.EOF) {
			s.err = io.ErrUnexpectedEOF
		}
		if s.err != nil {
			return look.Answer{}, s.err
		}
		return look.ParseAnswer(s.line)
	case <-ctx.Done():
		// Its end ends the reading.
		_ = syscall.Kill(-p.Process.Pid, syscall.SIGKILL)
		<-heard
		return look.Answer{}, context.Cause(ctx)
	}
}

// end ends the process and whatever is in its group.
func (p *staying) end(clock native.Clock) {
	_ = p.in.Close()
	p.reap(clock, p.complained)
	closeAll([]*os.File{p.out, p.err})
	<-p.complained
}
