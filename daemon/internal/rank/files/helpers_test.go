package files_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/gate/gatetest"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/peer/peertest"
	"fulmen/daemon/internal/rank/files"
	"fulmen/daemon/internal/rank/files/pack"
	"fulmen/daemon/internal/rank/files/unpack"
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

// desk is two nodes; a folder of there is fetched to here.
type desk struct {
	*peertest.Desk
	here, there *files.Files
	config      files.Config
	peers       *peer.Peers // of here
	from, home  string
	who         account.Account
}

// newDesk makes folders of the account that an unprivileged job would have: nobody
// where this is root, else whoever runs the tests.
func newDesk(t testing.TB) *desk {
	t.Helper()
	base, err := os.MkdirTemp("", "files")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	d := &desk{Desk: peertest.NewDesk(), from: filepath.Join(base, "theirs", "proj"), home: filepath.Join(base, "home")}
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
	known := gatetest.Job(api.JobSpec{Job: job, Principal: api.Principal{User: "me", Node: here}}, 3, here, there)
	d.config, d.peers = config, peer.New(here, d.Add(here), gatetest.For(here, clock, known))
	config.Peers = d.peers
	d.here = files.New(config)
	config.Peers = peer.New(there, d.Add(there), gatetest.For(there, clock, known))
	d.there = files.New(config)
	return d
}

// own gives what lies in the folders to the account.
func (d *desk) own(t testing.TB) {
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
func (d *desk) write(t testing.TB, files map[string]string) {
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

func (d *desk) fetch(progress func(done, total int64)) (string, error) {
	return d.here.Fetch(context.Background(), job, 3, there, d.who, d.from, progress)
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
