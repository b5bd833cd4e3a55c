package files_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/peer/peertest"
	"fulmen/daemon/internal/rank/files"
	"fulmen/daemon/internal/rank/files/pack"
	"fulmen/daemon/internal/rank/files/unpack"
	"fulmen/daemon/internal/rank/files/wire"
	"fulmen/daemon/internal/rank/prepare/account"
	"fulmen/daemon/internal/rank/ranktest"
	"fulmen/native"
)

// TestMain makes this program the ends as well, as fulmend is.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && (os.Args[1] == "pack" || os.Args[1] == "unpack") {
		os.Exit(runEnd(os.Args[1]))
	}
	os.Exit(m.Run())
}

func runEnd(command string) int {
	signal.Ignore(syscall.SIGPIPE)
	clock, err := native.SystemClock()
	if err == nil && command == "pack" {
		err = pack.Run(os.Stdin, os.Stdout, clock)
	} else if err == nil {
		err = unpack.Run(os.Stdin, os.Stdout, os.NewFile(3, "reports"), clock)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

const (
	here  = api.NodeID("0000000000000000")
	there = api.NodeID("1111111111111111")
	job   = api.JobID("j00000000")
)

// scenario is two nodes; a folder of there is fetched to here.
type scenario struct {
	*peertest.Network
	here, there *files.Files
	config      files.Config
	peers       *peer.Peers // of here
	from, home  string
	who         account.Account
	sent        atomic.Int64 // bytes of the contents of files
}

// counting peers count what they are sent of the contents of files.
type counting struct {
	peer.Caller
	sent *atomic.Int64
}

func (c counting) Stream(ctx context.Context, node api.NodeID, first api.PeerConn) (net.Conn, error) {
	conn, err := c.Caller.Stream(ctx, node, first)
	return &countedConn{Conn: conn, sent: c.sent}, err
}

type countedConn struct {
	net.Conn
	sent *atomic.Int64
	head []byte // of a frame, as far as it has come
	left int    // of its body
}

func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	for rest := p[:n]; len(rest) > 0; {
		if c.left == 0 {
			c.head, rest = append(c.head, rest[0]), rest[1:]
			if len(c.head) == 5 {
				c.left = int(binary.BigEndian.Uint32(c.head[1:]))
			}
		} else {
			some := min(c.left, len(rest))
			if wire.Kind(c.head[0]) == wire.Data {
				c.sent.Add(int64(some))
			}
			c.left, rest = c.left-some, rest[some:]
		}
		if len(c.head) == 5 && c.left == 0 {
			c.head = nil
		}
	}
	return n, err
}

// newScenario makes folders of the account that an unprivileged job would have: nobody
// where this is root, else whoever runs the tests.
func newScenario(t testing.TB) *scenario {
	t.Helper()
	base, err := os.MkdirTemp("", "files")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	d := &scenario{Network: peertest.NewNetwork(), from: filepath.Join(base, "theirs", "proj"), home: filepath.Join(base, "home")}
	d.who = account.Account{Name: "me", UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Home: d.home}
	if os.Geteuid() == 0 {
		d.who = account.Account{Name: "nobody", UID: 65534, GID: 65534, Groups: []uint32{65534}, Home: d.home}
	}
	for _, dir := range []string{base, filepath.Dir(d.from), d.from, d.home} {
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.Chmod(dir, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	d.own(t)
	clock, err := native.SystemClock()
	if err != nil {
		t.Fatal(err)
	}
	config := files.Config{
		Self: ranktest.Self(t), Clock: clock, Log: slog.New(slog.DiscardHandler),
		Account: func(string) (account.Account, error) { return d.who, nil },
		Allowed: func(gate.Known) (string, string, error) { return d.from, "me", nil },
	}
	known := peertest.Job(api.JobSpec{Job: job, Principal: api.Principal{User: "me", Node: here}}, 3, here, there)
	d.config, d.peers = config, peer.New(here, d.Add(here), peertest.GateFor(here, clock, known))
	config.Peers = counting{d.peers, &d.sent}
	d.here = files.New(config)
	config.Peers = peer.New(there, d.Add(there), peertest.GateFor(there, clock, known))
	d.there = files.New(config)
	return d
}

// own gives what lies in the folders to the account.
func (d *scenario) own(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	for _, dir := range []string{d.from, d.home} {
		err := filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(name, int(d.who.UID), int(d.who.GID)))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// write puts files into the sender's folder; one whose text begins with -> is a link.
func (d *scenario) write(t testing.TB, files map[string]string) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(d.from, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		target, isLink := strings.CutPrefix(text, "->")
		var err error
		if isLink {
			err = os.Symlink(target, at)
		} else {
			err = os.WriteFile(at, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	d.own(t)
}

func (d *scenario) fetch() (string, error) {
	return d.here.Fetch(context.Background(), job, 3, there, d.who, d.from)
}

// tree reads a folder: what each path holds, or where it leads.
func tree(t testing.TB, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == root {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		relative, text := strings.TrimPrefix(name, root+"/"), ""
		switch {
		case e.IsDir():
			text = info.Mode().String()
		case e.Type() == fs.ModeSymlink:
			target, err := os.Readlink(name)
			if err != nil {
				return err
			}
			text = "->" + target
		default:
			f, err := os.Open(name)
			if err != nil {
				return err
			}
			defer f.Close()
			data, err := io.ReadAll(f)
			if err != nil {
				return err
			}
			text = fmt.Sprint(info.Mode(), info.ModTime().UnixNano(), " ", string(data))
		}
		out[relative] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
