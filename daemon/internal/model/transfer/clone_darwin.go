package transfer

import (
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// clone makes a file that shares the other's blocks until one of the two is written: on
// APFS (clonefile), and fails elsewhere. Links are not followed.
func clone(cache *os.Root, from, to string) error {
	source, err := cache.Open(path.Dir(from))
	if err != nil {
		return err
	}
	defer source.Close()
	// Both are named by their folders, which are below the cache.
	target, err := cache.Open(path.Dir(to))
	if err != nil {
		return err
	}
	defer target.Close()
	return unix.Clonefileat(
		int(source.Fd()), path.Base(from),
		int(target.Fd()), path.Base(to),
		unix.CLONE_NOFOLLOW,
	)
}
