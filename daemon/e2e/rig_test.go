package e2e

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"fulmen/daemon"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/native/nativetest/testkit"
)

// timeout is the deadline of everything that a test waits for, on a machine that
// runs others beside it.
const timeout = 4 * time.Minute

// rig is a daemon that a test runs, in a folder of its own.
type rig struct {
	t       *testing.T
	home    string
	address daemon.Address
	stop    context.CancelFunc
	ended   chan error
	log     *testkit.Log
}

// newHome makes a folder for a daemon, whose path is short enough for a socket.
func newHome(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "fulmen-e2e-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	// Any port that is free: tests run beside a daemon in use.
	if err := os.WriteFile(filepath.Join(folder, api.ConfigFile), []byte("[api]\nport = 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// start runs a daemon in a folder and waits until clients can connect.
func start(t *testing.T, folder string) *rig {
	t.Helper()
	r, err := tryStart(t, folder)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// tryStart gives the error of a daemon that does not start.
func tryStart(t *testing.T, folder string) (*rig, error) {
	t.Helper()
	return tryRun(t, folder, daemon.Options{})
}

// simulated starts a daemon on a simulated Mac.
func simulated(t *testing.T, folder, mac string) *rig {
	t.Helper()
	simulation, err := daemon.OpenSimulation(mac)
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

// tryRun runs a daemon with options, of which it fills in what every test needs.
func tryRun(t *testing.T, folder string, options daemon.Options) (*rig, error) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	r := &rig{t: t, home: folder, stop: stop, ended: make(chan error, 1), log: &testkit.Log{}}
	ready := make(chan daemon.Address, 1)
	options.Version, options.Home, options.Worker, options.Log = "0.0.0-test", environment(folder), worker(), r.log
	options.Ready = func(a daemon.Address) { ready <- a }
	go func() { r.ended <- daemon.Run(ctx, options) }()
	select {
	case r.address = <-ready:
		t.Cleanup(func() { r.end() })
		return r, nil
	case err := <-r.ended:
		stop()
		return nil, err
	case <-time.After(timeout):
		t.Fatal("the daemon is not ready")
		return nil, nil
	}
}

// end stops the daemon and gives its error. A second call does nothing.
func (r *rig) end() error {
	r.t.Helper()
	if r.stop == nil {
		return nil
	}
	r.stop()
	r.stop = nil
	select {
	case err := <-r.ended:
		return err
	case <-time.After(timeout):
		r.t.Fatal("the daemon does not stop; its log:\n" + r.log.String())
		return nil
	}
}

// environment is that of a daemon with everything under one folder.
func environment(folder string) api.Environment {
	return api.Environment{OS: runtime.GOOS, UID: os.Getuid(), Home: folder, Getenv: func(name string) string {
		if name == api.EnvHome {
			return folder
		}
		return ""
	}}
}

// worker is the built worker; it need not be there.
func worker() string {
	path, err := filepath.Abs(filepath.Join("..", "..", "build", "bin", "fulmen-rank"))
	if err != nil {
		panic(err)
	}
	return path
}

// needWorker skips a test that measures where the worker is not built.
func needWorker(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(worker()); err != nil {
		t.Skip("the worker is not built; make build builds it")
	}
	if testing.Short() {
		t.Skip("a measurement takes 10 s")
	}
}

// dial connects a client over the Unix socket; it is closed when the test ends.
func (r *rig) dial() *client.Client {
	r.t.Helper()
	c, err := client.Dial(context.Background(), client.Options{Addresses: []client.Address{{Socket: r.address.Socket}}})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Close() })
	return c
}

// call makes a request that must work.
func call[R any](t *testing.T, c *client.Client, method string, params any) R {
	t.Helper()
	result, err := client.Call[R](context.Background(), c, method, params)
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	return result
}

// until watches documents of a kind until one of them fits.
func until(t *testing.T, c *client.Client, kind api.Kind, what string, fits func(api.Document) bool) api.Document {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	for event, err := range c.Watch(ctx, api.StateSelect{Kinds: []api.Kind{kind}}) {
		if err != nil {
			t.Fatalf("watching for %s: %v", what, err)
		}
		for _, document := range event.Put {
			if fits(document) {
				return document
			}
		}
	}
	t.Fatalf("no %s", what)
	return api.Document{}
}
