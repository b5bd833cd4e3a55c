package home

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest"
)

func under(root string, mode api.DaemonMode) Folders {
	return Folders{Mode: mode, Config: root, State: filepath.Join(root, "state"), Logs: filepath.Join(root, "log"), Runtime: filepath.Join(root, "run")}
}

func modeOf(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	is.New(t).NoErr(err)
	return info.Mode().Perm()
}

func TestCreate(t *testing.T) {
	old := syscall.Umask(0o077)
	t.Cleanup(func() { syscall.Umask(old) })
	tests := map[api.DaemonMode][4]os.FileMode{ // config, state, log, run
		api.ModeSystem: {0o755, 0o700, 0o700, 0o755},
		api.ModeUser:   {0o700, 0o700, 0o700, 0o700},
	}
	for mode, want := range tests {
		t.Run(string(mode), func(t *testing.T) {
			is := is.New(t)
			f := under(filepath.Join(t.TempDir(), "deep", "home"), mode)
			is.NoErr(f.Create())
			got := [4]os.FileMode{modeOf(t, f.Config), modeOf(t, f.State), modeOf(t, f.Logs), modeOf(t, f.Runtime)}
			is.Equal(got, want)
			is.NoErr(os.Chmod(f.Logs, 0o750))
			is.NoErr(f.Create())                            // once more changes nothing
			is.Equal(modeOf(t, f.Logs), os.FileMode(0o750)) // what is there is left alone
		})
	}
}

func TestCreateSharedFolderIsClosed(t *testing.T) {
	is := is.New(t)
	one := filepath.Join(t.TempDir(), "Fulmen")
	f := Folders{Mode: api.ModeSystem, Config: one, State: one, Logs: filepath.Join(one, "log"), Runtime: filepath.Join(one, "run")}
	is.NoErr(f.Create())
	is.Equal(modeOf(t, one), os.FileMode(0o700)) // as macOS has it: state wins over configuration
}

func TestCreateWhereAFileIs(t *testing.T) {
	is := is.New(t)
	root := t.TempDir()
	is.NoErr(os.WriteFile(filepath.Join(root, "state"), nil, 0o600))
	err := under(root, api.ModeUser).Create()
	is.True(err != nil)
	is.True(strings.Contains(err.Error(), filepath.Join(root, "state"))) // names it
}

func TestCreateOnReadOnlyDisk(t *testing.T) {
	is := is.New(t)
	disk := nativetest.SmallDisk(t, 1<<16)
	nativetest.MakeReadOnly(t, disk)
	err := under(disk, api.ModeUser).Create()
	is.True(errors.Is(err, api.ReasonStateReadOnly))
	is.True(errors.Is(err, syscall.EROFS)) // the cause is there for the log
}

func TestCheck(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can make files of other accounts")
	}
	tests := map[string]struct {
		damage  func(f Folders) error
		reports string
	}{
		"as made":                {func(Folders) error { return nil }, ""},
		"state of another":       {func(f Folders) error { return os.Chown(f.State, 1, 0) }, "uid 1"},
		"log of another":         {func(f Folders) error { return os.Chown(f.Logs, 1, 0) }, "uid 1"},
		"state for a group":      {func(f Folders) error { return os.Chmod(f.State, 0o770) }, "group"},
		"run for everybody":      {func(f Folders) error { return os.Chmod(f.Runtime, 0o777) }, "everybody"},
		"sticky is no excuse":    {func(f Folders) error { return os.Chmod(f.State, 0o777|os.ModeSticky) }, "everybody"},
		"config for everybody":   {func(f Folders) error { return os.Chmod(f.ConfigFile(), 0o666) }, "config.toml"},
		"config of another":      {func(f Folders) error { return os.Chown(f.ConfigFile(), 1, 0) }, "config.toml"},
		"config for all to read": {func(f Folders) error { return os.Chmod(f.ConfigFile(), 0o644) }, ""},
		"no config":              {func(f Folders) error { return os.Remove(f.ConfigFile()) }, ""},
		"parent of another":      {func(f Folders) error { return os.Chown(filepath.Dir(f.Config), 1, 0) }, "uid 1"},
		"parent for everybody":   {func(f Folders) error { return os.Chmod(filepath.Dir(f.Config), 0o777) }, "everybody"},
		"parent for a group":     {func(f Folders) error { return os.Chmod(filepath.Dir(f.Config), 0o775) }, ""},
		"link to what is another's": {func(f Folders) error {
			elsewhere := filepath.Join(filepath.Dir(f.Config), "elsewhere")
			return errors.Join(os.WriteFile(elsewhere, nil, 0o600), os.Chown(elsewhere, 1, 1),
				os.Remove(f.ConfigFile()), os.Symlink(elsewhere, f.ConfigFile()))
		}, "elsewhere"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			f := under(filepath.Join(t.TempDir(), "home"), api.ModeSystem)
			is.NoErr(f.Create())
			is.NoErr(WriteFile(f.ConfigFile(), nil, 0o644))
			is.NoErr(tt.damage(f))
			err := f.Check()
			if tt.reports == "" {
				is.NoErr(err)
				return
			}
			is.True(errors.Is(err, api.ReasonInsecurePermissions))
			is.True(strings.Contains(err.Error(), tt.reports)) // names what is wrong
			is.True(api.AsError(err).Data.Remedy != "")        // and what to do
			f.Mode = api.ModeUser
			is.NoErr(f.Check()) // a user may do as they like
		})
	}
}
