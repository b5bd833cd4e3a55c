package command

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client/clienttest"
)

const (
	studio  = api.NodeID("csm7nbfrcayqev4e")
	mini    = api.NodeID("axwfk1even66ca3j")
	book    = api.NodeID("j79r4zr55xd4ph64")
	guestID = api.NodeID("9dw0ceww496t64df")

	clusterID = api.ClusterID("1627a5fa4a54af2e098cf3ca6dfb55b5")
)

// rig is a command line with a daemon that answers as a test says.
type rig struct {
	t      *testing.T
	daemon *clienttest.Daemon
	app    App
	out    lines
	err    lines
}

// lines is what was written, and can be waited for.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.more != nil {
		close(l.more)
		l.more = nil
	}
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// await waits until something was written.
func (l *lines) await(t *testing.T, want string) {
	t.Helper()
	for {
		l.mu.Lock()
		found := strings.Contains(l.text.String(), want)
		if l.more == nil {
			l.more = make(chan struct{})
		}
		more := l.more
		l.mu.Unlock()
		if found {
			return
		}
		select {
		case <-more:
		case <-t.Context().Done():
			t.Fatalf("%q was not written", want)
		}
	}
}

// newRig starts a daemon that says of itself that it is mac-studio, with
// mac-mini, which it added, and macbook, which mac-mini added.
func newRig(t *testing.T, input string) *rig {
	t.Helper()
	is := is.New(t)
	home, err := os.MkdirTemp("/tmp", "fulmen") // paths of sockets are short
	is.NoErr(err)
	t.Cleanup(func() { os.RemoveAll(home) })
	r := &rig{t: t}
	r.daemon, err = clienttest.Start(home)
	is.NoErr(err)
	t.Cleanup(func() { r.daemon.Close() })
	env := map[string]string{"FULMEN_HOME": home}
	r.app = App{
		Version: "1.0.0", In: strings.NewReader(input), Out: &r.out, Err: &r.err, Now: func() time.Time { return now() },
		Environment: api.Environment{OS: "linux", UID: 1000, Getenv: func(name string) string { return env[name] }},
	}
	r.daemon.Always("cluster.peers", api.ClusterPeersResult{Cluster: clusterID, Members: roster3()})
	r.daemon.Always("node.list", api.NodeListResult{Nodes: []api.NodeView{
		{Node: studio, ShortName: "mac-studio", Self: true, Liveness: api.LivenessAlive},
		{Node: mini, ShortName: "mac-mini", Liveness: api.LivenessAlive},
		{Node: book, ShortName: "macbook", Liveness: api.LivenessAsleep},
	}})
	return r
}

func now() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }

func before(d time.Duration) api.Time { return api.TimeOf(now().Add(-d)) }

func roster3() []api.Member {
	return []api.Member{
		{Node: studio, ShortName: "mac-studio", AddedBy: studio, AddedAt: before(9 * time.Hour)},
		{Node: mini, ShortName: "mac-mini", AddedBy: studio, AddedAt: before(8 * time.Hour)},
		{Node: book, ShortName: "macbook", AddedBy: mini, AddedAt: before(7 * time.Hour)},
	}
}

// terminal makes the input one at which somebody sits; secrets are lines of
// their own, which are not part of it.
func (r *rig) terminal(secrets ...string) {
	r.app.InTerminal = true
	r.app.Secret = func(context.Context) (string, error) {
		if len(secrets) == 0 {
			return "", io.EOF
		}
		one := secrets[0]
		secrets = secrets[1:]
		return one, nil
	}
}

// run runs a command line and gives its exit status.
func (r *rig) run(args ...string) int { return r.app.Run(r.t.Context(), args) }

// called are the parameters of the calls of a method.
func (r *rig) called(method string) []string {
	var out []string
	for _, c := range r.daemon.Calls() {
		if c.Method == method {
			out = append(out, c.Params)
		}
	}
	return out
}

// pendingDoc is the document of a Mac that asks.
func pendingDoc(t *testing.T, p api.Pending) api.Document {
	t.Helper()
	d := api.Document{Node: studio, Kind: api.KindPending, Name: string(p.Peer), Inc: 1, Seq: 1, At: before(0)}
	is.New(t).NoErr(d.SetValue(p))
	return d
}
