package menubar

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/BurntSushi/toml"

	"fulmen/app"
)

// PreferencesFile is the name of the file of the app's settings.
const PreferencesFile = "app.toml"

// stored are the preferences as they are on disk. Keys that this version does
// not know are lost when it writes.
type stored struct {
	Title         app.TitleChoice `toml:"title"`
	Notifications bool            `toml:"notifications"`
}

// load reads the preferences; what is missing or unreadable is as it is at first.
func load(path string) stored {
	p := stored{Title: app.TitleNothing, Notifications: true}
	raw, err := os.ReadFile(path)
	if err != nil {
		return p
	}
	read := p
	if toml.Unmarshal(raw, &read) != nil {
		return p
	}
	return read
}

// save writes the preferences whole or not at all.
func (p stored) save(path string) error {
	if path == "" {
		return errors.New("there is no home folder to keep the settings in")
	}
	raw, err := toml.Marshal(p)
	if err != nil {
		return err
	}
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(folder, ".app-*.toml")
	if err != nil {
		return err
	}
	_, err = file.Write(raw)
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		if gone := os.Remove(file.Name()); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}
