package prepare_test

import (
	"log/slog"
	"os"
	"strings"
	"testing"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/prepare"
	"fulmen/daemon/internal/rank/ranktest"
	"fulmen/native"
)

func TestMain(m *testing.M) { ranktest.Main(m) }

// rig is a preparer that starts this test binary as an account whose login shell
// puts the bin of its home first in PATH.
type rig struct {
	*prepare.Preparer
	config prepare.Config
	ada    prepare.Account
}

func newRig(t testing.TB, shell string, files map[string]string) *rig {
	t.Helper()
	clock, err := native.SystemClock()
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{ada: ranktest.Account(t, shell)}
	r.config = prepare.Config{Shim: ranktest.Self(t), Worker: "/bin/true", State: t.TempDir(), OwnUID: uint32(os.Getuid()), Clock: clock, Log: slog.New(slog.DiscardHandler)}
	r.Preparer = prepare.New(r.config)
	r.write(t, map[string]string{".profile": "PATH=$HOME/bin:$PATH\nexport PATH\necho read >>$HOME/reads\n"})
	r.write(t, files)
	return r
}

func (r *rig) write(t testing.TB, files map[string]string) {
	t.Helper()
	own := map[string]string{}
	for name, content := range files {
		own[name] = strings.ReplaceAll(content, "HOME_", r.ada.Home)
	}
	ranktest.Write(t, r.ada, r.ada.Home, own)
}

// lines counts the lines of a file in the home folder.
func (r *rig) lines(t testing.TB, name string) int {
	t.Helper()
	text, err := os.ReadFile(r.ada.Home + "/" + name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

// python is an interpreter that answers as Python does, with packages in lib.
func python(version string) string {
	return "#!/bin/sh\nprintf '%s" + version + `\0001\000\000HOME_/lib%s' "$4" "$4"` + "\n"
}

var (
	mlx   = map[string]string{"lib/mlx-0.32.4.dist-info/METADATA": "Version: 0.32.4\n"}
	noEnv = map[string]string(nil)
)

// train is a program of somebody whose home is elsewhere.
func train(command ...string) api.Program {
	return api.Program{Command: command, Directory: "/Users/me/work", Home: "/Users/me"}
}

func values(env []string) map[string]string {
	out := map[string]string{}
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		out[name] = value
	}
	return out
}
