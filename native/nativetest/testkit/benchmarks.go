package testkit

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// timeout bounds the benchmarks of a package, for which Go's own -timeout does not
// count.
const timeout = 10 * time.Minute

// BenchmarksOnce runs every benchmark of the package whose test this is, one time, with
// testing.Short set. One that takes long by itself is shorter then. It is left out
// where the tests themselves are the short ones.
func BenchmarksOnce(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("benchmarks run once in the long tests")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	command := exec.CommandContext(ctx, program, "-test.run=^$", "-test.bench=.", "-test.benchtime=1x", "-test.short", "-test.v")
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGQUIT) } // it says where it hangs
	command.WaitDelay = time.Minute
	out, err := command.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatalf("a benchmark fails: %v", err)
	}
	if !strings.Contains(string(out), "Benchmark") {
		t.Fatal("there is no benchmark")
	}
}
