package testkit

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// WatchInputs looks at every file of the repository at root, for a test that has the go
// command, a compiler or the like read them: its result ends when one changes.
func WatchInputs(root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && (name == "build" || name == "node_modules" || name == "__pycache__" || (strings.HasPrefix(name, ".git") && name != ".github")) {
			return filepath.SkipDir
		}
		_, err = os.Stat(path)
		return err
	})
}

// WriteInput gives a file, in a folder that is made where there is none, its text and
// mode. A file that has the text stays as it was.
func WriteInput(path string, text []byte, mode fs.FileMode) error {
	if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, text) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, mode)
}

// Alone makes a folder and keeps it for this process, until it closes the file or
// ends; another waits here.
func Alone(folder string) (*os.File, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(folder, ".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	return lock, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
}

// KeepInputs removes every file below a folder that is not among the paths to keep, and
// every folder that is empty then.
func KeepInputs(folder string, paths map[string]bool) error {
	var folders []string
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			folders = append(folders, path)
			return nil
		case paths[path]:
			return nil
		}
		return os.Remove(path)
	})
	if err != nil {
		return err
	}
	for i := len(folders) - 1; i > 0; i-- {
		_ = os.Remove(folders[i]) // which it refuses where there is something in it
	}
	return nil
}
