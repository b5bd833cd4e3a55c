package testkit

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A benchmark that fails fails the test. BENCHMARK_FAILS has the one below fail, in
// a program of its own that is this one again.
func TestBenchmarks(t *testing.T) { BenchmarksOnce(t) }

func BenchmarkOne(b *testing.B) {
	for b.Loop() {
		if os.Getenv("BENCHMARK_FAILS") != "" {
			b.Fatal("as it was asked to")
		}
	}
}

func TestABenchmarkThatFails(t *testing.T) {
	if testing.Short() {
		t.Skip("benchmarks run once in the long tests")
	}
	t.Setenv("BENCHMARK_FAILS", "1")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), program, "-test.run=^TestBenchmarks$", "-test.v").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "as it was asked to") {
		t.Fatalf("it fails unnoticed: %v\n%s", err, out)
	}
}
