package mac

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestNeedsAdministrator(t *testing.T) {
	const to = "/Applications/Fulmen.app"
	for _, tt := range []struct {
		name     string
		old      owned
		err      error
		mayWrite bool
		want     bool
	}{
		{"nothing there", owned{}, fs.ErrNotExist, true, false},
		{"the person's own", owned{uid: 501}, nil, true, false},
		{"root's", owned{uid: 0}, nil, true, true},
		{"somebody else's", owned{uid: 502}, nil, true, true},
		{"no administrator", owned{}, fs.ErrNotExist, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := needsAdministrator(to, 501, tt.mayWrite, func(path string) (owned, error) { is.New(t).Equal(path, to); return tt.old, tt.err })
			is.New(t).Equal(got, tt.want)
		})
	}
}

// TestReplace has a shell do what an administrator's would, with the tools that
// every system has in the place of macOS's.
func TestReplace(t *testing.T) {
	put := func(t *testing.T, app, version string) {
		t.Helper()
		is := is.New(t)
		is.NoErr(os.MkdirAll(filepath.Join(app, "Contents"), 0o777))
		is.NoErr(os.WriteFile(filepath.Join(app, "Contents", "version"), []byte(version), 0o666))
		is.NoErr(os.Chmod(filepath.Join(app, "Contents", "version"), 0o666))
	}
	replace := func(t *testing.T, from, to, mv string) error {
		t.Helper()
		command := strings.NewReplacer("/usr/bin/mktemp", "mktemp", "/usr/bin/ditto", "cp -R", "/usr/bin/xattr", "false", "/usr/sbin/chown -R root:wheel", "test -e",
			"/bin/chmod", "chmod", "/bin/rm", "rm", "/bin/mv", mv).Replace(inScript(t, replaceScript(from, to)))
		return exec.Command("/bin/sh", "-c", command).Run()
	}
	version := func(app string) string {
		text, _ := os.ReadFile(filepath.Join(app, "Contents", "version")) // none where there is no app
		return string(text)
	}
	alone := func(t *testing.T, to string) {
		t.Helper()
		left, err := os.ReadDir(filepath.Dir(to))
		is.New(t).NoErr(err)
		is.New(t).Equal(len(left), 1) // nothing is left beside it
	}
	t.Run("over an old one, and where there is none", func(t *testing.T) {
		is := is.New(t)
		from, to := filepath.Join(t.TempDir(), "it's $new", "Fulmen.app"), filepath.Join(t.TempDir(), `my "Applications"`, "Fulmen.app")
		put(t, from, "2")
		is.NoErr(os.Mkdir(filepath.Dir(to), 0o755))
		is.NoErr(replace(t, from, to, "mv"))
		is.Equal(version(to), "2")
		alone(t, to)
		put(t, from, "3")
		is.NoErr(replace(t, from, to, "mv"))
		is.Equal(version(to), "3")
		alone(t, to)
		info, err := os.Stat(filepath.Join(to, "Contents", "version"))
		is.NoErr(err)
		is.Equal(info.Mode().Perm()&0o022, os.FileMode(0)) // nobody else can change it
		is.Equal(version(from), "3")
	})
	t.Run("that cannot be put there", func(t *testing.T) {
		is := is.New(t)
		from, to := filepath.Join(t.TempDir(), "Fulmen.app"), filepath.Join(t.TempDir(), "A", "Fulmen.app")
		put(t, from, "2")
		put(t, to, "1")
		// A mv that fails for the new one alone.
		is.True(replace(t, from, to, `f() { case "$1" in */new.app) return 1 ;; esac; mv "$@"; }; f`) != nil)
		is.Equal(version(to), "1") // the old one is back
		alone(t, to)
		is.True(replace(t, from+"-gone", to, "mv") != nil)
		is.Equal(version(to), "1")
		alone(t, to)
	})
}

func TestNotMoved(t *testing.T) {
	is := is.New(t)
	reported := notMoved(&fs.PathError{Op: "rename", Path: "x", Err: syscall.ENOSPC})
	is.True(errors.Is(reported, api.ReasonNotInApplications))
	is.Equal(reported.Message+" "+reported.Data.Remedy, "Fulmen could not move itself into the Applications folder: no space left on device. Drag it there.")
}
