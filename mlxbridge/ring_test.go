package mlxbridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// ringDeadline is how long a ring may take in all. MLX itself waits for a rank
// that does not come for ever.
const ringDeadline = 3 * time.Minute

// inUse is how a rank's error says that its port was taken.
const inUse = "Couldn't bind socket"

// startRing runs a command in a ring of processes on the loopback interface, and
// fails the test unless all succeed. MLX opens the ports itself, so another process
// may take one between the choice and the use; then all starts again with others.
func startRing(t *testing.T, ranks int, command func(context.Context) *exec.Cmd) {
	t.Helper()
	if !Available("ring") {
		t.Skip("this MLX has no ring backend")
	}
	ctx, cancel := context.WithTimeout(t.Context(), ringDeadline)
	defer cancel()
	for {
		err := ringOnce(ctx, t.TempDir(), ranks, command)
		if err == nil {
			return
		}
		if !strings.Contains(err.Error(), inUse) {
			t.Fatal(err)
		}
		t.Log("a port was taken, again with others")
	}
}

// ringOnce runs the ring and returns the first failure; one rank's end by failure
// ends the others.
func ringOnce(ctx context.Context, folder string, ranks int, command func(context.Context) *exec.Cmd) error {
	hostfile := filepath.Join(folder, "hosts.json")
	if err := writeHostfile(hostfile, ranks); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var first error
	var once sync.Once
	var wait sync.WaitGroup
	for rank := range ranks {
		cmd := command(ctx)
		cmd.Env = append(cmd.Environ(), fmt.Sprintf("MLX_RANK=%d", rank), "MLX_HOSTFILE="+hostfile, "FULMEN_TEST_FOLDER="+folder)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		wait.Go(func() {
			if err := cmd.Run(); err != nil {
				once.Do(func() { first = fmt.Errorf("rank %d of %d: %w\n%s", rank, ranks, err, out.String()) })
				cancel()
			}
		})
	}
	wait.Wait()
	return first
}

// writeHostfile chooses a free port for every rank.
func writeHostfile(path string, ranks int) error {
	var hosts [][]string
	for range ranks {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		defer l.Close() // not before all are chosen, so that they differ
		hosts = append(hosts, []string{l.Addr().String()})
	}
	data, err := json.Marshal(hosts)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

// playing is the command for a scenario.
func playing(scenario string) func(context.Context) *exec.Cmd {
	return func(ctx context.Context) *exec.Cmd { return child(ctx, scenario) }
}

func TestRing(t *testing.T) {
	t.Run("collectives", func(t *testing.T) { startRing(t, 3, playing("collectives")) })
	t.Run("barrier", func(t *testing.T) { startRing(t, 2, playing("barrier")) })
}

func TestRingLosesPeer(t *testing.T) { startRing(t, 2, playing("lost-peer")) }

// A port that is taken is an error that the launcher can tell from others.
func TestRingPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	hostfile := filepath.Join(t.TempDir(), "hosts.json")
	text := fmt.Sprintf("[[%q],[%q]]", l.Addr(), l.Addr())
	if err := os.WriteFile(hostfile, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), ringDeadline)
	defer cancel()
	out, err := child(ctx, "collectives", "MLX_RANK=0", "MLX_HOSTFILE="+hostfile).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(out), inUse) {
		t.Fatalf("%v\n%s", err, out)
	}
}
