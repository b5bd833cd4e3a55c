package menubar

import (
	"errors"
	"os"

	"github.com/BurntSushi/toml"

	"fulmen/app"
	"fulmen/daemon/client"
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
	return client.Save(path, raw)
}
