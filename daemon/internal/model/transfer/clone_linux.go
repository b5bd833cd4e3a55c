package transfer

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// clone makes a file that shares the other's blocks until one of the two is written: on
// Btrfs, XFS and others that have that (FICLONE), and fails elsewhere.
func clone(cache *os.Root, from, to string) error {
	source, err := cache.OpenFile(from, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer source.Close()
	// Whatever waits for this name finds nothing whole in it before it is.
	target, err := cache.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	err = unix.IoctlFileClone(int(target.Fd()), int(source.Fd()))
	if err == nil {
		err = target.Sync()
	}
	return errors.Join(err, target.Close())
}
