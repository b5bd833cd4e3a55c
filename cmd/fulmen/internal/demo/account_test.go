package demo

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"
)

// TestJobsNeverRunAsRoot holds the account of a demo to that of this process, or,
// where that is root's, to another one.
func TestJobsNeverRunAsRoot(t *testing.T) {
	is := is.New(t)
	t.Setenv("SUDO_USER", "root") // sudo by root changes nothing
	a := OwnAccount()
	if a.Name == "" {
		t.Skip("there is no account here as which jobs may run")
	}
	who := exec.Command("/bin/sh", "-c", "id -u; pwd")
	a.runs(who)
	out, err := who.Output()
	is.NoErr(err)
	is.True(!strings.HasPrefix(string(out), "0\n"))
	caller, isOther := a.caller("csm7nbfrcayqev4e")
	is.Equal(isOther, os.Geteuid() == 0)
	if isOther {
		is.True(strings.HasSuffix(string(out), "\n/\n"))
		is.Equal(string(caller.User)+" "+string(caller.Node), "root csm7nbfrcayqev4e")
		t.Setenv("SUDO_USER", a.Name)
		is.Equal(OwnAccount(), a)
	}
}

// TestLent has a cluster lend to its members, and its job killed at its end.
func TestLent(t *testing.T) {
	is := is.New(t)
	t.Setenv(lends, "ada")
	c, err := begin(t, "sound", Options{Account: Account{Name: "ada"}})
	is.NoErr(err)
	is.NoErr(whole(t, c))
	lent, err := os.ReadFile(filepath.Join(c.Nodes[0].Home, "lent"))
	is.NoErr(err)
	is.Equal(string(lent), `{"members":true,"account":"ada"}`+"\n"+`{"jobs":"mapped"}`+"\n") // the others were told when they joined
	is.NoErr(c.Close())
	_, err = os.Stat(filepath.Join(c.Nodes[0].Home, "killed"))
	is.NoErr(err)
}

// TestProgramsOfAClosedFolder brings programs to where another account can
// execute them.
func TestProgramsOfAClosedFolder(t *testing.T) {
	is := is.New(t)
	closed := t.TempDir()
	is.NoErr(os.Chmod(closed, 0o700))
	put := func(path, text string, mode os.FileMode) {
		path = filepath.Join(closed, path)
		is.NoErr(os.MkdirAll(filepath.Dir(path), 0o700))
		is.NoErr(os.WriteFile(path, []byte(text), mode))
	}
	put("bin/fulmend", "#!/bin/sh\nexit 3\n", 0o755)
	put("bin/fulmen-shim", "#!/bin/sh\n", 0o700)
	put("bin/fulmen-rank", "#!/bin/sh\ncat \"${0%/*}/../mlx/current/lib/libmlx\"\n", 0o700)
	put("mlx/mlx-1/lib/libmlx", "MLX", 0o600)
	is.NoErr(os.Symlink("mlx-1", filepath.Join(closed, "mlx", "current")))
	is.NoErr(os.Symlink("libmlx", filepath.Join(closed, "mlx", "mlx-1", "lib", "libmlx.1")))
	programs := Beside(filepath.Join(closed, "bin", "fulmend"))
	is.True(programs.Shim != "" && programs.Worker != "")

	own, err := programs.For(Account{}, filepath.Join(closed, "not"))
	is.NoErr(err)
	is.Equal(own, programs) // they can be executed where they are

	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	a := OwnAccount()
	folder, err := os.MkdirTemp("/tmp", "fulmen")
	is.NoErr(err)
	defer os.RemoveAll(folder)
	is.NoErr(a.Owns(folder))
	if a.credential == nil {
		is.NoErr(bring(filepath.Join(closed, "mlx", "mlx-1"), filepath.Join(folder, "mlx")))
		is.Equal(modes(t, folder), "mlx drwxr-xr-x, mlx/lib drwxr-xr-x, mlx/lib/libmlx -rw-r--r--, mlx/lib/libmlx.1 -rw-r--r--")
		t.Skip("only root starts programs as somebody else")
	}
	staged, err := programs.For(a, filepath.Join(folder, "fulmen"))
	is.NoErr(err) // the worker finds MLX there
	is.Equal(staged, Programs{Fulmend: filepath.Join(folder, "fulmen/bin/fulmend"), Shim: filepath.Join(folder, "fulmen/bin/fulmen-shim"), Worker: filepath.Join(folder, "fulmen/bin/fulmen-rank")})
	is.Equal(modes(t, filepath.Join(folder, "fulmen", "mlx")), "current drwxr-xr-x, current/lib drwxr-xr-x, current/lib/libmlx -rw-r--r--, current/lib/libmlx.1 -rw-r--r--")

	is.NoErr(os.Remove(filepath.Join(closed, "mlx", "mlx-1", "lib", "libmlx")))
	is.NoErr(os.Remove(filepath.Join(closed, "mlx", "mlx-1", "lib", "libmlx.1")))
	_, err = programs.For(a, filepath.Join(folder, "again"))
	is.True(err != nil && strings.Contains(err.Error(), "fulmen-rank could not be started"))
}

// modes are the modes of what lies in a folder.
func modes(t *testing.T, folder string) string {
	t.Helper()
	var out []string
	err := filepath.Walk(folder, func(path string, info os.FileInfo, err error) error {
		if err == nil && path != folder {
			below, _ := filepath.Rel(folder, path)
			out = append(out, below+" "+info.Mode().String())
		}
		return err
	})
	is.New(t).NoErr(err)
	return strings.Join(out, ", ")
}
