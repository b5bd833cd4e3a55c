package e2e

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/netns"
	"fulmen/daemon/e2e/testcluster"
)

// newSpace makes a namespace, or skips the test where that is not possible.
func newSpace(t *testing.T, name string) *netns.Space {
	t.Helper()
	s, err := netns.New(name)
	if err != nil {
		t.Skipf("no network namespaces here: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

// newNetwork makes a network and plugs hosts in.
func newNetwork(t *testing.T, at *netns.Space, name string, plugs ...plug) *netns.Network {
	t.Helper()
	n, err := netns.NewNetwork(at, name)
	must(t, "a network", err)
	for _, p := range plugs {
		must(t, "plugging "+p.host.Name, n.Plug(p.host.Space, p.iface, p.address))
	}
	return n
}

// plug is where a network is to end: an interface that is made, with an address.
type plug struct {
	host           *host
	iface, address string
}

// received is how many bytes have come in by an interface.
func (h *host) received(t *testing.T, iface string) uint64 {
	t.Helper()
	count, _, err := h.Traffic(iface)
	must(t, "statistics of "+iface, err)
	return count
}

// connections are the other ends of a host's TCP connections.
func (h *host) connections(t *testing.T) []string {
	t.Helper()
	all, err := h.Connections()
	must(t, "connections of "+h.Name, err)
	return all
}

// host is a machine of its own as far as networks go, with a daemon.
type host struct {
	*netns.Space
	program, folder string
	process         *exec.Cmd
	ended           chan struct{}
	client          *client.Client
	id              api.NodeID
	reported        *testcluster.Output
}

// newHost makes a host, with more in its configuration; its daemon is not running
// yet.
func newHost(t *testing.T, program, name, more string) *host {
	t.Helper()
	h := &host{Space: newSpace(t, name), program: program, folder: newHome(t), reported: &testcluster.Output{}}
	config := "[api]\nport = 0\n[log]\nlevel = \"debug\"\n" + more
	if err := os.WriteFile(filepath.Join(h.folder, api.ConfigFile), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if h.process != nil {
			h.end(t, syscall.SIGTERM)
		}
		if t.Failed() {
			t.Logf("the log of %s ends:\n%s", name, h.reported.End())
		}
	})
	return h
}

// boot starts the daemon in the host's namespace and connects to it.
func (h *host) boot(t *testing.T) {
	t.Helper()
	ready := h.reported.Await("msg=ready")
	h.process, h.ended = exec.Command(h.program), make(chan struct{})
	h.process.Env = append(os.Environ(), api.EnvHome+"="+h.folder)
	h.process.Stdout, h.process.Stderr = h.reported, h.reported
	if err := h.Start(h.process); err != nil {
		h.process = nil
		t.Fatal(err)
	}
	go func() {
		h.process.Wait()
		close(h.ended)
	}()
	h.ready(t, ready)
}

// ready waits until the daemon can be connected to, and connects.
func (h *host) ready(t *testing.T, ready <-chan struct{}) {
	t.Helper()
	select {
	case <-ready:
	case <-h.ended:
		h.process = nil
		t.Fatalf("the daemon of %s ended: %s", h.Name, h.reported.End())
	case <-time.After(timeout):
		t.Fatalf("the daemon of %s is not ready in %v", h.Name, timeout)
	}
	if h.client != nil {
		h.client.Close()
	}
	// A socket of the file system is the same in every network namespace.
	c, err := client.Dial(context.Background(), client.Options{Addresses: []client.Address{{Socket: filepath.Join(h.folder, "run", api.SocketFile)}}})
	must(t, "connecting to "+h.Name, err)
	h.client = c
	h.id = call[api.DaemonInfoResult](t, c, "daemon.info", nil).Node
}

// end ends the daemon with a signal and waits for its end.
func (h *host) end(t *testing.T, signal os.Signal) {
	t.Helper()
	if h.client != nil {
		h.client.Close()
	}
	if err := h.process.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
	select {
	case <-h.ended:
	case <-time.After(30 * time.Second):
		t.Errorf("the daemon of %s does not end by %v", h.Name, signal)
		h.process.Process.Kill()
		<-h.ended
	}
	h.process, h.client = nil, nil
}
