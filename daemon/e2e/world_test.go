package e2e

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon"
	"fulmen/daemon/api"
	"fulmen/native"
	"fulmen/native/sim"
	"fulmen/native/sim/remote"
	"fulmen/native/sim/scenario"
)

// sharedWorld hosts a scenario at a socket, and gives what ends it.
func sharedWorld(t *testing.T, name string) (socket string, end func()) {
	t.Helper()
	is := is.New(t)
	plan, err := scenario.Load(name)
	is.NoErr(err)
	clock, err := native.SystemClock()
	is.NoErr(err)
	world, err := sim.New(plan, clock)
	is.NoErr(err)
	folder, err := os.MkdirTemp("", "e2e")
	is.NoErr(err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	socket = filepath.Join(folder, "world.sock")
	listener, err := net.Listen("unix", socket)
	is.NoErr(err)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- remote.Serve(ctx, listener, world) }()
	ended := false
	end = func() {
		if ended {
			return
		}
		ended = true
		cancel()
		is.NoErr(<-served)
		is.NoErr(world.Close())
	}
	t.Cleanup(end)
	return socket, end
}

// joined starts a daemon on a Mac of a world of another process.
func joined(t *testing.T, folder, mac, socket string) *rig {
	t.Helper()
	simulation, err := daemon.JoinSimulation(t.Context(), mac, socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { simulation.World.Close() })
	r, err := tryRun(t, folder, daemon.Options{Simulation: simulation})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Two daemons on one world: what one changes, the other's Mac feels; a daemon
// that starts again finds its Mac; and one whose world is gone keeps what it
// knew, and says what is wrong.
func TestDaemonsShareAWorld(t *testing.T) {
	is := is.New(t)
	socket, end := sharedWorld(t, "two-studios")
	folder := newHome(t)
	one := joined(t, folder, "two-studios:studio-1", socket)
	two := joined(t, newHome(t), "two-studios:studio-2", socket)
	first, second := one.dial(), two.dial()
	node := call[api.DaemonInfoResult](t, first, "daemon.info", nil)
	is.Equal(node.Scenario, "two-studios")

	settled(t, first, api.KindThunderbolt, "4", "a cable", isPlugged)
	change(t, second, "unplug studio-2.tb4")
	settled(t, first, api.KindThunderbolt, "4", "no cable", isEmpty)

	is.NoErr(one.end())
	one = joined(t, folder, "two-studios:studio-1", socket)
	first = one.dial()
	is.Equal(call[api.DaemonInfoResult](t, first, "daemon.info", nil).Node, node.Node)
	settled(t, first, api.KindThunderbolt, "4", "still no cable", isEmpty)

	end()
	silent := until(t, first, api.KindThunderbolt, "silence", func(d api.Document) bool { return d.Name == "4" && d.Unknown["thunderbolt"] != "" })
	var port api.Thunderbolt
	is.NoErr(silent.Decode(&port))
	is.True(isEmpty(port)) // as it was
	eventually(t, "word in the log", soon, func() bool {
		return strings.Contains(one.log.String(), "the simulated world at "+socket+" is gone")
	})
	is.NoErr(one.end())
}
