package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// timeout is the deadline of everything that a test waits for.
const timeout = 2 * time.Minute

// asFulmend makes the test binary fulmend.
const asFulmend = "FULMEN_TEST_AS_FULMEND"

func TestMain(m *testing.M) {
	if os.Getenv(asFulmend) == "" {
		os.Exit(m.Run())
	}
	if os.Getenv("LISTEN_FDS") != "" {
		// A parent in Go does not know the number of its child before it has started it.
		os.Setenv("LISTEN_PID", strconv.Itoa(os.Getpid()))
	}
	main()
}

// newHome is a folder for a daemon with a path that is short enough for sockets.
func newHome(t *testing.T, config string) string {
	t.Helper()
	is := is.New(t)
	folder, err := os.MkdirTemp("", "fk")
	is.NoErr(err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	is.NoErr(os.WriteFile(filepath.Join(folder, api.ConfigFile), []byte(config), 0o600))
	return folder
}

// fulmend is the program in a home, with files as its descriptors from 3 on.
func fulmend(program, home string, files ...*os.File) *exec.Cmd {
	c := exec.Command(program, "run", "--simulate", "two-studios:studio-1", "--worker", filepath.Join(home, "no-worker"))
	c.Env = append(os.Environ(), asFulmend+"=1", api.EnvHome+"="+home)
	if len(files) > 0 {
		c.Env, c.ExtraFiles = append(c.Env, "LISTEN_FDS="+strconv.Itoa(len(files)), "LISTEN_FDNAMES=unix:api"), files
	}
	return c
}

// keeper does what launchd and systemd do for a daemon: it holds its sockets, starts
// it when somebody connects, and starts it again when it does not end with 0.
type keeper struct {
	t       *testing.T
	home    string
	socket  string
	files   []*os.File
	quit    *os.File // closed to end the waiting
	quits   *os.File
	running sync.WaitGroup
	ends    chan int // how each process ended

	mu      sync.Mutex
	process *os.Process
	over    bool
}

func keep(t *testing.T, home string, listeners ...net.Listener) *keeper {
	t.Helper()
	is := is.New(t)
	k := &keeper{t: t, home: home, ends: make(chan int, 64)}
	for _, l := range listeners {
		if l.Addr().Network() == "unix" {
			k.socket = l.Addr().String()
		}
		file, err := l.(interface{ File() (*os.File, error) }).File()
		is.NoErr(err)
		k.files = append(k.files, file)
		t.Cleanup(func() { file.Close(); l.Close() })
	}
	var err error
	k.quits, k.quit, err = os.Pipe()
	is.NoErr(err)
	k.running.Go(k.run)
	t.Cleanup(k.end)
	return k
}

// listenUnix and listenTCP are what a unit or a property list names.
func listenUnix(t *testing.T, home string) net.Listener {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(home, "held.sock"), Net: "unix"})
	is.New(t).NoErr(err)
	return l
}

func listenTCP(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	is.New(t).NoErr(err)
	return l
}

func (k *keeper) run() {
	for isAsked := k.await(); isAsked; {
		c := fulmend(os.Args[0], k.home, k.files...)
		k.mu.Lock()
		if k.over {
			k.mu.Unlock()
			return
		}
		if err := c.Start(); err != nil {
			k.t.Error(err)
			k.mu.Unlock()
			return
		}
		k.process = c.Process
		k.mu.Unlock()
		_ = c.Wait() // its status says all
		k.mu.Lock()
		k.process = nil
		k.mu.Unlock()
		k.ends <- c.ProcessState.ExitCode()
		if c.ProcessState.ExitCode() == 0 {
			isAsked = k.await()
		}
	}
}

// await waits for a connection; false where there will be none.
func (k *keeper) await() bool {
	fds := []unix.PollFd{{Fd: int32(k.quits.Fd()), Events: unix.POLLIN}}
	for _, f := range k.files {
		fds = append(fds, unix.PollFd{Fd: int32(f.Fd()), Events: unix.POLLIN})
	}
	for {
		_, err := unix.Poll(fds, -1)
		if !errors.Is(err, unix.EINTR) {
			return err == nil && fds[0].Revents == 0
		}
	}
}

// signal sends the process that runs a signal, if one does.
func (k *keeper) signal(s os.Signal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.process != nil {
		_ = k.process.Signal(s) // it may have ended
	}
}

// ended waits for the next end of a process.
func (k *keeper) ended() int {
	k.t.Helper()
	select {
	case status := <-k.ends:
		return status
	case <-time.After(timeout):
		k.t.Fatal("the daemon does not end")
		return -1
	}
}

// end ends it all.
func (k *keeper) end() {
	k.mu.Lock()
	k.over = true
	k.mu.Unlock()
	k.quit.Close()
	k.signal(os.Kill)
	k.running.Wait()
	k.quits.Close()
}

// dial connects to a socket.
func dial(t *testing.T, socket string) *client.Client {
	t.Helper()
	c, err := client.Dial(t.Context(), client.Options{Addresses: []client.Address{{Socket: socket}}, Timeout: timeout})
	is.New(t).NoErr(err)
	t.Cleanup(func() { c.Close() })
	return c
}

func call[R any](t *testing.T, c *client.Client, method string, params any) R {
	t.Helper()
	result, err := client.Call[R](t.Context(), c, method, params)
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	return result
}

// awaitCondition watches until there is a condition, or none any more.
func awaitCondition(t *testing.T, c *client.Client, code api.Reason, isThere bool) (found api.Condition) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	var view client.View
	for event, err := range c.Watch(ctx, api.StateSelect{Kinds: []api.Kind{api.KindCondition}}) {
		if err != nil {
			t.Fatalf("watching for %s: %v", code, err)
		}
		view.Apply(event)
		has := false
		for _, d := range view.Docs() {
			var condition api.Condition
			if json.Unmarshal(d.Value, &condition) == nil && condition.Code == code {
				found, has = condition, true
			}
		}
		if has == isThere {
			return found
		}
	}
	t.Fatalf("%s: never so", code)
	return found
}

// ready is a log in which the daemon says that it is.
type ready struct {
	mu       sync.Mutex
	seen     chan struct{}
	reported bool
}

// Write looks for the word.
func (r *ready) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.reported && bytes.Contains(p, []byte("msg=ready")) {
		r.reported = true
		close(r.seen)
	}
	return len(p), nil
}

// again waits for the word anew.
func (r *ready) again() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reported, r.seen = false, make(chan struct{})
}

func (r *ready) await(t *testing.T) {
	t.Helper()
	r.mu.Lock()
	seen := r.seen
	r.mu.Unlock()
	select {
	case <-seen:
	case <-time.After(timeout):
		t.Fatal("the daemon is not ready")
	}
}
