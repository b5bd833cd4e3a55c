package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

const (
	thisMac  = "2D9C1F7E-0000-4000-8000-000000000001"
	otherMac = "2D9C1F7E-0000-4000-8000-000000000002"
)

func testTime() time.Time { return time.Date(2026, 11, 21, 11, 0, 0, 123_000_000, time.UTC) }

func TestOpenIdentityMakesOneKeyAndKeepsIt(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	first, err := OpenIdentity(dir, thisMac, testTime())
	is.NoErr(err)
	is.Equal(first.Moved, nil)
	is.Equal(first.Identity.Node, api.NodeIDFromKey(first.Identity.Public()))
	info, err := os.Stat(filepath.Join(dir, api.KeyFile))
	is.NoErr(err)
	is.Equal(info.Mode(), fs.FileMode(0o600))
	again, err := OpenIdentity(dir, thisMac, testTime())
	is.NoErr(err)
	is.True(again.Identity.Key().Equal(first.Identity.Key()))
	other, err := OpenIdentity(t.TempDir(), thisMac, testTime())
	is.NoErr(err)
	is.True(other.Identity.Node != first.Identity.Node)
	entries, err := os.ReadDir(dir)
	is.NoErr(err)
	is.Equal(len(entries), 1)
}

func TestKeyOfAnotherMachineIsSetAside(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	path := filepath.Join(dir, api.KeyFile)
	made, err := OpenIdentity(dir, otherMac, testTime())
	is.NoErr(err)
	original, err := os.ReadFile(path)
	is.NoErr(err)
	var files []string
	for range 3 { // the same disk comes again and again
		moved, err := OpenIdentity(dir, thisMac, testTime())
		is.NoErr(err)
		is.Equal(moved.Moved.Node, made.Identity.Node)
		is.True(moved.Identity.Node != made.Identity.Node)
		kept, err := os.ReadFile(moved.Moved.File)
		is.NoErr(err)
		is.Equal(string(kept), string(original))
		files = append(files, filepath.Base(moved.Moved.File))
		stays, err := OpenIdentity(dir, thisMac, testTime())
		is.NoErr(err)
		is.Equal(stays.Identity.Node, moved.Identity.Node)
		is.Equal(stays.Moved, nil)
		is.NoErr(os.WriteFile(path, original, 0o600))
	}
	name := api.KeyFile + "." + made.Identity.Node.String()
	is.Equal(files, []string{name, name + "-2", name + "-3"})
}

func TestHardwareThatCannotBeReadDecidesNothing(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	made, err := OpenIdentity(dir, "", testTime())
	is.NoErr(err)
	for _, hardware := range []string{"", thisMac, "", thisMac} { // tied at the first chance
		got, err := OpenIdentity(dir, hardware, testTime())
		is.NoErr(err)
		is.Equal(got.Identity.Node, made.Identity.Node)
	}
	moved, err := OpenIdentity(dir, otherMac, testTime())
	is.NoErr(err)
	is.True(moved.Moved != nil)
}

// Root reads the firmware's identifier on Linux, others cannot: that the same
// folder is opened by both proves no other machine.
func TestIdentifiersOfDifferentSourcesAreNotCompared(t *testing.T) {
	is := is.New(t)
	folder := t.TempDir()
	first, err := OpenIdentity(folder, "dmi:4c4c4544", time.Unix(0, 0))
	is.NoErr(err)
	second, err := OpenIdentity(folder, "machine-id:0123", time.Unix(0, 0))
	is.NoErr(err)
	is.Equal(second.Identity.Node, first.Identity.Node)
	is.True(second.Moved == nil)
	other, err := OpenIdentity(folder, "dmi:99999999", time.Unix(0, 0))
	is.NoErr(err)
	is.True(other.Moved != nil) // the same source, another machine
}

