package asuser

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
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
}

// Ask has a process of the account answer a request, within the request's
// deadline. What the process writes to standard error as it works goes to log,
// where there is one; writing to it must not block for long.
func (r Runner) Ask(ctx context.Context, a account.Account, request look.Request, log io.Writer) (look.Answer, error) {
	request.Account, request.Home, request.Shell = a.Name, a.Home, a.Shell
	if err := request.Check(); err != nil {
		return look.Answer{}, err
	}
	line, err := json.Marshal(request)
	if err != nil {
		return look.Answer{}, err
	}
	if len(line) >= look.MaxRequestBytes {
		return look.Answer{}, api.Errorf(api.ReasonBadValue, "program", "the program's arguments and environment are too large to look at")
	}
	ctx, cancel := native.WithTimeout(ctx, r.Clock, api.Seconds(request.DeadlineS), "a look at this Mac as "+a.Name)
	defer cancel()
	if ctx.Err() != nil {
		return look.Answer{}, context.Cause(ctx)
	}
	p, err := r.start(a, log)
	if err != nil {
		return look.Answer{}, err
	}
	answer, err := p.ask(ctx, r.Clock, append(line, '\n'), request.Op == look.OpPrepare)
	isGone := p.end(r.Clock)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case isGone && errors.Is(err, io.ErrUnexpectedEOF) && !p.ProcessState.Success():
		err = fmt.Errorf("fulmen-shim look: %s: %s", p.ProcessState, strings.TrimSpace(p.complaints.String()))
	}
	return answer, err
}

// process is a started process.
type process struct {
	*exec.Cmd
	in         io.WriteCloser
	lines      *bufio.Scanner // of its standard output
	complaints look.Head
}

func (r Runner) start(a account.Account, log io.Writer) (*process, error) {
	credential, err := a.Credential(r.OwnUID)
	if err != nil {
		return nil, err
	}
	if r.Check != nil {
		if err := r.Check(r.Shim); err != nil {
			return nil, err
		}
	}
	p := &process{complaints: look.Head{Limit: maxComplaints, Also: log}, Cmd: &exec.Cmd{
		Path: r.Shim, Args: []string{r.Shim, "look"}, Dir: "/", Env: []string{"PATH=/usr/bin:/bin"},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Credential: credential}, WaitDelay: afterKill,
	}}
	p.Stderr = &p.complaints
	if p.in, err = p.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.lines = look.Lines(out, look.MaxAnswerBytes)
	if err := p.Start(); err != nil {
		if errors.Is(err, syscall.EACCES) && credential != nil {
			return nil, api.Errorf(api.ReasonSpawnFailed, a.Name, "%s cannot execute %s: every account must be able to", a.Name, r.Shim)
		}
		return nil, fmt.Errorf("start %s as %s: %w", r.Shim, a.Name, err)
	}
	return p, nil
}

// ask writes a request and takes the answer.
func (p *process) ask(ctx context.Context, clock native.Clock, line []byte, gently bool) (look.Answer, error) {
	var answer look.Answer
	var err error
	received := make(chan struct{})
	go func() {
		defer close(received)
		if p.lines.Scan() {
			answer, err = look.ParseAnswer(p.lines.Bytes()) // a part of one is none
		} else {
			err = cmp.Or(p.lines.Err(), io.ErrUnexpectedEOF)
		}
	}()
	go func() { _, _ = p.in.Write(line) }() // it ends when the process does, at the latest
	select {
	case <-received:
		return answer, err
	case <-ctx.Done():
	}
	if gently {
		// The end of its input tells the process to end its command politely.
		_ = p.in.Close()
		native.Wait(context.Background(), clock, afterHint, received)
	}
	_ = syscall.Kill(-p.Process.Pid, syscall.SIGKILL) // which ends the reading
	<-received
	return look.Answer{}, context.Cause(ctx)
}

// end ends the process, and reports whether it is gone. Not reaped yet, its group's number
// is certainly its own. What it started and left running is killed with it; an answer is
// complete by now.
func (p *process) end(clock native.Clock) (isGone bool) {
	_ = p.in.Close()
	_ = syscall.Kill(-p.Process.Pid, syscall.SIGKILL)
	reaped := make(chan struct{})
	go func() {
		defer close(reaped)
		_ = p.Wait() // its last words are in the pipe, for as long as WaitDelay
	}()
	native.Wait(context.Background(), clock, 2*afterKill, reaped)
	select {
	case <-reaped:
		return true
	default:
		return false
	}
}
