package input_test

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/peer/peertest"
	"fulmen/daemon/internal/rank/input"
	"fulmen/daemon/internal/rank/ranktest"
	"fulmen/daemon/internal/rank/shim"
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
	return h.Clock.AfterFunc(d/500, f)
}

// adas is the job of the rank, and ada's.
var adas = peertest.Job(api.JobSpec{Job: rank.Job, Principal: ada}, 1, here)

// rig is a node with one rank, and another node that gives it input.
type rig struct {
	t        *testing.T
	spec     shimproto.Spec
	shim     *ranktest.Shim
	ended    chan struct{}
	scenario *peertest.Network
	giver    *peer.Peers
}

func newRig(t *testing.T, script string) *rig {
	t.Helper()
	scenario := peertest.NewNetwork()
	r := &rig{t: t, spec: ranktest.Spec(t, script), ended: make(chan struct{}), scenario: scenario, giver: peer.New(there, scenario.Add(there), peertest.GateFor(there, nil, nil))}
	r.spec.Stdin = shimproto.StdinSocket
	r.daemon()
	return r
}

// daemon starts the node's daemon, in place of one that was killed.
func (r *rig) daemon() {
	r.t.Helper()
	clock, err := native.SystemClock()
	if err != nil {
		r.t.Fatal(err)
	}
	input.New(input.Config{
		Peers: peer.New(here, r.scenario.Add(here), peertest.GateFor(here, clock, adas)), Clock: hurried{clock},
		Shim: func(ref api.RankRef) (string, uint64, bool) {
			return r.spec.Socket, uint64(r.spec.Epoch), ref == rank
		},
		Ended: func(api.RankRef) <-chan struct{} { return r.ended },
	})
}

// start runs the rank, and returns when its shim listens.
func (r *rig) start() {
	r.t.Helper()
	r.shim = ranktest.Start(r.t, r.spec)
	go func() {
		<-r.shim.Gone
		close(r.ended)
	}()
	eventually(r.t, "the shim", func() bool {
		for _, path := range []string{r.spec.Socket, shim.InputSocket(r.spec.Socket)} {
			conn, err := net.Dial("unix", path)
			if err != nil {
				return false
			}
			conn.Close()
		}
		return true
	})
}

// printed is what the rank printed so far.
func (r *rig) printed() string {
	text, _ := os.ReadFile(filepath.Join(r.spec.Folder, "out.1"))
	return string(text)
}

// giver is a connection that gives the rank input.
type giver struct {
	t    *testing.T
	conn net.Conn
	to   *peer.Writer
	from *peer.Reader
}

func (r *rig) open(by api.Principal) *giver {
	r.t.Helper()
	conn, err := r.giver.Stream(r.t.Context(), here, api.PeerConn{Carries: api.ConnInput, Rank: rank, Input: &api.PeerInput{By: by}})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { conn.Close() })
	return &giver{t: r.t, conn: conn, to: peer.NewWriter(conn), from: peer.NewReader(conn)}
}

// next is the next message that is no beat.
func (g *giver) next() peer.Message {
	g.t.Helper()
	_ = g.conn.SetReadDeadline(time.Now().Add(timeout))
	for {
		m, err := g.from.Next()
		if err != nil {
			g.t.Fatal(err)
		}
		if _, beat := m.(peer.Beat); !beat {
			return m
		}
	}
}

// taken reads until the rank has taken so much.
func (g *giver) taken(bytes int64) {
	g.t.Helper()
	for {
		if m, ok := g.next().(peer.Taken); ok && m.Bytes >= bytes {
			return
		}
	}
}

func (g *giver) give(offset int64, data string, end bool) {
	g.t.Helper()
	if err := g.to.Send(peer.Given{Offset: offset, Data: []byte(data), End: end}); err != nil {
		g.t.Fatal(err)
	}
}

// eventually waits for something that nothing announces to a test.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	end := time.After(timeout)
	for !is() {
		select {
		case <-end:
			t.Fatalf("still waiting for %s", what)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// pid is the program's, once it has written it down.
func (r *rig) pid() (pid int) {
	r.t.Helper()
	eventually(r.t, "the program", func() bool {
		text, _ := os.ReadFile(filepath.Join(r.spec.Folder, "pid"))
		var err error
		pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
		return err == nil
	})
	return pid
}
