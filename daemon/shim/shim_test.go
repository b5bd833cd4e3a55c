package shim_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/ranktest"
	"fulmen/daemon/internal/rank/shimproto"
	"fulmen/daemon/shim"
)

// TestMain runs the tests, or is fulmen-shim where the binary is called as that.
func TestMain(m *testing.M) {
	if os.Getenv(asShim) == "" {
		os.Exit(m.Run())
	}
	os.Exit(shim.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

const asShim = "FULMEN_TEST_AS_SHIM"

// run runs fulmen-shim.
func run(args ...string) (status int, reported string) {
	cmd := exec.Command(os.Args[0], args...)
	var out bytes.Buffer
	cmd.Stderr = &out
	cmd.Env = append(os.Environ(), asShim+"=1")
	_ = cmd.Run() // the status says more
	return cmd.ProcessState.ExitCode(), out.String()
}

func TestCommandLines(t *testing.T) {
	t.Parallel()
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	for _, test := range []struct {
		name     string
		args     []string
		status   int
		reported string
	}{
		{"nothing", nil, api.ExitUsage, "fulmen-shim: the daemon starts it, as fulmen-shim shim FOLDER or fulmen-shim look\n"},
		{"another word", []string{"run"}, api.ExitUsage, "fulmen-shim: the daemon starts it, as fulmen-shim shim FOLDER or fulmen-shim look\n"},
		{"no folder", []string{"shim"}, api.ExitUsage, "fulmen-shim shim: it takes the folder of a rank\n"},
		{"two folders", []string{"shim", "/a", "/b"}, api.ExitUsage, "fulmen-shim shim: it takes the folder of a rank\n"},
		{"a folder that is not there", []string{"shim", nowhere}, api.ExitFailed, "fulmen-shim: open " + nowhere + "/spec.json: no such file or directory\n"},
		{"two marks", []string{"look", "a", "b"}, api.ExitUsage, "fulmen-shim look: it takes a request on its standard input\n"},
		{"no request", []string{"look"}, api.ExitFailed, "fulmen-shim look: the request: EOF\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			status, reported := run(test.args...)
			is.Equal(status, test.status)
			is.Equal(reported, test.reported)
		})
	}
}

func TestARankIsHeldToItsEnd(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	spec := ranktest.Spec(t, "echo held; exit 7")
	is.NoErr(shimproto.WriteSpec(spec.Folder, spec))
	status, reported := run("shim", spec.Folder)
	is.Equal(reported, "")
	is.Equal(status, api.ExitOK)
	record, err := shimproto.ReadExit(spec.Folder)
	is.NoErr(err)
	is.Equal(*record.Code, 7)
	out, err := os.ReadFile(filepath.Join(spec.Folder, "out.1"))
	is.NoErr(err)
	is.Equal(string(out), "held\n")

	status, reported = run("shim", spec.Folder) // never twice
	is.Equal(status, api.ExitFailed)
	is.Equal(reported, "fulmen-shim: "+spec.Ref.String()+" has ended before\n")
}
