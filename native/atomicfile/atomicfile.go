// Package atomicfile replaces files in one step: whoever reads one, and whoever
// comes after a process that was killed, finds the old text or the new one.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Prefix begins the name of a file that is not complete: what a process that was
// killed has left.
const Prefix = ".fulmen-part-"

// Write replaces a file, or makes it. The mode is that given, whatever the umask
// says. It is not synced: a power cut may leave the file empty.
func Write(path string, text []byte, mode fs.FileMode) error {
	return through(path, text, mode, false, os.Rename)
}

// WriteSynced is Write of a text that is on the disk before it gets its name. The
// name itself lasts through a power cut once the folder is synced.
func WriteSynced(path string, text []byte, mode fs.FileMode) error {
	return through(path, text, mode, true, os.Rename)
}

// Create is Write of a file that is not there yet. A file, or a link, of that name
// is [fs.ErrExist], and stays as it is.
func Create(path string, text []byte, mode fs.FileMode) error {
	return through(path, text, mode, false, func(part, path string) error {
		// A link, unlike a rename, takes nobody else's place.
		return errors.Join(os.Link(part, path), os.Remove(part))
	})
}

// through writes a file beside that of the path, which then takes its place.
func through(path string, text []byte, mode fs.FileMode, isSynced bool, place func(part, path string) error) error {
	part, err := os.CreateTemp(filepath.Dir(path), Prefix+"*")
	if err != nil {
		return err
	}
	_, err = part.Write(text)
	err = errors.Join(err, part.Chmod(mode))
	if isSynced {
		// F_FULLFSYNC on macOS, where fsync leaves data in the drive's cache.
		err = errors.Join(err, part.Sync())
	}
	if err = errors.Join(err, part.Close()); err == nil {
		err = place(part.Name(), path)
	}
	if err != nil {
		if gone := os.Remove(part.Name()); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}
