package carry

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"fulmen/native"
)

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
func (c Carrier) watching(ctx context.Context, what string) (context.Context, *watch, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watch{clock: c.Clock, silence: c.Silence, cancel: cancel, what: what}
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

// blocks is a connection that reads into its own buffers, and writes from them.
type blocks interface {
	CarryFrom(r io.Reader) error
	CarryTo(w io.Writer) error
}

// carry copies until the source ends, and notes each move.
func (w *watch) carry(to io.Writer, from io.Reader) error {
	if c, ok := to.(blocks); ok {
		return c.CarryFrom(noted{w, from, nil})
	}
	if c, ok := from.(blocks); ok {
		return c.CarryTo(noted{w, nil, to})
	}
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

// noted notes each move.
type noted struct {
	watch *watch
	from  io.Reader
	to    io.Writer
}

func (n noted) Read(p []byte) (int, error) {
	count, err := n.from.Read(p)
	n.watch.moved()
	return count, err
}

func (n noted) Write(p []byte) (int, error) {
	count, err := n.to.Write(p)
	n.watch.moved()
	return count, err
}
