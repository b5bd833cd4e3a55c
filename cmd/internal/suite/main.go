package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// limit is how long all tests may take on two quiet cores, with nothing cached. It holds
// where .ci/run sets timed, whose machine is the measure: another may be slower.
const (
	limit = 14 * time.Minute
	timed = "FULMEN_TIMED"
)

// first are the packages that take longest: begun first, nothing waits for them
// at the end.
var first = []string{
	"fulmen/daemon/e2e", "fulmen/cmd/internal/darwincheck", "fulmen/cmd/fulmen-app", "fulmen/assets/dashboard/browser", "fulmen/cmd/internal/rules",
	"fulmen/daemon/internal/cluster/node",
}

// parts are what only some tests need, by their names in deps.sh.
var parts = []string{"mlxlm", "darwin", "desktop", "browser"}

// undebugged leaves out what only debuggers read, an eighth of a compiler's work, where a
// sanitizer has all compiled for itself alone.
const undebugged = "-gcflags=all=-dwarf=false"

// step is one call of the go command.
type step struct {
	part     string // its name on the command line
	name     string
	flags    []string
	packages []string
}

// steps gives both lines of steps, which take as long. One processor for each test under the race
// detector: a bubble of testing/synctest has one race context for its timers, and
// Go's detector dies where two threads use it at once (golang/go#78156). Which
// accesses are ordered does not depend on how many there are.
func steps(p parted) (left, right []step) {
	left = []step{{"race", "under the race detector", []string{"-race", "-cpu=1", "-short", undebugged}, early(p.raced)}}
	if runtime.GOOS == "linux" {
		// The sanitizer is for what is C; it would have all that the daemon is made of compiled once more.
		// What is Go is compiled for it as quickly as can be.
		left = append(left, step{"darwinsim", "over simulated frameworks", []string{"-asan", "-tags=darwinsim", undebugged + " -l"}, []string{"fulmen/native/darwin", "fulmen/native/darwin/simmac"}},
			step{"darwinsim", "over simulated frameworks", []string{"-tags=darwinsim", "-run=OverDarwin|Benchmarks"}, []string{"fulmen/daemon/internal/rdma", "fulmen/daemon/internal/facts", "fulmen/daemon/internal/model/inventory"}})
	}
	all := "-run=^(" + strings.Join(p.tests, "|") + ")$"
	left = append(left, step{"plain", "in full", []string{all}, early(p.again)})
	return left, []step{{"plain", "plain", nil, early(p.plain)}}
}

// early gives the packages with those that take longest at the head.
func early(packages []string) []string {
	packages = slices.Clone(packages)
	slices.SortStableFunc(packages, func(a, b string) int { return rank(a) - rank(b) })
	return packages
}

func rank(name string) int {
	if i := slices.Index(first, name); i >= 0 {
		return i
	}
	return len(first)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdout, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "suite:", err)
		os.Exit(1)
	}
}

// run runs the steps of these parts, or all of them, after a build; or fuzzes.
func run(ctx context.Context, out io.Writer, only []string) error {
	if len(only) == 2 && only[0] == "fuzz" {
		return fuzz(ctx, only[1])
	}
	before := now()
	// Python would add to folders that tests read, and Go keeps no result of those that read what has changed.
	if err := os.Setenv("PYTHONDONTWRITEBYTECODE", "1"); err != nil {
		return err
	}
	// The race detector would wait a second at each program's end for what still runs.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=10"); err != nil {
		return err
	}
	if len(only) == 0 {
		fmt.Fprintln(out, "suite: building the programs")
		if err := command(ctx, "make", "--no-print-directory", "-s", "build").Run(); err != nil {
			return fmt.Errorf("make build: %w", err)
		}
	}
	all, err := list()
	if err != nil {
		return err
	}
	parts, err := split(all)
	if err != nil {
		return err
	}
	left, right := steps(parts)
	if len(only) > 0 {
		others := func(s step) bool { return !slices.Contains(only, s.part) }
		left, right = slices.DeleteFunc(left, others), slices.DeleteFunc(right, others)
	}
	r := &report{out: out, since: before.at}
	for _, s := range append(slices.Clone(left), right...) {
		r.all += len(s.packages)
		fmt.Fprintf(out, "suite: %d packages %s\n", len(s.packages), s.name)
	}
	var both sync.WaitGroup
	var fails [2]error
	fetched := sync.OnceValue(func() error { return fetch(ctx) })
	both.Go(func() { fails[0] = each(ctx, r, left, fetched) })
	both.Go(func() { fails[1] = each(ctx, r, right, fetched) })
	both.Wait()
	took := since(before)
	r.slowest(took)
	if err := errors.Join(fails[0], fails[1]); err != nil {
		return err
	}
	if os.Getenv(timed) == "" {
		return nil
	}
	return took.within(limit)
}

// fetch gets what only some tests need.
func fetch(ctx context.Context) error {
	for _, part := range parts {
		if err := command(ctx, "cmd/internal/deps/deps.sh", part).Run(); err != nil {
			return fmt.Errorf("deps.sh %s: %w", part, err)
		}
	}
	return nil
}

// each runs steps one after the other, all of them, the plain ones once what they need is fetched.
func each(ctx context.Context, r *report, steps []step, fetched func() error) error {
	var failed []error
	for _, s := range steps {
		if s.part == "plain" {
			failed = append(failed, fetched())
		}
		args := slices.Concat([]string{"test", "-json", "-vet=off", "-timeout=20m"}, s.flags, s.packages)
		c := command(ctx, "go", args...)
		c.Stdout = nil
		stdout, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			return err
		}
		err = r.follow(s.name, stdout)
		if err = errors.Join(err, c.Wait()); err != nil {
			failed = append(failed, fmt.Errorf("the tests %s: %w", s.name, err))
		}
	}
	return errors.Join(failed...)
}

// command gives a program that writes where this one does, and is interrupted
// with it.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, args...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	return c
}

// short gives the name of a package inside of the module.
func short(name string) string { return strings.TrimPrefix(name, "fulmen/") }
