package early_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/early"
	"fulmen/daemon/internal/rank/ranktest"
	"fulmen/daemon/internal/rank/shimproto"
)

// run runs this program, which is a shim when it is called as one.
func run(args ...string) (status int, said string) {
	cmd := exec.Command(os.Args[0], args...)
	var out bytes.Buffer
	cmd.Stderr = &out
	_ = cmd.Run() // the status says more
	return cmd.ProcessState.ExitCode(), out.String()
}

func TestCommandLines(t *testing.T) {
	t.Parallel()
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	for _, test := range []struct {
		name   string
		args   []string
		status int
		said   string
	}{
		{"no folder", []string{early.Shim}, api.ExitUsage, "fulmend shim: it takes the folder of a rank\n"},
		{"two folders", []string{early.Shim, "/a", "/b"}, api.ExitUsage, "fulmend shim: it takes the folder of a rank\n"},
		{"a folder that is not there", []string{early.Shim, nowhere}, api.ExitFailed, "fulmend: open " + nowhere + "/spec.json: no such file or directory\n"},
		{"two marks", []string{early.Look, "a", "b"}, api.ExitUsage, "fulmend look: it takes a request on its standard input\n"},
		{"no request", []string{early.Look}, api.ExitFailed, "fulmend look: EOF\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			status, said := run(test.args...)
			is.Equal(status, test.status)
			is.Equal(said, test.said)
		})
	}
}

func TestARankIsHeldToItsEnd(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	spec := ranktest.Spec(t, "echo held; exit 7")
	is.NoErr(shimproto.WriteSpec(spec.Folder, spec))
	status, said := run(early.Shim, spec.Folder)
	is.Equal(said, "")
	is.Equal(status, api.ExitOK)
	record, err := shimproto.ReadExit(spec.Folder)
	is.NoErr(err)
	is.Equal(*record.Code, 7)
	out, err := os.ReadFile(filepath.Join(spec.Folder, "out.1"))
	is.NoErr(err)
	is.Equal(string(out), "held\n")

	status, said = run(early.Shim, spec.Folder) // never twice
	is.Equal(status, api.ExitFailed)
	is.Equal(said, "fulmend: "+spec.Ref.String()+" has ended before\n")
}
