package output_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/peer/peertest"
	"fulmen/daemon/internal/peer/rankio"
	"fulmen/daemon/internal/rank/output"
	"fulmen/daemon/internal/rank/shim"
	"fulmen/daemon/internal/rank/shimproto"
	"fulmen/native"
)

const (
	here  = api.NodeID("0000000000000000")
	there = api.NodeID("1111111111111111")
	// patience is how long a test waits for what must come.
	patience = 30 * time.Second
)

var (
	rank  = api.RankRef{Job: "j4k2m9xq7", Attempt: 1, Rank: 1}
	ada   = api.Principal{User: "ada", Node: there}
	eve   = api.Principal{User: "eve", Node: there}
	named = api.NewError(api.ReasonNotYourJob, "j4k2m9xq7")
)

// TestMain makes this program a shim when it is called as one.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "shim" {
		clock, err := native.SystemClock()
		if err == nil {
			err = shim.Run(os.Args[2], clock, os.Stderr)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// hurried is a clock on which beats come at once.
type hurried struct{ native.Clock }

func (h hurried) AfterFunc(d time.Duration, f func()) native.Timer {
	return h.Clock.AfterFunc(d/1000, f)
}

// rig is a node with one rank, and another node that reads.
type rig struct {
	t      *testing.T
	folder string
	spec   shimproto.Spec
	shim   *exec.Cmd
	ended  chan struct{} // what the supervisor says
	reader *peer.Peers
}

func newRig(t *testing.T, script string) *rig {
	t.Helper()
	folder, err := os.MkdirTemp("", "output")
	if err != nil {
		t.Fatal(err)
	}
	clock, err := native.SystemClock()
	if err != nil {
		t.Fatal(err)
	}
	desk := peertest.NewDesk()
	r := &rig{t: t, folder: folder, ended: make(chan struct{}), reader: peer.New(there, desk.Add(there))}
	s := output.New(output.Config{
		Peers: peer.New(here, desk.Add(here)), Clock: hurried{clock},
		Folder: func(ref api.RankRef) (string, bool) { return folder, ref == rank },
		May: func(by api.Principal, _ api.RankRef) error {
			if by != ada {
				return named
			}
			return nil
		},
		Ended: func(api.RankRef) <-chan struct{} { return r.ended },
	})
	t.Cleanup(func() {
		if r.shim != nil {
			_ = r.shim.Process.Kill()
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		os.RemoveAll(folder)
	})
	r.spec = shimproto.Spec{
		Ref: shimproto.Ref{Job: string(rank.Job), Attempt: rank.Attempt, Rank: rank.Rank}, Epoch: 3, SpecHash: "9f2c",
		Program: "/bin/sh", Args: []string{"-c", script, "sh", folder}, Env: []string{"PATH=" + os.Getenv("PATH")}, Dir: "/", Stdin: shimproto.StdinNone,
		Socket: filepath.Join(folder, "s"), Folder: folder, LeaseS: 600, GraceS: 1, LogHeadBytes: 64 << 10, LogTailBytes: 1 << 20,
	}
	return r
}

// start runs the rank and returns a channel that is closed when its shim is gone.
func (r *rig) start() <-chan struct{} {
	r.t.Helper()
	if err := shimproto.WriteSpec(r.folder, r.spec); err != nil {
		r.t.Fatal(err)
	}
	r.shim = exec.Command(os.Args[0], "shim", r.folder)
	r.shim.Stderr = os.Stderr
	if err := r.shim.Start(); err != nil {
		r.t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() {
		_ = r.shim.Wait()
		close(gone)
	}()
	return gone
}

// release lets a script go on that waits for it.
func (r *rig) release(name string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.folder, name), nil, 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// got is what a reader was sent.
type got struct {
	t       *testing.T
	conn    net.Conn
	from    *rankio.Reader
	text    map[api.OutputStream][]byte
	offset  map[api.OutputStream]int64 // of the next byte
	skipped int64
	beats   int
	end     *rankio.End
	refused *api.Error
}

func (r *rig) open(want api.PeerOutput) *got {
	r.t.Helper()
	conn, err := r.reader.Stream(r.t.Context(), here, api.PeerConn{Carries: api.ConnOutput, Rank: rank, Output: &want})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { conn.Close() })
	return &got{t: r.t, conn: conn, from: rankio.NewReader(conn), text: map[api.OutputStream][]byte{}, offset: map[api.OutputStream]int64{}}
}

// until reads until the condition holds or the stream has ended.
func (g *got) until(enough func() bool) *got {
	g.t.Helper()
	_ = g.conn.SetReadDeadline(time.Now().Add(patience))
	for g.end == nil && g.refused == nil && !enough() {
		m, err := g.from.Next()
		if err != nil {
			g.t.Fatal(err)
		}
		switch m := m.(type) {
		case rankio.Piece:
			if next, seen := g.offset[m.Stream]; seen && next != m.Offset-m.Skipped {
				g.t.Fatalf("a piece at %d after %d skipped, where %d ended", m.Offset, m.Skipped, next)
			}
			g.offset[m.Stream] = m.Offset + int64(len(m.Data))
			g.skipped += m.Skipped
			g.text[m.Stream] = append(g.text[m.Stream], m.Data...)
		case rankio.Beat:
			g.beats++
		case rankio.End:
			g.end = &m
		case rankio.Refused:
			g.refused = m.Error
		}
	}
	return g
}

func (g *got) all() *got { g.t.Helper(); return g.until(func() bool { return false }) }

func (g *got) out() string { return string(g.text[api.StreamOut]) }
