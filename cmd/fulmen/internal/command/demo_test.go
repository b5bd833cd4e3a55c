package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/cmd/fulmen/internal/demo"
	"fulmen/daemon/api"
)

func TestDemoSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name, fulmend string
		args          []string
		status        int
		reports       string
	}{
		{"a number of nodes", "exit 1", []string{"--nodes", "-1"}, 2, "--nodes must be at least 1"},
		{"a time", "exit 1", []string{"--within", "0s"}, 2, "--within must be a length of time"},
		{"a scenario", `echo "fulmend: no such scenario: $3" >&2; exit 2`, []string{"no-such", "--once"}, 1, "fulmen: The simulated world ended (exit code 2).\n  fulmend: no such scenario: no-such\n"},
		{"a world that says something else", `echo "{}"; cat`, []string{"--once"}, 1, "did not say which Macs it has"},
		{"a world with a bad name", `echo '{"macs":["../x"]}'; cat`, []string{"--once"}, 1, "cannot be used as a folder"},
		{"a daemon", `if [ "$1" = run ]; then echo "fulmend: no" >&2; exit 1; fi; echo '{"macs":["a"]}'; cat`, []string{"--once"}, 1, "The daemon of a ended (exit code 1)."},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			status, reports := demoWith(t, c.fulmend, c.args...)
			is.Equal(status, c.status)
			if !strings.Contains(reports, c.reports) {
				t.Errorf("it says %q", reports)
			}
		})
	}
}

// demoWith runs a demo that fails, with a script in the place of the daemon's program.
func demoWith(t *testing.T, fulmend string, args ...string) (status int, reports string) {
	t.Helper()
	is := is.New(t)
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	script(t, filepath.Join(dir, "bin", "fulmend"), fulmend)
	r := newRig(t, "")
	r.app.Executable = filepath.Join(dir, "bin", "fulmen")
	status = r.run(append([]string{"demo"}, args...)...)
	is.Equal(r.out.String(), "")
	left, err := filepath.Glob(filepath.Join(dir, "fulmen-demo-*"))
	is.NoErr(err)
	is.Equal(len(left), 0) // its folder is gone
	return status, r.err.String()
}

// The world says what it has, and the daemon is never ready.
func TestDemoHasADeadline(t *testing.T) {
	is := is.New(t)
	for within := 300 * time.Millisecond; ; within *= 2 {
		status, reports := demoWith(t, `if [ "$1" = world ]; then echo '{"macs":["a"]}'; fi; cat`, "--once", "--within", within.String())
		is.Equal(status, 1)
		if strings.Contains(reports, "Timed out waiting for the simulated world to be ready.") && within < time.Minute {
			continue // a busy machine takes longer than that to start a shell
		}
		is.True(strings.Contains(reports, "Timed out waiting for the daemon of a to be ready."))
		return
	}
}

func TestDemoNeedsTheDaemonsProgram(t *testing.T) {
	is := is.New(t)
	t.Setenv("PATH", "")
	r := newRig(t, "")
	is.Equal(r.run("demo", "--json"), 1)
	is.True(strings.Contains(r.err.String(), string(api.ReasonProgramMissing)))
}

func TestDemoFolderIsShort(t *testing.T) {
	is := is.New(t)
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), strings.Repeat("x", 60)))
	folder, err := demoFolder(demo.Account{})
	is.NoErr(err)
	defer os.Remove(folder)
	is.True(strings.HasPrefix(folder, "/tmp/fulmen-demo-"))
}

func TestCanvas(t *testing.T) {
	is := is.New(t)
	var out strings.Builder
	c := &canvas{out: &out}
	for _, block := range []string{"a\nb\n", "a\nb\n", "c\n", "c\n"} {
		is.NoErr(c.draw(block))
	}
	is.Equal(out.String(), "a\nb\n\nc\n") // what did not change is not said again

	out.Reset()
	c = &canvas{out: &out, terminal: true}
	is.NoErr(c.draw("a\nb\n"))
	is.NoErr(c.draw("c\n"))
	is.Equal(out.String(), "\x1b[?7la\nb\n\x1b[?7h"+"\x1b[2A\x1b[J\x1b[?7lc\n\x1b[?7h")
}
