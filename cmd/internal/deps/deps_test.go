// Package deps is `make deps`: what fetches MLX, and the tools that a machine
// lacks, from the wheels pinned in pins.txt. deps.sh finds a Python, deps.py
// does the work; here are their tests.
package deps

import (
	"context"
	"os/exec"
	"testing"
	"time"
)

// TestDeps runs deps.py's own tests, which pack wheels and fetch them with the
// real pip, from a folder.
func TestDeps(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 on the PATH; make test has one")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if err := exec.CommandContext(ctx, python, "-c", "import pip").Run(); err != nil {
		t.Skip("this python3 has no pip; make test has one")
	}
	out, err := exec.CommandContext(ctx, python, "-m", "unittest", "-v", "test_deps").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// TestShellParses keeps a mistake in the first script of a fresh machine from
// going unnoticed on machines that have everything.
func TestShellParses(t *testing.T) {
	if out, err := exec.Command("sh", "-n", "deps.sh").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
