package files

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/files/carry"
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
	if _, err := os.Stat(who.Home); !filepath.IsAbs(who.Home) || errors.Is(err, fs.ErrNotExist) {
		return "", api.Errorf(api.ReasonAccountForbidden, who.Name, "The account %s has no home folder for the copy.", who.Name)
	}
	at := placeOf(from, folder)
	if err := carry.Turn(ctx, f.receivers); err != nil {
		return "", err
	}
	defer func() { <-f.receivers }()
	report, err := f.carrier.Fetch(ctx, who, "unpack", wire.UnpackTask{Home: who.Home, Area: at.area, Name: at.name}, "files from "+from.Display(), func(ctx context.Context) (io.ReadWriteCloser, error) {
		return f.cfg.Peers.Stream(ctx, from, api.PeerConn{Carries: api.ConnFiles, Job: job, Epoch: epoch})
	}, func(wire.Report) {})
	if err != nil {
		return "", err
	}
	if len(report.LeftOut) > 0 {
		f.cfg.Log.Info("the copy of a folder leaves out what tools make again", "job", job, "folders", len(report.LeftOut))
	}
	return at.in(who), nil
}
