package files

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/files/wire"
	"fulmen/daemon/internal/rank/prepare/account"
)

// area is where copies lie in a home folder.
const area = ".fulmen/sync"

// spot is where the copy of a folder lies: below an account's home folder, in an
// area, under a name.
type spot struct{ area, name string }

// placeOf gives the place of the copy of a node's folder.
func placeOf(node api.NodeID, folder string) spot {
	folder = path.Clean(folder)
	sum := sha256.Sum256([]byte(folder))
	name := path.Base(folder)
	if !wire.ValidPath(name) || name == ".state" { // the root; what the area keeps for itself
		name = "folder"
	}
	return spot{area: path.Join(area, string(node), hex.EncodeToString(sum[:8])), name: name}
}

// in is the path of the copy in an account's home folder.
func (s spot) in(who account.Account) string {
	return filepath.Join(who.Home, filepath.FromSlash(s.area), s.name)
}

// Folder is where an account's copy of a node's folder lies, whether it is there
// or not.
func (f *Files) Folder(from api.NodeID, who account.Account, folder string) string {
	return placeOf(from, folder).in(who)
}

// Fetch brings the copy of the job's folder (path, at its submitter's node from)
// up to date and gives where it lies here. The copy is the account's. Another
// fetch of the same folder is waited for. Errors are *api.Error.
func (f *Files) Fetch(ctx context.Context, job api.JobID, epoch uint64, from api.NodeID, who account.Account, folder string) (dir string, err error) {
	dir, err = f.fetch(ctx, job, epoch, from, who, folder)
	if err == nil {
		return dir, nil
	}
	err = cmp.Or(context.Cause(ctx), err) // whatever broke by that
	if known, ok := errors.AsType[*api.Error](err); ok {
		return "", known
	}
	f.cfg.Log.Warn("a folder was not copied", "job", job, "from", from, "err", err)
	if errors.Is(err, context.DeadlineExceeded) {
		return "", api.Errorf(api.ReasonDeadline, from.Display(), "Copying the folder from %s took too long.", from.Display()).
			WithWait("files from " + from.Display())
	}
	if errors.Is(err, context.Canceled) {
		return "", api.NewError(api.ReasonCancelled, "")
	}
	return "", api.Errorf(api.ReasonSyncFailed, from.Display(), "The folder could not be copied from %s.", from.Display())
}

func (f *Files) fetch(ctx context.Context, job api.JobID, epoch uint64, from api.NodeID, who account.Account, folder string) (string, error) {
	if !filepath.IsAbs(who.Home) {
		return "", api.Errorf(api.ReasonDirectoryMissing, who.Name, "The account %s has no home folder for the copy.", who.Name)
	}
	at := placeOf(from, folder)
	if err := place(ctx, f.receivers); err != nil {
		return "", err
	}
	defer func() { <-f.receivers }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	receiver, err := f.start(ctx, who, "unpack", wire.Task, wire.UnpackTask{Home: who.Home, Area: at.area, Name: at.name})
	if err != nil {
		return "", err
	}
	r := receiving{end: receiver, reports: newReports(receiver.reports)}
	err = r.run(ctx, cancel, f, from, api.PeerConn{Carries: api.ConnFiles, Job: job, Epoch: epoch})
	receiver.in.Close()
	receiver.out.Close()
	if err != nil {
		cancel(err) // it is to end, whatever it does
	}
	waited := receiver.wait()
	if err == nil {
		err = waited
	}
	if err != nil {
		f.complain(receiver, job)
		return "", err
	}
	if len(r.leftOut) > 0 {
		f.cfg.Log.Info("the copy of a folder leaves out what tools make again", "job", job, "folders", len(r.leftOut))
	}
	return at.in(who), nil
}

// receiving is one fetch.
type receiving struct {
	*end
	reports *bufio.Scanner
	leftOut []string
}

func newReports(from io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(from)
	s.Buffer(nil, wire.MaxReportBytes)
	return s
}

// next reads a report. A process that ends without a last word gives an error. Where
// ctx has ended, that is why: what the process says then comes of it.
func (r *receiving) next(ctx context.Context) (wire.Report, error) {
	var report wire.Report
	var err error
	if r.reports.Scan() {
		if report, err = wire.Decode[wire.Report](r.reports.Bytes()); err == nil && report.State == wire.ReportFailed {
			err = report.Error
		}
	} else {
		err = errors.Join(errors.New("the receiving process ended without saying why"), r.reports.Err())
	}
	if err != nil {
		err = cmp.Or(context.Cause(ctx), err)
	}
	return report, err
}

func (r *receiving) run(outer context.Context, cancel context.CancelCauseFunc, f *Files, from api.NodeID, first api.PeerConn) error {
	if report, err := r.next(outer); err != nil || report.State != wire.ReportReady {
		return errors.Join(err, outOfTurn(report, err))
	}
	ctx, watch, stop := f.watching(outer, "files from "+from.Display())
	defer stop()
	conn, err := f.cfg.Peers.Stream(ctx, from, first)
	if err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	defer conn.Close()
	// Whatever ends this ends the process, and so the reading of its reports.
	defer context.AfterFunc(ctx, func() {
		cancel(context.Cause(ctx))
		conn.Close()
	})()
	arrived, went := make(chan struct{}), make(chan struct{})
	go func() {
		_ = watch.carry(r.in, conn)
		r.in.Close()
		close(arrived)
	}()
	go func() {
		_ = watch.carry(conn, r.out)
		close(went)
	}()
	defer func() {
		conn.Close()
		r.out.Close()
		<-arrived
		<-went
	}()
	for {
		report, err := r.next(ctx)
		switch {
		case err != nil:
			return err
		case report.State == wire.ReportDone:
			r.leftOut = report.LeftOut
			select { // its thanks are on their way
			case <-went:
			case <-ctx.Done():
			}
			return nil
		case report.State != wire.ReportProgress:
			return outOfTurn(report, nil)
		}
		watch.moved()
	}
}

func outOfTurn(report wire.Report, err error) error {
	if err != nil {
		return nil
	}
	return fmt.Errorf("the receiving process said %q out of turn", report.State)
}
