package home

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"fulmen/native/atomicfile"
)

// WriteFile puts data under path so that a reader, and whoever comes after a
// crash or a power cut, finds the old file or the new one and never a part: it
// writes beside it, syncs, renames, and syncs the folder. A symbolic link is
// followed, and what it points to is replaced. The mode is perm, whatever the
// umask says.
func WriteFile(path string, data []byte, perm os.FileMode) error {
	target := path
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		target = resolved
	}
	err := atomicfile.WriteSynced(target, data, perm)
	if err == nil {
		err = SyncFolder(filepath.Dir(target))
	}
	return Explain(err, "write", path)
}

// Remove removes a file, if it is there.
func Remove(path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return Explain(err, "remove", path)
}

// Rename gives a file its name for good: it lasts through a power cut. The new
// name is replaced if it exists.
func Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(to))
}

// SetAside renames a file, to a name that begins with to and that nothing has yet.
func SetAside(path, to string) (string, error) {
	free := to
	for n := 2; ; n++ {
		_, err := os.Lstat(free)
		if errors.Is(err, fs.ErrNotExist) {
			return free, Explain(Rename(path, free), "set aside", path)
		}
		if err != nil {
			return "", Explain(err, "examine", free)
		}
		free = to + "-" + strconv.Itoa(n)
	}
}

// SyncFolder makes the names in a folder last through a power cut.
func SyncFolder(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
