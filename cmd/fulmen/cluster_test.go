package main

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/testcluster"
	"fulmen/native"
	"fulmen/native/sim"
	"fulmen/native/sim/remote"
	"fulmen/native/sim/scenario"
)

// storyWithin is the deadline of what a story waits for.
const storyWithin = 2 * time.Minute

// cluster starts the daemons of simulated Macs on one desk, pairs them, and lets the
// administrators of each change RDMA on all: cluster SCENARIO MAC MAC... The
// FULMEN_HOME of each is in the variable of its name: $studio_1 of studio-1.
func cluster(ts *testscript.TestScript, _ bool, args []string) {
	file, err := filepath.Abs(args[0]) // the folder of this test
	ts.Check(err)
	plan, err := scenario.Load(file)
	ts.Check(err)
	clock, err := native.SystemClock()
	ts.Check(err)
	world, err := sim.New(plan, clock)
	ts.Check(err)
	folder := ts.Getenv("FULMEN_HOME")
	socket := filepath.Join(folder, "world.sock")
	listener, err := net.Listen("unix", socket)
	ts.Check(err)
	lasts, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = remote.Serve(lasts, listener, world) // until the story ends
	}()
	ts.Defer(func() {
		stop()
		<-ended
		_ = world.Close()
	})
	ctx, cancel := context.WithTimeout(lasts, storyWithin)
	defer cancel()

	var clients []*client.Client
	for _, mac := range args[1:] {
		home := filepath.Join(folder, mac)
		ts.Check(os.Mkdir(home, 0o700))
		ts.Check(os.WriteFile(filepath.Join(home, "config.toml"), []byte("[api]\nport = 0\n"), 0o600))
		ts.Setenv(strings.ReplaceAll(mac, "-", "_"), home)
		ts.Setenv("FULMEN_HOME", home)
		start(ts, false, []string{file + ":" + mac, socket})
		c, err := client.Dial(ctx, client.Options{Addresses: []client.Address{{Socket: filepath.Join(home, "run", "fulmen.sock")}}})
		ts.Check(err)
		ts.Defer(func() { _ = c.Close() })
		clients = append(clients, c)
	}
	first, err := client.Call[api.DaemonInfoResult](ctx, clients[0], "daemon.info", nil)
	ts.Check(err)
	for _, c := range clients[1:] {
		ts.Check(testcluster.Join(ctx, clients[0], first.Node, c, ""))
	}
	for _, c := range clients {
		ts.Check(testcluster.SeesAlive(ctx, c, len(clients)))
		_, err := client.Call[api.Sharing](ctx, c, "cluster.set_sharing", api.ClusterSetSharingParams{RDMAChanges: api.ChangesMembers})
		ts.Check(err)
	}
	ts.Setenv("FULMEN_HOME", ts.Getenv(strings.ReplaceAll(args[1], "-", "_")))
}

// becomes repeats a command until a line of what it prints matches: becomes PATTERN
// COMMAND... What documents say arrives when it likes.
func becomes(ts *testscript.TestScript, _ bool, args []string) {
	pattern, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	var expectLine bytes.Buffer
	// A command prints once, and nothing announces what it would print next.
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(storyWithin); time.Now().Before(end); <-tick.C {
		cmd := program(ts, args[1], args[2:]...)
		expectLine.Reset()
		out := bufio.NewWriter(&expectLine)
		cmd.Stdout, cmd.Stderr = out, out
		_ = cmd.Run() // the text decides
		_ = out.Flush()
		if pattern.Match(expectLine.Bytes()) {
			return
		}
	}
	ts.Fatalf("%q did not come to say %q; it said last:\n%s", args[1:], args[0], expectLine.String())
}
