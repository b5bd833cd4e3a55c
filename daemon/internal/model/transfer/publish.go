package transfer

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// scratch is what is renamed over something else; no revision has such a name.
const scratch = stagingDir + "/.next"

// publish makes the snapshot, now that all of its files are there: as a whole, or what
// lacks of one that is there already.
func (r *receiver) publish() error {
	if err := r.syncFolder(blobsDir); err != nil {
		return err
	}
	info, err := r.repo.Lstat(r.snapshot(""))
	isThere := err == nil && info.IsDir()
	place := r.staged
	if isThere {
		place = r.snapshot
	}
	made := map[string]bool{}
	for _, f := range r.list.files {
		at := place(f.Path)
		if folder := path.Dir(at); !made[folder] {
			if err := r.repo.MkdirAll(folder, 0o755); err != nil {
				return err
			}
			made[folder] = true
		}
		switch {
		case f.Hash != "":
			err = r.link(at, target(f.Path, f.Hash), f.Size)
		case isThere && !r.has(at, f.Size):
			err = r.repo.Rename(r.staged(f.Path), at)
		default:
			err = nil
		}
		if err != nil {
			return err
		}
	}
	if !isThere {
		if err := r.repo.Rename(r.staged(""), r.snapshot("")); err != nil {
			return err
		}
	}
	if err := errors.Join(r.syncFolder(r.snapshot("")), r.syncFolder(snapshotsDir)); err != nil {
		return err
	}
	for _, ref := range r.list.Refs {
		if err := r.ref(ref); err != nil {
			return err
		}
	}
	// What another revision left stays for it.
	_ = r.repo.RemoveAll(r.staged(""))
	_ = r.repo.Remove(scratch)
	_ = r.repo.Remove(listAt)
	_ = r.repo.Remove(stagingDir)
	return nil
}

// link makes a link. A file that is in its place already stays.
func (r *receiver) link(at, target string, size int64) error {
	err := r.repo.Symlink(target, at)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if there, err := r.repo.Readlink(at); err == nil && there == target || r.has(at, size) {
		return nil
	}
	_ = r.repo.Remove(scratch) // of a copy that was cut
	if err := r.repo.Symlink(target, scratch); err != nil {
		return err
	}
	return r.repo.Rename(scratch, at)
}

// ref writes a branch or tag that is not here. One that is stays what it is: its account
// may have a newer revision.
func (r *receiver) ref(name string) error {
	at := path.Join("refs", name)
	_, err := r.repo.Lstat(at)
	if err == nil || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err := r.repo.MkdirAll(path.Dir(at), 0o755); err != nil {
		if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrExist) {
			return nil // another ref has the name of its folder
		}
		return err
	}
	_ = r.repo.Remove(scratch)
	f, err := r.repo.OpenFile(scratch, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(r.list.Revision)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return r.repo.Rename(scratch, at)
}
