package unpack

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"

	"golang.org/x/sys/unix"

	"fulmen/daemon/internal/rank/files/wire"
)

// clean removes the copies that a task names: each folder of a folder of a node
// that holds the state of a copy.
func clean(data []byte) error {
	task, err := wire.Decode[wire.CleanTask](data)
	if err != nil {
		return err
	}
	home, err := os.OpenRoot(task.Home)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer home.Close()
	root, err := home.OpenRoot(task.Area)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	copies, err := fs.Glob(root.FS(), "*/*/"+stateDir)
	if err != nil {
		return err
	}
	var problems []error
	for _, state := range copies {
		at := path.Dir(state)
		if slices.Contains(task.Keep, at) {
			continue
		}
		if err := removeOld(root, at, task.Before); err != nil {
			problems = append(problems, err)
			continue
		}
		_ = root.Remove(path.Dir(at)) // the node's folder, where this was its last
	}
	return errors.Join(problems...)
}

// removeOld removes a copy that was asked for last before a time and that nobody
// asks for now.
func removeOld(root *os.Root, at string, before int64) error {
	f, err := root.OpenFile(path.Join(at, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.ModTime().UnixNano() >= before {
		return err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil
	}
	return root.RemoveAll(at)
}
