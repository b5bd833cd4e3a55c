package asuser

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"fulmen/daemon/internal/rank/prepare/account"
	"fulmen/daemon/internal/rank/prepare/look"
	"fulmen/native"
)

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
				err = fmt.Errorf("fulmend look: %s: %s", p.ProcessState, strings.TrimSpace(p.complaints.String()))
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
