package endpoint

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/native"
)

// Config is what an endpoint rests on.
type Config struct {
	// Node is this node, of whose accounts callers are.
	Node api.NodeID
	// Job is what is known of a job that counts. It waits until the stored ones are read.
	Job func(api.JobID) (gate.Known, bool)
	// IsAwake reports whether a node does not say that it goes away.
	IsAwake func(api.NodeID) bool
	// May reports whether the jobs of somebody are those of a person of this node.
	May func(by, of api.Principal) bool
	// Dial opens a connection of a person to a port of a rank 0.
	Dial func(ctx context.Context, by api.Principal, rank api.RankRef, node api.NodeID, port int) (net.Conn, error)
	// Key finds the account to which a key belongs.
	Key func(text string) (uid uint32, err error)
	// Owner is the account that holds the end local of a connection of this machine.
	Owner func(local, remote netip.AddrPort) (uid uint32, err error)
	// UserName is the name of an account.
	UserName func(uid uint32) string
	// Settings are what the owner of this Mac has set, as it is now.
	Settings func() Settings
	// Clock is what deadlines run on.
	Clock native.Clock
	// Log takes what a maintainer may want to know.
	Log *slog.Logger
}

// Settings are for the owner of a Mac to set.
type Settings struct {
	// Networks are those from which connections are taken, beside this machine itself.
	Networks []netip.Prefix
	// Hosts are names of this Mac by which it may be asked, beside its addresses.
	Hosts []string
	// Origins are pages that may ask.
	Origins []string
	// Wait is how long a request waits for a service that is not ready.
	Wait time.Duration
}

const (
	// maxBody is the largest request, and maxBodies what all that go on may have together.
	maxBody, maxBodies = 32 << 20, 256 << 20
	// maxWhole is the largest answer that is looked at before it goes on.
	maxWhole = 1 << 20
	// maxConns is how many connections there may be, and maxWaiting how many requests that wait.
	maxConns, maxWaiting = 1024, 256
	// maxHead bounds the head of a request or an answer.
	maxHead = 64 << 10
	// headWithin and bodyWithin are how long a client may take to send them, writeWithin to
	// read a part, and idleWithin how long a connection may rest.
	headWithin, bodyWithin, writeWithin, idleWithin = 10 * time.Second, time.Minute, 30 * time.Second, time.Minute
	// silentWithin is how long an engine may say nothing at all.
	silentWithin = 10 * time.Minute
	// restWithin is how long a connection to an engine is kept for the next request: less
	// than engines do, so that none is used that one has just closed.
	restWithin = 2 * time.Second
	// lookEvery is how often a request that waits looks whether it can go on, also where nothing was announced.
	lookEvery = 250 * time.Millisecond
	// successorWithin is how long a service that has ended for another is waited for.
	successorWithin = 10 * time.Second
	// retryAfter is when a client is asked to come again, in seconds.
	retryAfter = "5"
)

// Endpoint answers requests. It has to be served, and to follow the jobs.
type Endpoint struct {
	cfg    Config
	server *http.Server
	crowd  crowd
	bodies atomic.Int64 // bytes of requests that go on

	writeWithin time.Duration

	mu       sync.Mutex
	jobs     map[api.JobID]time.Duration // those that may serve; until when, of what was replaced
	changed  chan struct{}               // closed when they have
	backends map[backendKey]*backend
	retired  map[*backend]bool // those that end
	waiting  int
	hasBegun bool // it knows the jobs
	closing  bool
}

// New makes an endpoint.
func New(cfg Config) *Endpoint {
	e := &Endpoint{cfg: cfg, jobs: map[api.JobID]time.Duration{}, changed: make(chan struct{}), backends: map[backendKey]*backend{}, retired: map[*backend]bool{}, crowd: crowd{most: maxConns}, writeWithin: writeWithin}
	e.server = &http.Server{
		Handler: e, ReadHeaderTimeout: headWithin, IdleTimeout: idleWithin, MaxHeaderBytes: maxHead,
		ConnContext: withLink, ConnState: e.crowd.note, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
	}
	return e
}

// Serve takes the connections of a listener until the endpoint is shut down.
func (e *Endpoint) Serve(l net.Listener) error { return e.server.Serve(l) }

// Shutdown refuses what comes, and gives what goes on the time until ctx ends.
func (e *Endpoint) Shutdown(ctx context.Context) {
	e.mu.Lock()
	e.closing = true
	e.wakeLocked()
	e.mu.Unlock()
	if e.server.Shutdown(ctx) == nil {
		return
	}
	e.mu.Lock()
	for _, b := range e.backends {
		b.end(errStopping)
	}
	for b := range e.retired {
		b.end(errStopping)
	}
	e.mu.Unlock()
	last, cancel := native.WithTimeout(context.WithoutCancel(ctx), e.cfg.Clock, time.Second, "the last words of requests")
	defer cancel()
	if e.server.Shutdown(last) != nil {
		_ = e.server.Close() // what is left does not read
	}
}
