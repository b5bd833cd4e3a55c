package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// statusBudget is what fulmen status may take, the start of the program
// included.
const statusBudget = 30 * time.Millisecond

// TestStatusIsQuick takes the best of several runs: what the program needs, and
// not what else this machine does.
func TestStatusIsQuick(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time, which the race detector stretches")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "quick.txtar"), []byte("start\nexec fulmen status\nquick\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := params(dir)
	p.Cmds["quick"] = quick
	testscript.Run(t, p)
}

func quick(ts *testscript.TestScript, _ bool, _ []string) {
	path, err := exec.LookPath("fulmen")
	ts.Check(err)
	best := time.Hour
	for range 25 {
		cmd := exec.Command(path, "status")
		cmd.Env = append(os.Environ(), "FULMEN_HOME="+ts.Getenv("FULMEN_HOME"))
		began := time.Now()
		ts.Check(cmd.Run())
		best = min(best, time.Since(began))
	}
	ts.Logf("fulmen status took %s", best)
	if best > statusBudget {
		ts.Fatalf("fulmen status took %s, more than %s", best, statusBudget)
	}
}
