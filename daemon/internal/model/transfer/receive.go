package transfer

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/files/wire"
	"fulmen/native"
)

// Receive is the whole of `fulmend models-receive`: it reads its own daemon's task, then
// copies what a sender has over the two streams. reports takes wire.Report lines for that
// daemon; the last one is how it ended.
func Receive(in io.Reader, out, reports io.Writer) error {
	clock, err := native.SystemClock()
	if err != nil {
		return err
	}
	return newReceiver(in, out, reports, clock).run()
}

func newReceiver(in io.Reader, out, reports io.Writer, clock native.Clock) *receiver {
	return &receiver{
		conn: wire.NewConn(in, out), reporter: wire.NewReporter(reports, clock), clock: clock,
		freeBytes: native.FreeBytes, foldCase: runtime.GOOS == "darwin",
	}
}

// receiver is one copy.
type receiver struct {
	conn      *wire.Conn
	reporter  *wire.Reporter
	freeBytes func(path string) (int64, error)
	foldCase  bool
	clock     native.Clock

	store
	task     ReceiveTask
	cache    *os.Root
	others   map[string]string // what reuse knows
	progress api.ModelProgress
}

// run receives, and reports how it ended.
func (r *receiver) run() error {
	err := r.receive()
	if err == nil {
		// The copy is whole, whether or not the sender learns it.
		_ = r.conn.Send(wire.Thanks, nil)
		_ = r.conn.Flush()
		return r.reporter.Model(r.progress, true)
	}
	reason := r.failure(err)
	// Its own daemon first: the sender may be out of reach.
	err = errors.Join(err, r.reporter.Failed(reason))
	go discard(r.conn)
	r.conn.Refuse(reason)
	return err
}

func (r *receiver) receive() (err error) {
	if r.task, err = wire.Expect[ReceiveTask](r.conn, wire.Task); err != nil {
		return err
	}
	if r.cache, err = openCache(r.task.Places.HubFolder()); err != nil {
		return err
	}
	defer r.cache.Close()
	if err := r.reporter.Ready(); err != nil {
		return err
	}
	if r.list, err = readListing(r.conn, r.foldCase); err != nil {
		return err
	}
	if !r.list.isOf(r.task.Model) {
		return fmt.Errorf("%w: another model, %s", wire.ErrProtocol, r.list.Repository)
	}
	r.progress.Revision = r.list.Revision
	unlock, err := r.openRepository()
	if err != nil {
		return err
	}
	defer unlock()
	defer r.repo.Close()
	items, err := r.plan()
	if err != nil {
		return err
	}
	if len(items) > 0 {
		end, err := r.announce(items)
		if err != nil {
			return err
		}
		defer end()
	}
	for len(items) > 0 { // twice at most: a file that is wrong again is an error
		if items, err = r.fetch(items); err != nil {
			return err
		}
	}
	return r.publish()
}

// keptRemedy is what to do when a copy was cut.
const keptRemedy = "Copy it again: what has arrived is kept."

// failure is an error in words for people.
func (r *receiver) failure(err error) *api.Error {
	name := cmp.Or(r.task.Model.Model, "The model")
	cut := func(format string, args ...any) *api.Error {
		return api.Errorf(api.ReasonModelNotCopied, name, format, args...).WithRemedy(keptRemedy)
	}
	if known, ok := errors.AsType[*api.Error](err); ok {
		return known
	}
	if same, ok := errors.AsType[*wire.SameNameError](err); ok {
		return api.Errorf(api.ReasonModelNotCopied, name, "%s cannot be copied to this disk: %v.", name, same)
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		lacks := max(0, r.progress.TotalBytes-r.progress.DoneBytes)
		return noRoom(name, lacks, r.task.Places.HubFolder())
	case errors.Is(err, os.ErrPermission), errors.Is(err, syscall.EROFS):
		at := r.task.Places.HubFolder()
		return api.Errorf(api.ReasonPermissionDenied, at, "The account may not write to %s.", at).
			WithRemedy("Give the account the right to write there, or set HF_HUB_CACHE to another folder.")
	case errors.Is(err, wire.ErrProtocol):
		return unexpected(name)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.ErrClosedPipe), errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNRESET):
		return cut("The connection ended before %s had been copied.", name)
	}
	return cut("%s could not be written%s.", name, native.ErrnoSuffix(err))
}

// unexpected is the error of an end that does not keep to the protocol.
func unexpected(model string) *api.Error {
	return api.Errorf(api.ReasonModelNotCopied, model, "The other Mac sent something unexpected while %s was copied.", model).
		WithRemedy("Install the same version of Fulmen on both.")
}

// noRoom is the error of a disk with too little room.
func noRoom(model string, lacks int64, at string) *api.Error {
	return api.Errorf(api.ReasonDiskFull, at, "There is no room for %s: %.1f GB more are needed in %s.", model, float64(lacks)/1e9, at).
		WithRemedy("Free some space, then copy it again: what has arrived is kept.")
}
