package unpack

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/files/wire"
	"fulmen/native"
)

const (
	stateDir   = ".state"
	stagingDir = stateDir + "/staging"
	lockFile   = stateDir + "/lock"
	indexFile  = stateDir + "/index.json"
)

// Run receives a folder over the two streams, the first frame of which is its own
// daemon's wire.UnpackTask. Reports takes wire.Report lines for that daemon, the
// last of which says how it ended. Only the first of those, Ready, comes before
// the sender is needed: it waits for another copy of the same folder to be done.
func Run(r io.Reader, w, reports io.Writer, clock native.Clock) error {
	conn := wire.NewConn(r, w)
	reporter := wire.NewReporter(reports, clock)
	err := receive(conn, reporter, clock)
	if err == nil {
		return nil
	}
	known, ok := errors.AsType[*api.Error](err)
	if !ok {
		known = failure(err)
	}
	// Its own daemon first: the sender may be out of reach.
	err = errors.Join(err, reporter.Failed(known))
	conn.Refuse(known)
	return err
}

// failure words what went wrong with the disk or the connection.
func failure(err error) *api.Error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return api.NewError(api.ReasonDiskFull, "")
	case errors.Is(err, os.ErrPermission):
		return api.Errorf(api.ReasonPermissionDenied, "", "The account may not write the copy of the folder.")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.EPIPE):
		return api.Errorf(api.ReasonSyncFailed, "", "The connection ended before the folder had been copied.")
	}
	if same, ok := errors.AsType[*wire.SameNameError](err); ok {
		return api.Errorf(api.ReasonSyncFailed, same.Path, "The folder cannot be copied: %v.", same).WithRemedy("Rename one of the two.")
	}
	return api.Errorf(api.ReasonSyncFailed, "", "The folder could not be copied%s.", native.ErrnoSuffix(err))
}

func receive(conn *wire.Conn, reporter *wire.Reporter, clock native.Clock) error {
	kind, data, err := conn.Read()
	switch {
	case err != nil:
		return err
	case kind == wire.Clean:
		if err := clean(data); err != nil {
			return err
		}
		return reporter.Done(nil)
	case kind != wire.Task:
		return wire.Unexpected(kind, data)
	}
	task, err := wire.Decode[wire.UnpackTask](data)
	if err != nil {
		return err
	}
	area, err := openArea(task)
	if err != nil {
		return err
	}
	defer area.Close()
	unlock, err := lock(area, clock)
	if err != nil {
		return err
	}
	defer unlock()
	for _, dir := range []string{task.Name, stagingDir} { // another copy makes and removes them too
		if err := area.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if err := reporter.Ready(); err != nil {
		return err
	}
	c := copying{conn: conn, reporter: reporter, area: area, name: task.Name}
	if err := c.run(); err != nil {
		return err
	}
	// The copy is whole; whether the sender hears of it changes nothing.
	_ = conn.Send(wire.Thanks, nil)
	_ = conn.Flush()
	return reporter.Done(c.listing.LeftOut)
}

// openArea makes the area where it is not there yet. Nobody but the account can
// look into it.
func openArea(task wire.UnpackTask) (*os.Root, error) {
	home, err := os.OpenRoot(task.Home)
	if err != nil {
		return nil, fmt.Errorf("the account's home folder: %w", err)
	}
	defer home.Close()
	if err := home.MkdirAll(task.Area, 0o700); err != nil {
		return nil, err
	}
	area, err := home.OpenRoot(task.Area)
	if err != nil {
		return nil, err
	}
	if err := area.MkdirAll(stateDir, 0o700); err != nil {
		return nil, errors.Join(err, area.Close())
	}
	return area, nil
}

// lock waits until nobody else copies into the area. The time of the lock's file
// is when the copy was last asked for.
func lock(area *os.Root, clock native.Clock) (unlock func(), err error) {
	f, err := area.OpenFile(lockFile, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err == nil {
		err = area.Chtimes(lockFile, clock.Now(), clock.Now())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { f.Close() }, nil
}
