package output_test

import (
	"net"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/peer/peertest"
	"fulmen/daemon/internal/rank/output"
	"fulmen/daemon/internal/rank/ranktest"
	"fulmen/daemon/internal/rank/shimproto"
	"fulmen/native"
)

const (
	here  = api.NodeID("cpv0cwypxp44qw0p")
	there = api.NodeID("71532pmrr5f6wz0c")
	// timeout is how long a test waits for what must come.
	timeout = 2 * time.Minute
)

var (
	rank = api.RankRef{Job: "j4k2m9xq7", Attempt: 1, Rank: 1}
	ada  = api.Principal{User: "ada", Node: there}
	eve  = api.Principal{User: "eve", Node: there}
)

func TestMain(m *testing.M) { ranktest.Main(m) }

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
	shim   *ranktest.Shim
	ended  chan struct{} // what the supervisor says
	reader *peer.Peers
}

func newRig(t *testing.T, script string) *rig {
	t.Helper()
	spec := ranktest.Spec(t, script)
	folder := spec.Folder
	clock, err := native.SystemClock()
	if err != nil {
		t.Fatal(err)
	}
	scenario := peertest.NewNetwork()
	r := &rig{t: t, folder: folder, spec: spec, ended: make(chan struct{}), reader: peer.New(there, scenario.Add(there), peertest.GateFor(there, clock, nil))}
	s := output.New(output.Config{
		Peers: peer.New(here, scenario.Add(here), peertest.GateFor(here, clock, peertest.Job(api.JobSpec{Job: rank.Job, Principal: ada}, 1, here))), Clock: hurried{clock},
		Folder: func(ref api.RankRef) (string, bool) { return folder, ref == rank },
		Ended:  func(api.RankRef) <-chan struct{} { return r.ended },
	})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// start runs the rank and returns a channel that is closed when its shim is gone.
func (r *rig) start() <-chan struct{} {
	r.t.Helper()
	r.shim = ranktest.Start(r.t, r.spec)
	return r.shim.Gone
}

// release lets a script go on that waits for it.
func (r *rig) release(name string) { r.t.Helper(); ranktest.Touch(r.t, r.spec, name) }

// got is what a reader was sent.
type got struct {
	t       *testing.T
	conn    net.Conn
	from    *peer.Reader
	text    map[api.OutputStream][]byte
	offset  map[api.OutputStream]int64 // of the next byte
	skipped int64
	beats   int
	end     *peer.End
	refused *api.Error
}

func (r *rig) open(want api.PeerOutput) *got {
	r.t.Helper()
	conn, err := r.reader.Stream(r.t.Context(), here, api.PeerConn{Carries: api.ConnOutput, Rank: rank, Output: &want})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { conn.Close() })
	return &got{t: r.t, conn: conn, from: peer.NewReader(conn), text: map[api.OutputStream][]byte{}, offset: map[api.OutputStream]int64{}}
}

// until reads until the condition holds or the stream has ended.
func (g *got) until(enough func() bool) *got {
	g.t.Helper()
	_ = g.conn.SetReadDeadline(time.Now().Add(timeout))
	for g.end == nil && g.refused == nil && !enough() {
		m, err := g.from.Next()
		if err != nil {
			g.t.Fatal(err)
		}
		switch m := m.(type) {
		case peer.Piece:
			if next, seen := g.offset[m.Stream]; seen && next != m.Offset-m.Skipped {
				g.t.Fatalf("a piece at %d after %d skipped, where %d ended", m.Offset, m.Skipped, next)
			}
			g.offset[m.Stream] = m.Offset + int64(len(m.Data))
			g.skipped += m.Skipped
			g.text[m.Stream] = append(g.text[m.Stream], m.Data...)
		case peer.Beat:
			g.beats++
		case peer.End:
			g.end = &m
		case peer.Refused:
			g.refused = m.Error
		}
	}
	return g
}

func (g *got) all() *got { g.t.Helper(); return g.until(func() bool { return false }) }

func (g *got) out() string { return string(g.text[api.StreamOut]) }
