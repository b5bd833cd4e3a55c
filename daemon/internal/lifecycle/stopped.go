package lifecycle

import (
	"errors"
	"io/fs"
	"os"

	"fulmen/daemon/internal/home"
)

// Stopped is the mark that a person has stopped the daemon: a file at this path. It
// lies in the runtime folder, which a restart of the machine empties.
type Stopped string

// Set makes the mark.
func (s Stopped) Set() error { return home.WriteFile(string(s), nil, 0o600) }

// Clear takes the mark away, if it is there.
func (s Stopped) Clear() error {
	err := os.Remove(string(s))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return home.Explain(err, "remove", string(s))
}

// IsSet reports whether it is there. What cannot be looked at is not.
func (s Stopped) IsSet() bool {
	_, err := os.Lstat(string(s))
	return err == nil
}
