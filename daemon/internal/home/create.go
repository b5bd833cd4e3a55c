package home

import (
	"os"
	"path/filepath"

	"fulmen/daemon/api"
)

const (
	// ownMode is for folders that are nobody else's business.
	ownMode = 0o700
	// sharedMode is for folders through which others reach a socket or read the
	// configuration.
	sharedMode = 0o755
)

// Create makes the folders that are missing. State and logs are for the owner
// alone; in system mode everybody may enter the others. Folders that are there
// keep their mode: Check judges them.
func (f Folders) Create() error {
	open := os.FileMode(ownMode)
	if f.Mode == api.ModeSystem {
		open = sharedMode
	}
	// On macOS configuration and state share a folder, which the stricter mode gets.
	for _, dir := range []struct {
		path string
		mode os.FileMode
	}{{f.State, ownMode}, {f.Config, open}, {f.Logs, ownMode}, {f.Runtime, open}} {
		if err := makeFolder(dir.path, dir.mode, open); err != nil {
			return err
		}
	}
	return nil
}

// makeFolder makes path with mode and what leads to it with parentMode, both
// whatever the umask says. Folders that are there are left alone.
func makeFolder(path string, mode, parentMode os.FileMode) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	if parent := filepath.Dir(path); parent != path {
		if err := makeFolder(parent, parentMode, parentMode); err != nil {
			return err
		}
	}
	if err := os.Mkdir(path, mode); err != nil {
		if info, stat := os.Stat(path); stat == nil && info.IsDir() {
			return nil
		}
		return Explain(err, "make the folder", path)
	}
	if err := os.Chmod(path, mode); err != nil {
		return Explain(err, "set the mode of", path)
	}
	return nil
}
