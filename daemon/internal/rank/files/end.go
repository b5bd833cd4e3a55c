package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/files/wire"
	"fulmen/daemon/internal/rank/prepare/account"
	"fulmen/daemon/internal/rank/prepare/look"
	"fulmen/native"
)

// end is a process that reads or writes a folder as an account.
type end struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     io.ReadCloser
	reports io.ReadCloser
	diag    look.Head
}

// start starts an end and gives it its task. It is killed with all it started
// when ctx ends.
func (f *Files) start(ctx context.Context, who account.Account, command string, kind wire.Kind, task any) (*end, error) {
	cmd, err := who.Command(ctx, f.cfg.Self, command)
	if err != nil {
		return nil, err
	}
	e := &end{cmd: cmd, diag: look.Head{Limit: maxComplaint}}
	e.cmd.Stderr = &e.diag
	if e.in, err = e.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if e.out, err = e.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	reports, toReports, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer toReports.Close()
	e.reports = reports
	e.cmd.ExtraFiles = []*os.File{toReports}
	if err := e.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", command, err), reports.Close())
	}
	conn := wire.NewConn(nil, e.in)
	if err := errors.Join(conn.Send(kind, task), conn.Flush()); err != nil {
		e.in.Close()
		return nil, errors.Join(err, e.wait())
	}
	return e, nil
}

// wait reaps the process, once nobody reads its output any more.
func (e *end) wait() error {
	err := e.cmd.Wait()
	e.reports.Close()
	return err
}

// complain logs what a process said that ended in no way of its own, as by a
// panic. Otherwise it has told what was wrong, with paths that are not for a log.
func (f *Files) complain(e *end, job api.JobID) {
	if e.cmd.ProcessState != nil && e.cmd.ProcessState.ExitCode() > 1 {
		f.cfg.Log.Error("a process that copies a folder broke", "job", job, "said", e.diag.String())
	}
}

// maxComplaint is how much is kept of what a process complains about.
const maxComplaint = 4 << 10

// watch ends a context when nothing has moved for as long as silence allows.
type watch struct {
	clock   native.Clock
	silence time.Duration
	latest  atomic.Int64 // on the boot clock
	cancel  context.CancelCauseFunc
	what    string
	timer   atomic.Pointer[native.Timer]
}

// watching starts a watch; the returned function ends it.
func (f *Files) watching(ctx context.Context, what string) (context.Context, *watch, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watch{clock: f.cfg.Clock, silence: f.cfg.Silence, cancel: cancel, what: what}
	w.moved()
	w.arm(w.silence)
	return ctx, w, func() {
		cancel(context.Canceled)
		if t := w.timer.Load(); t != nil {
			(*t).Stop()
		}
	}
}

func (w *watch) moved() { w.latest.Store(int64(w.clock.Boot())) }

func (w *watch) arm(d time.Duration) {
	t := w.clock.AfterFunc(d, w.check)
	w.timer.Store(&t)
}

func (w *watch) check() {
	rest := w.clock.Boot() - time.Duration(w.latest.Load())
	if rest >= w.silence {
		w.cancel(&native.DeadlineError{WaitingFor: w.what, After: w.silence})
		return
	}
	w.arm(w.silence - rest)
}

// chunk is how much is carried at once.
const chunk = 256 << 10

// carry copies until the source ends, and notes each move.
func (w *watch) carry(to io.Writer, from io.Reader) error {
	buffer := make([]byte, chunk)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			w.moved()
			if _, err := to.Write(buffer[:n]); err != nil {
				return err
			}
			w.moved()
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
