package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// begin starts the stubs' cluster.
func begin(t *testing.T, wrong string, o Options) (*Cluster, error) {
	t.Helper()
	is := is.New(t)
	t.Setenv(mode, wrong)
	program, err := os.Executable()
	is.NoErr(err)
	o.Fulmend, o.Scenario = program, "stub"
	o.Folder, err = os.MkdirTemp("/tmp", "fulmen") // paths of sockets are short
	is.NoErr(err)
	t.Cleanup(func() { os.RemoveAll(o.Folder) })
	c, err := Start(t.Context(), o)
	t.Cleanup(func() { c.Close() })
	return c, err
}

// pids are the processes of a cluster.
func pids(c *Cluster) []int {
	out := []int{c.world.cmd.Process.Pid}
	for _, n := range c.Nodes {
		out = append(out, n.process.cmd.Process.Pid)
	}
	return out
}

// areGone fails unless no process is left.
func areGone(t *testing.T, all []int) {
	t.Helper()
	for _, pid := range all {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process %d is left: %v", pid, err)
		}
	}
}

// whole pairs a cluster and waits until it is whole.
func whole(t *testing.T, c *Cluster) error {
	t.Helper()
	ctx, stop := context.WithDeadline(t.Context(), c.Deadline)
	defer stop()
	if err := c.Pair(ctx); err != nil {
		return err
	}
	return c.Complete(ctx, func(State) error { return nil })
}

func TestClusterBecomesWholeAndLeavesNothing(t *testing.T) {
	is := is.New(t)
	var reported []string
	c, err := begin(t, "sound", Options{Print: func(s string) { reported = append(reported, s) }})
	is.NoErr(err)
	is.NoErr(whole(t, c))
	is.Equal(reported, []string{"Starting 3 daemons…", "Pairing b with a…", "Pairing c with a…"})
	is.Equal(string(c.ID), "1627a5fa4a54af2e098cf3ca6dfb55b5")
	state := c.look(t.Context())
	is.Equal(len(state.Missing), 0)
	is.Equal(state.Nodes[2], NodeState{Mac: "c", ID: ids()["c"], Liveness: api.LivenessAlive, SeenBy: 2, Memory: &api.Memory{}, Paths: map[api.LinkKind]int{api.LinkTB5: 2}})
	all := pids(c)
	is.NoErr(c.Close())
	areGone(t, all)
}

func TestFirstMacsOnly(t *testing.T) {
	is := is.New(t)
	c, err := begin(t, "sound", Options{Nodes: 2})
	is.NoErr(err)
	is.NoErr(whole(t, c))
	is.Equal(len(c.Nodes), 2)
	_, err = begin(t, "sound", Options{Nodes: 4})
	is.True(strings.Contains(err.Error(), "The scenario stub has 3 Macs, not 4."))
}

// TestWhatIsInTheWayIsNamed has one part of a cluster fail.
func TestWhatIsInTheWayIsNamed(t *testing.T) {
	for _, c := range []struct {
		wrong   string
		within  time.Duration
		reports string
		reason  api.Reason
	}{
		{"no-world", 0, "The simulated world ended (exit code 2).\nfulmend: there is no scenario stub", api.ReasonInternal},
		{"no-b", 0, "The daemon of b ended (exit code 1).\nfulmend: the disk is full", api.ReasonInternal},
		{"deaf-b", 10 * time.Second, "Timed out waiting for b to join a.\nNo verified path leads to the node.", api.ReasonDeadline},
		{"blind-c", 10 * time.Second, "every Mac to see the state of all the others.\nc has no memory document of a\nc has no memory document of b", api.ReasonDeadline},
	} {
		t.Run(c.wrong, func(t *testing.T) {
			reported := ""
			// A busy machine may need longer to come as far as to what is in the way.
			for within := c.within; reported == "" || !strings.HasSuffix(reported, c.reports) && within > 0 && within <= 8*c.within; within *= 2 {
				cluster, err := begin(t, c.wrong, Options{Within: within})
				if err == nil {
					err = whole(t, cluster)
				}
				e := api.AsError(err)
				is.New(t).Equal(e.Data.Reason, c.reason)
				reported = e.Message
				for _, cause := range e.Data.Causes {
					reported += "\n" + cause.Message
				}
			}
			if !strings.HasSuffix(reported, c.reports) {
				t.Errorf("it says %q", reported)
			}
		})
	}
}

