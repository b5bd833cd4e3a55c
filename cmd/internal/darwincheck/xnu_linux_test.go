package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// overXNU are packages that run over an imitation of xnu's calls, in place of their
// files for Linux; left are those whose answers are of another kind there.
var overXNU = []struct {
	dir, run string
	left     []string
}{
	{dir: "native", run: "BootCountsSleep"},
	{dir: "native/bound"},
	{dir: "daemon/internal/server", run: "IsTheKernels|VouchesForTCP"},
	{dir: "daemon/internal/proc", run: "Outcomes|Grandchild|Cancel|NotStarted", left: []string{"memory"}},
	{dir: "daemon/internal/rank/shim", run: "ProgramsThatEnd|StopsInOrder|KillsWhatIgnores|ASystemThatEnds|NeverAsRoot|HasTheRights|HeadAndTail|RoomIsMade", left: []string{"terminal"}},
}

// TestFilesForMacOSRun: what calls the kernel of macOS passes its package's own tests,
// over an imitation of that kernel.
func TestFilesForMacOSRun(t *testing.T) {
	if testing.Short() {
		t.Skip("packages are compiled anew for it")
	}
	is := is.New(t)
	root, err := filepath.Abs("../../..")
	is.NoErr(err)
	here, err := filepath.Abs("testdata/xnu")
	is.NoErr(err)
	made := t.TempDir()
	replace := map[string]string{filepath.Join(root, "native", "xnu", "unix.go"): filepath.Join(here, "unix.go")}
	for _, p := range overXNU {
		all, err := filepath.Glob(filepath.Join(root, p.dir, "*_darwin.go"))
		is.NoErr(err)
		for _, name := range all {
			base := strings.TrimSuffix(filepath.Base(name), "_darwin.go")
			text, err := os.ReadFile(name)
			is.NoErr(err)
			changed := strings.NewReplacer(`"golang.org/x/sys/unix"`, `"fulmen/native/xnu"`, "//go:build darwin && cgo\n", "").Replace(string(text))
			to := filepath.Join(made, strings.ReplaceAll(p.dir, "/", "_")+"_"+base+".go")
			is.NoErr(os.WriteFile(to, []byte(changed), 0o600))
			replace[filepath.Join(root, p.dir, base+"_linux.go")] = to
		}
		for _, base := range p.left {
			delete(replace, filepath.Join(root, p.dir, base+"_linux.go"))
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	is.NoErr(err)
	list := filepath.Join(made, "overlay.json")
	is.NoErr(os.WriteFile(list, overlay, 0o600))
	for _, p := range overXNU {
		t.Run(p.dir, func(t *testing.T) {
			c := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-short", "-vet=off", "-overlay="+list, "-run="+p.run, "./"+p.dir)
			// CGO_CFLAGS would have the standard library compiled anew.
			c.Dir, c.Env = root, append(os.Environ(), "CGO_ENABLED=1", "C_INCLUDE_PATH="+here)
			if reported, err := c.CombinedOutput(); err != nil || strings.Contains(string(reported), "no tests to run") {
				t.Errorf("%v\n%s", err, reported)
			}
		})
	}
}
