package ranktest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"fulmen/daemon/internal/rank/prepare/look"
	"fulmen/daemon/internal/rank/shim"
	"fulmen/daemon/internal/rank/shimproto"
	"fulmen/native"
)

// Main is the whole of a TestMain: it makes the test program a shim, or a look, when it
// is called as one, and otherwise runs the tests.
func Main(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "look" {
		// Not os.Exit, which under the race detector takes a second.
		syscall.Exit(look.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	if len(os.Args) == 3 && os.Args[1] == "shim" {
		clock, err := native.SystemClock()
		if err == nil {
			err = shim.Run(os.Args[2], clock, os.Stderr)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Spec is a spec for a shell script that finds its folder in $1. The folder is
// short, for the socket, and goes with the test.
func Spec(t testing.TB, script string) shimproto.Spec {
	t.Helper()
	folder, err := os.MkdirTemp("", "shim")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	return shimproto.Spec{
		Ref: shimproto.Ref{Job: "j4k2m9xq7", Attempt: 1, Rank: 1}, Epoch: 3, SpecHash: "9f2c",
		Program: "/bin/sh", Args: []string{"-c", script, "sh", folder}, Env: []string{"PATH=" + os.Getenv("PATH")}, Dir: "/", Stdin: shimproto.StdinNone,
		Socket: filepath.Join(folder, "s"), Folder: folder, LeaseS: 600, GraceS: 1, LogHeadBytes: 64 << 10, LogTailBytes: 1 << 20,
	}
}

// Shim is a shim that runs as a process of its own.
type Shim struct {
	// Process is the shim's.
	Process *os.Process
	// Gone is closed when the process has ended.
	Gone <-chan struct{}
}

// Start runs a shim; it ends with the test.
func Start(t testing.TB, spec shimproto.Spec) *Shim {
	t.Helper()
	if err := shimproto.WriteSpec(spec.Folder, spec); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "shim", spec.Folder)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(gone)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-gone
	})
	return &Shim{Process: cmd.Process, Gone: gone}
}

// Touch makes a file in the rank's folder, for which its script may wait.
func Touch(t testing.TB, spec shimproto.Spec, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(spec.Folder, name), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// NeedTerminals skips a test where the system gives no pseudo-terminals, as in a
// container without devpts.
func NeedTerminals(t testing.TB) {
	t.Helper()
	keys, screen, err := pty.Open()
	if err != nil {
		t.Skipf("there are no pseudo-terminals here: %v", err)
	}
	keys.Close()
	screen.Close()
}
