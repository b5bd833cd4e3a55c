package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native/nativetest/testkit"
)

// programs builds the programs as they are shipped, with MLX beside them. The
// folder is closed to other accounts.
func programs(t *testing.T) string {
	t.Helper()
	is := is.New(t)
	dir := t.TempDir()
	is.NoErr(os.Chmod(dir, 0o700))
	mlx, err := filepath.Abs("../../build/mlx")
	is.NoErr(err)
	is.NoErr(os.Symlink(mlx, filepath.Join(dir, "mlx")))
	bin := filepath.Join(dir, "bin")
	is.NoErr(os.Mkdir(bin, 0o755))
	is.NoErr(testkit.WatchInputs(filepath.Join("..", "..")))
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", bin+string(filepath.Separator), ".", "../fulmend", "../fulmen-shim", "../fulmen-rank")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// demo is fulmen demo with the folder in which it works.
func demo(ctx context.Context, dir, tmp string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "fulmen"), append([]string{"demo"}, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "HOME="+tmp)
	return cmd
}

// belonging are the processes whose command line names a folder.
func belonging(t *testing.T, folder string) []string {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	is.New(t).NoErr(err)
	var out []string
	for _, path := range all {
		if line, err := os.ReadFile(path); err == nil && strings.Contains(string(line), folder) {
			out = append(out, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return out
}

// TestDemo runs a simulated cluster of the real programs, to its end and to that
// of the program that runs it.
func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("builds all programs")
	}
	is := is.New(t)
	dir := programs(t)
	tmp, err := os.MkdirTemp("/tmp", "fd") // paths of sockets are short
	is.NoErr(err)
	defer os.RemoveAll(tmp)
	is.NoErr(os.Chmod(tmp, 0o755)) // where it runs as another account
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()

	out, err := demo(ctx, dir, tmp, "two-studios", "--once").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	is.True(strings.Contains(string(out), "2 Macs are one cluster, and each sees the state of all the others. SIMULATED.\n"))
	is.True(strings.Contains(string(out), "\nall_sum of float32 by 2 ranks over ring. SIMULATED.\n"))
	is.Equal(len(belonging(t, tmp)), 0)

	// Without a cable between them its job runs over a network, which is asked for.
	out, err = demo(ctx, dir, tmp, "networks", "--once").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	is.True(strings.Contains(string(out), " ranks over ring. SIMULATED.\n"))

	// In the middle of the job.
	cmd := demo(ctx, dir, tmp, "two-studios")
	problems, err := cmd.StderrPipe()
	is.NoErr(err)
	is.NoErr(cmd.Start())
	for lines, reported := bufio.NewScanner(problems), false; lines.Scan(); {
		if !reported && strings.Contains(lines.Text(), "all_sum, 2048 bytes") {
			reported = true
			is.NoErr(cmd.Process.Signal(os.Interrupt))
		}
	}
	is.NoErr(cmd.Wait()) // the end that was asked for
	is.Equal(len(belonging(t, tmp)), 0)

	whole := func() *exec.Cmd {
		cmd := demo(ctx, dir, tmp, "two-studios")
		stdout, err := cmd.StdoutPipe()
		is.NoErr(err)
		is.NoErr(cmd.Start())
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			if strings.Contains(lines.Text(), "by 2 ranks over ring") {
				go func() {
					for lines.Scan() { // so that it never waits for a reader
					}
				}()
				return cmd
			}
		}
		t.Fatal("the cluster did not become whole")
		return nil
	}
	cmd = whole()
	is.NoErr(cmd.Process.Signal(os.Interrupt))
	is.NoErr(cmd.Wait()) // the end that was asked for
	is.Equal(len(belonging(t, tmp)), 0)
	left, err := filepath.Glob(filepath.Join(tmp, "fulmen-demo-*"))
	is.NoErr(err)
	is.Equal(len(left), 0)

	cmd = whole()
	running := slices.DeleteFunc(belonging(t, tmp), func(line string) bool { return strings.Contains(line, "fulmen-shim look") })
	is.True(len(running) == 3 || runtime.GOOS != "linux") // the world and two daemons
	is.NoErr(cmd.Process.Signal(syscall.SIGKILL))
	_ = cmd.Wait() // it was killed
	for len(belonging(t, tmp)) > 0 {
		if ctx.Err() != nil {
			t.Fatalf("these are left: %q", belonging(t, tmp))
		}
	}
}
