package endpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/native"
	"fulmen/native/memnet"
)

const self = api.NodeID("0000000000000000")

var (
	ada = api.Principal{User: "ada", Node: self}
	bob = api.Principal{User: "bob", Node: "1111111111111111"}
)

// listener is one in memory.
type listener struct {
	conns chan net.Conn
	ended chan struct{}
	once  sync.Once
}

func newListener() *listener {
	return &listener{conns: make(chan net.Conn), ended: make(chan struct{})}
}

func (d *listener) Accept() (net.Conn, error) {
	select {
	case conn := <-d.conns:
		return conn, nil
	case <-d.ended:
		return nil, net.ErrClosed
	}
}

func (d *listener) Close() error {
	d.once.Do(func() { close(d.ended) })
	return nil
}

func (*listener) Addr() net.Addr { return &net.TCPAddr{} }

// dial connects to it from an address.
func (d *listener) dial(from, to string) (net.Conn, error) {
	near := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(from))
	far := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(to))
	a, b := memnet.NewLine(1, memnet.Quality{}).Pipe(near, far)
	select {
	case d.conns <- b:
		return a, nil
	case <-d.ended:
		return nil, errors.New("refused")
	}
}

// engine is a program that answers, as rank 0 of a job.
type engine struct {
	*listener
	server *http.Server

	mu    sync.Mutex
	asked []string // bodies
}

// bodies are what it was asked.
func (g *engine) bodies() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.asked
}

// kill ends it as SIGKILL does.
func (g *engine) kill() { g.server.Close() }

// rig is an endpoint and the cluster that it sees, in memory.
type rig struct {
	*Endpoint
	is       *is.I
	at       *listener
	settings Settings

	mu      sync.Mutex
	known   map[api.JobID]gate.Known
	engines map[api.RankRef]*engine
	denied  bool
	asleep  atomic.Bool // the Mac of rank 0
	owner   error
}

// newRig makes one in a bubble.
func newRig(t *testing.T) *rig {
	began := time.Now()
	r := &rig{is: is.New(t), at: newListener(), known: map[api.JobID]gate.Known{}, engines: map[api.RankRef]*engine{}, settings: Settings{Wait: 30 * time.Second}}
	r.Endpoint = New(Config{
		Node: self, Clock: native.ClockFrom(time.Now, func() time.Duration { return time.Since(began) }), Log: slog.New(slog.DiscardHandler),
		Job: func(id api.JobID) (gate.Known, bool) {
			r.mu.Lock()
			defer r.mu.Unlock()
			k, found := r.known[id]
			return k, found
		},
		IsAwake: func(api.NodeID) bool { return !r.asleep.Load() },
		May:     func(by, of api.Principal) bool { return by == of || by == ada && of == bob },
		Dial: func(_ context.Context, by api.Principal, rank api.RankRef, _ api.NodeID, port int) (net.Conn, error) {
			r.mu.Lock()
			g, denied := r.engines[rank], r.denied
			r.mu.Unlock()
			if denied {
				return nil, api.NewError(api.ReasonPeerNotAllowed, by.String())
			}
			if g == nil {
				return nil, errors.New("nothing listens")
			}
			return g.dial("127.0.0.1:1", fmt.Sprintf("127.0.0.1:%d", port))
		},
		Key: func(text string) (uint32, error) {
			if text == "fulmen_bob" {
				return 2, nil
			}
			return 0, api.NewError(api.ReasonBadToken, "")
		},
		Owner:    func(netip.AddrPort, netip.AddrPort) (uint32, error) { return 1, r.owner },
		UserName: func(uid uint32) string { return map[uint32]string{1: "ada", 2: "bob"}[uid] },
		Settings: func() Settings { return r.settings },
	})
	go func() { _ = r.Serve(r.at) }()
	t.Cleanup(func() {
		_ = r.server.Close()
		for _, g := range r.engines {
			g.kill()
		}
		r.at.Close()
		for _, b := range r.backends {
			b.transport.CloseIdleConnections()
		}
	})
	return r
}

// serve has a job serve a model, by what answers.
func (r *rig) serve(id api.JobID, of api.Principal, model string, h http.HandlerFunc) *engine {
	g := r.start(api.RankRef{Job: id, Attempt: 1}, h)
	r.put(id, of, model, api.Job{Phase: api.JobRunning, Attempt: 1})
	return g
}

func (r *rig) start(rank api.RankRef, h http.HandlerFunc) *engine {
	g := &engine{listener: newListener()}
	g.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		g.mu.Lock()
		g.asked = append(g.asked, string(body))
		g.mu.Unlock()
		h(w, q)
	}), ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)}
	go func() { _ = g.server.Serve(g.listener) }()
	r.mu.Lock()
	r.engines[rank] = g
	r.mu.Unlock()
	return g
}

// put has the cluster know of a job's state.
func (r *rig) put(id api.JobID, of api.Principal, model string, job api.Job) {
	plan := &api.Plan{Ranks: []api.PlanRank{{Node: bob.Node}}}
	if job.Phase == api.JobRunning || job.Phase == api.JobEnding {
		job.Attempts = []api.Attempt{{Attempt: job.Attempt, Plan: plan, ReadyAt: api.TimeOf(time.Now())}}
	}
	r.mu.Lock()
	r.known[id] = gate.Known{Job: job, Spec: api.JobSpec{
		Job: id, Name: "named-" + string(id), Principal: of, Model: api.ModelSelect{Model: model}, Publish: []api.Publish{{Port: 8080}}, SubmittedAt: api.TimeOf(time.Now()),
		Labels: map[string]string{api.LabelEngine: "own"},
	}}
	r.mu.Unlock()
	r.see(id)
}

// client is a client at an address.
func (r *rig) client(from, to string) *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) { return r.at.dial(from, to) }}}
}

// ask sends a request of somebody here.
func (r *rig) ask(ctx context.Context, body string, change ...func(*http.Request)) (*http.Response, error) {
	return r.askFrom(ctx, "127.0.0.1:5000", "127.0.0.1:7733", http.MethodPost, "/v1/chat/completions", body, change...)
}

func (r *rig) askFrom(ctx context.Context, from, to, method, path, body string, change ...func(*http.Request)) (*http.Response, error) {
	q, err := http.NewRequestWithContext(ctx, method, "http://"+to+path, strings.NewReader(body))
	r.is.NoErr(err)
	q.Header.Set("Content-Type", "application/json")
	for _, f := range change {
		f(q)
	}
	return r.client(from, to).Do(q)
}

// result is what an answer is: its status, and its body.
func (r *rig) result(response *http.Response, err error) (int, string) {
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return response.StatusCode, string(text) + " and then " + err.Error()
	}
	return response.StatusCode, string(text)
}

func header(name, value string) func(*http.Request) {
	return func(q *http.Request) { q.Header.Set(name, value) }
}

// answers gives a text.
func answers(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

// event sends one event.
func event(w http.ResponseWriter, text string) error {
	w.Header().Set("Content-Type", "text/event-stream")
	_, err := io.WriteString(w, "data: "+text+"\n\n")
	if err == nil {
		err = http.NewResponseController(w).Flush()
	}
	return err
}
