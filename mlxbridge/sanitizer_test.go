package mlxbridge

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// sanitizers are the compiler's, stopping at the first finding.
var sanitizers = []string{"-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"}

// sanitized is the driver of shim/asan as a command. MLX itself is not built with
// the sanitizers, so what its containers do is not judged.
func sanitized(ctx context.Context, binary string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, args...)
	options := "detect_container_overflow=0"
	if runtime.GOOS == "linux" {
		options += ":detect_leaks=1" // Apple's compiler has no leak sanitizer
	}
	cmd.Env = append(os.Environ(), "ASAN_OPTIONS="+options, "UBSAN_OPTIONS=print_stacktrace=1")
	return cmd
}

// The whole shim, failures included, under the address, leak and undefined
// behaviour sanitizers.
func TestShimUnderSanitizers(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the shim again")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	binary := buildSanitized(ctx, t)
	t.Run("alone", func(t *testing.T) {
		cmd := sanitized(ctx, binary)
		cmd.Env = without(cmd.Env, "MLX_RANK=", "MLX_HOSTFILE=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	})
	t.Run("ring", func(t *testing.T) {
		startRing(t, 2, func(ctx context.Context) *exec.Cmd { return sanitized(ctx, binary, "ring") })
	})
	t.Run("leak", func(t *testing.T) {
		if runtime.GOOS != "linux" {
			t.Skip("there is no leak sanitizer on", runtime.GOOS)
		}
		out, err := sanitized(ctx, binary, "leak").CombinedOutput()
		if err == nil || !strings.Contains(string(out), "LeakSanitizer") {
			t.Fatalf("a leak on purpose was not seen: %v\n%s", err, out)
		}
	})
}

// without leaves variables out of an environment.
func without(env []string, prefixes ...string) []string {
	var kept []string
	for _, e := range env {
		named := false
		for _, p := range prefixes {
			named = named || strings.HasPrefix(e, p)
		}
		if !named {
			kept = append(kept, e)
		}
	}
	return kept
}

// buildSanitized builds the driver with the system's compiler.
func buildSanitized(ctx context.Context, t *testing.T) string {
	t.Helper()
	compiler := os.Getenv("CXX")
	if compiler == "" {
		compiler = "c++"
	}
	folder := t.TempDir()
	probe := filepath.Join(folder, "probe.cpp")
	if err := os.WriteFile(probe, []byte("int main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := compile(ctx, compiler, append(sanitizers, probe, "-o", filepath.Join(folder, "probe"))...); err != nil {
		t.Skipf("%s cannot link with the sanitizers: %v", compiler, err)
	}
	mlx, err := filepath.Abs("../build/mlx/current/mlx")
	if err != nil {
		t.Fatal(err)
	}
	sources, err := filepath.Glob("shim/*.cpp")
	if err != nil || len(sources) == 0 {
		t.Fatal("no sources", err)
	}
	sources = append(sources, filepath.Join("shim", "asan", "driver.cpp"))
	objects := make([]string, len(sources))
	slots := make(chan struct{}, runtime.NumCPU())
	var wait sync.WaitGroup
	for i, source := range sources {
		objects[i] = filepath.Join(folder, filepath.Base(source)+".o")
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			args := append([]string{"-std=c++20", "-g1", "-O0", "-isystem", filepath.Join(mlx, "include"),
				"-c", source, "-o", objects[i]}, sanitizers...)
			if err := compile(ctx, compiler, args...); err != nil {
				t.Errorf("%s: %v", source, err)
			}
		})
	}
	wait.Wait()
	if t.Failed() {
		t.FailNow()
	}
	binary := filepath.Join(folder, "driver")
	lib := filepath.Join(mlx, "lib")
	args := append(objects, "-L"+lib, "-lmlx", "-Wl,-rpath,"+lib, "-o", binary)
	if runtime.GOOS == "linux" {
		args = append(args, "-ldl")
	}
	if err := compile(ctx, compiler, append(args, sanitizers...)...); err != nil {
		t.Fatal(err)
	}
	return binary
}

func compile(ctx context.Context, compiler string, args ...string) error {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, compiler, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w\n%s", err, out.String())
	}
	return nil
}
