package home

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"

	"fulmen/daemon/api"
)

// Explain makes an error of the file system fit for a person: a full disk, a
// folder that cannot be written, too many open files. What was to be done is
// put as in "write", the file or folder is named. The cause stays in the chain,
// for the log. Errors that already are for a person, and nil, pass unchanged.
func Explain(err error, doing, path string) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*api.Error](err); ok {
		return err
	}
	folder := filepath.Dir(path)
	var e *api.Error
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		e = api.Errorf(api.ReasonDiskFull, path, "Cannot %s %s: the disk is full.", doing, path).WithRemedy("Make room on the volume of " + folder + ".")
	case errors.Is(err, syscall.EROFS):
		e = api.Errorf(api.ReasonStateReadOnly, path, "Cannot %s %s: its volume is read-only.", doing, path).WithRemedy("Mount the volume of " + folder + " for writing.")
	case errors.Is(err, fs.ErrPermission):
		e = api.Errorf(api.ReasonStateReadOnly, path, "Cannot %s %s: permission denied.", doing, path).
			WithRemedy("Give the account that Fulmen runs as the right to read and write " + folder + ".")
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		e = api.Errorf(api.ReasonTooManyFiles, path, "Cannot %s %s: too many files are open.", doing, path)
	default:
		e = api.Errorf(api.ReasonInternal, path, "Cannot %s %s: %v.", doing, path, root(err))
	}
	return e.From(err)
}

// root is the innermost error, without the operation and path that the message
// has already.
func root(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