func TestDaemonThatIsKilledIsShown(t *testing.T) {
	is := is.New(t)
	c, err := begin(t, "sound", Options{})
	is.NoErr(err)
	is.NoErr(whole(t, c))
	is.NoErr(c.Nodes[1].process.cmd.Process.Kill())
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	is.NoErr(c.Follow(ctx, func(s State) (bool, error) {
		return s.Nodes[1].Ended == "signal: killed" && len(s.Missing) > 0 && s.Missing[0] == "the daemon of b ended (signal: killed)", nil
	}))
}

func TestWhatDoesNotEndIsKilled(t *testing.T) {
	is := is.New(t)
	c, err := begin(t, "stubborn-b", Options{})
	is.NoErr(err)
	all := pids(c)
	c.drain = 200 * time.Millisecond
	err = c.Close()
	is.True(strings.Contains(fmt.Sprint(err), "The daemon of b did not end within 200ms and was killed"))
	areGone(t, all)
}

func TestFollowEndsWithTheWorld(t *testing.T) {
	is := is.New(t)
	c, err := begin(t, "sound", Options{})
	is.NoErr(err)
	is.NoErr(c.world.cmd.Process.Kill())
	err = c.Follow(t.Context(), func(State) (bool, error) { return false, nil })
	is.True(strings.Contains(err.Error(), "The simulated world ended (signal: killed)."))
}

// TestNothingOutlivesTheDemo kills the program that runs a cluster.
func TestNothingOutlivesTheDemo(t *testing.T) {
	is := is.New(t)
	folder, err := os.MkdirTemp("/tmp", "fulmen")
	is.NoErr(err)
	defer os.RemoveAll(folder)
	program, err := os.Executable()
	is.NoErr(err)
	demo := exec.Command(program, "-test.run", "^TestHelperThatIsKilled$", "-test.timeout", "1m")
	demo.Env = append(os.Environ(), "FULMEN_DEMO_FOLDER="+folder)
	ready, err := demo.StdoutPipe()
	is.NoErr(err)
	is.NoErr(demo.Start())
	line := make([]byte, 6)
	_, err = io.ReadFull(ready, line)
	is.NoErr(err)
	is.Equal(string(line), "ready\n")
	is.NoErr(demo.Process.Kill())
	demo.Wait()
	deadline := time.Now().Add(time.Minute)
	for _, mac := range []string{"a", "b", "c"} {
		text, err := os.ReadFile(filepath.Join(folder, mac, "pid"))
		is.NoErr(err)
		pid, err := strconv.Atoi(string(text))
		is.NoErr(err)
		for syscall.Kill(pid, 0) == nil && !isZombie(pid) {
			if time.Now().After(deadline) {
				t.Fatalf("the daemon of %s is left", mac)
			}
		}
	}
}

// isZombie reports whether a process has ended and nobody took note.
func isZombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

// TestHelperThatIsKilled is the program of TestNothingOutlivesTheDemo.
func TestHelperThatIsKilled(t *testing.T) {
	folder := os.Getenv("FULMEN_DEMO_FOLDER")
	if folder == "" {
		t.Skip("a part of another test")
	}
	is := is.New(t)
	t.Setenv(mode, "sound")
	program, err := os.Executable()
	is.NoErr(err)
	_, err = Start(t.Context(), Options{Fulmend: program, Scenario: "stub", Folder: folder})
	is.NoErr(err)
	fmt.Println("ready")
	select {}
}