func TestUnusableKeyFileIsAnErrorAndStays(t *testing.T) {
	dir := t.TempDir()
	if _, err := OpenIdentity(dir, thisMac, testTime()); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, api.KeyFile))
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	_, seed, _ := strings.Cut(text, `"seed": "`)
	seed = seed[:16]
	for _, tt := range []struct {
		name, text string
		mode       fs.FileMode
		want       api.Reason
	}{
		{"empty", "", 0o600, api.ReasonStateCorrupt},
		{"cut off", text[:len(text)/2], 0o600, api.ReasonStateCorrupt},
		{"a bit flipped in the seed", strings.Replace(text, `"seed": "`, `"seed": "B`, 1), 0o600, api.ReasonStateCorrupt},
		{"something added", text + "{}", 0o600, api.ReasonStateCorrupt},
		{"an unknown field", strings.Replace(text, "{", `{"x": 1,`, 1), 0o600, api.ReasonStateCorrupt},
		{"another format", strings.Replace(text, keyFormat, "fulmen-identity-2", 1), 0o600, api.ReasonStateCorrupt},
		{"another node's id", strings.Replace(text, `"node": "`, `"node": "0`, 1), 0o600, api.ReasonStateCorrupt},
		{"endless", strings.Repeat(" ", maxKeyFile) + text, 0o600, api.ReasonStateCorrupt},
		{"readable by the group", text, 0o640, api.ReasonInsecurePermissions},
		{"readable by everybody", text, 0o604, api.ReasonInsecurePermissions},
	} {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			path := filepath.Join(t.TempDir(), api.KeyFile)
			is.NoErr(os.WriteFile(path, []byte(tt.text), tt.mode))
			is.NoErr(os.Chmod(path, tt.mode))
			_, err := OpenIdentity(filepath.Dir(path), otherMac, testTime()) // on other hardware neither
			is.True(errors.Is(err, tt.want))
			is.True(strings.Contains(err.Error(), path)) // names the file
			next := map[api.Reason]string{api.ReasonStateCorrupt: "from a backup", api.ReasonInsecurePermissions: "chmod 600 "}[tt.want]
			is.True(strings.Contains(api.AsError(err).Data.Remedy, next))
			is.True(!strings.Contains(fmt.Sprint(err), seed)) // and not the secret
			kept, err := os.ReadFile(path)
			is.NoErr(err)
			is.Equal(string(kept), tt.text)
		})
	}
}

// ofAnother is a file of another account.
type ofAnother struct{ fs.FileInfo }

func (ofAnother) Sys() any { return &syscall.Stat_t{Uid: uint32(os.Geteuid()) + 1} }

func TestKeyFileOfAnotherAccount(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(t.TempDir(), api.KeyFile)
	is.NoErr(os.WriteFile(path, nil, 0o600))
	info, err := os.Stat(path)
	is.NoErr(err)
	is.NoErr(checkPrivate(path, info))
	err = checkPrivate(path, ofAnother{info})
	is.True(errors.Is(err, api.ReasonInsecurePermissions))
	is.True(strings.Contains(err.Error(), fmt.Sprintf("chown %d ", os.Geteuid())))
}

func TestKeyFileThatIsNoFile(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(path string) error
	}{
		{"folder", func(path string) error { return os.Mkdir(path, 0o700) }},
		{"link to nothing", func(path string) error { return os.Symlink("elsewhere", path) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			path := filepath.Join(t.TempDir(), api.KeyFile)
			is.NoErr(tt.make(path))
			_, err := OpenIdentity(filepath.Dir(path), thisMac, testTime())
			is.True(errors.Is(err, api.ReasonStateCorrupt))
			_, err = os.Lstat(path)
			is.NoErr(err)
		})
	}
	is := is.New(t)
	_, err := OpenIdentity(filepath.Join(t.TempDir(), "missing"), thisMac, testTime())
	is.True(err != nil) // a folder that is not there is not made
}

func TestIdentityDoesNotPrintItsKey(t *testing.T) {
	is := is.New(t)
	i := testIdentity(1)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		is.True(!strings.Contains(fmt.Sprintf(verb, i), fmt.Sprintf("%v", i.Key()[0:4])))
		is.True(strings.Contains(fmt.Sprintf(verb, i), i.Node.String()))
		is.True(strings.Contains(fmt.Sprintf(verb, Opened{Identity: i}), i.Node.String()))
		is.True(len(fmt.Sprintf(verb, Opened{Identity: i})) < 160)
	}
}
