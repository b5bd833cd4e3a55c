package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/native/darwin"
	"fulmen/native/recording"
)

// A recording is saved for its owner alone, what was replaced in it is shown first, and
// nothing that is there is written over.
func TestRecordingIsSaved(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "mac.json")
	text, err := os.ReadFile("../../native/darwin/testdata/recording.json")
	is.NoErr(err)
	r, err := darwin.ParseRecording(text)
	is.NoErr(err)
	r.Errors = map[string]string{"devices": "librdma\x1b[2J did not answer"}
	replaced := []darwin.Replaced{{Kind: "name", Was: "Ada's\x1b[2J Mac", Is: "name 1"}}
	var out bytes.Buffer
	is.NoErr(saveRecording(path, r, replaced, &out))
	is.Equal(out.String(), `name "Ada's\x1b[2J Mac" is saved as "name 1"`+"\n"+`not read: devices: "librdma\x1b[2J did not answer"`+"\n\nSaved to "+path+", with 1 values replaced. It was not sent anywhere; read it before you pass it on.\n"+
		"Recordings of the Macs of one desk make a scenario: fulmen debug parse --scenario NAME FILE... > NAME.toml\n")
	info, err := os.Stat(path)
	is.NoErr(err)
	is.Equal(info.Mode().Perm(), os.FileMode(0o600))
	saved, err := os.ReadFile(path)
	is.NoErr(err)
	made, _, err := recording.Rebuild("mac", []recording.File{{Name: path, Data: saved}}) // one whole Mac is enough
	is.NoErr(err)
	is.Equal(made.Title, "Recorded from a Mac")
	is.True(made.Macs[0].RDMALimits != nil)

	err = saveRecording(path, r, replaced, &out)
	is.True(err != nil && strings.Contains(err.Error(), "name another file"))
}
