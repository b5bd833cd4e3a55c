package home

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

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
	return Explain(replace(target, data, perm), "write", path)
}

func replace(path string, data []byte, perm os.FileMode) error {
	if err := atomicfile.WriteSynced(path, data, perm); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(path))
}

// Rename gives a file its name for good: it lasts through a power cut. The new
// name is replaced if it exists.
func Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(to))
}

// SyncFolder makes the names in a folder last through a power cut.
func SyncFolder(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// RemoveParts removes what a process that was killed in WriteFile left in a
// folder. Only who holds the folder's lock may call it.
func RemoveParts(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return Explain(err, "read the folder", folder)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), atomicfile.Prefix) && e.Type().IsRegular() {
			err = errors.Join(err, os.Remove(filepath.Join(folder, e.Name())))
		}
	}
	return Explain(err, "clean", folder)
}
