package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"

	"fulmen/daemon/api"
)

const (
	// headerVersion of the answer to an upgrade tells the client the daemon's
	// version, so that skew is seen without a call.
	headerVersion = "Fulmen-Version"
	// maxHeaderBytes is far above what a client sends.
	maxHeaderBytes = 8 << 10
	// idleTimeout is how long a connection may wait for its next HTTP request.
	idleTimeout = 10 * time.Second
)

// ErrClosed is Serve's answer after Shutdown.
var ErrClosed = http.ErrServerClosed

// Server is the local API.
type Server struct {
	config  Config
	methods map[string]method
	http    *http.Server

	background sync.WaitGroup // goroutines that outlive their connection
	sockets    sync.WaitGroup // connections
	watched    watchLogs
	greeting   context.Context
	ungreet    context.CancelFunc // ends connections that are not known yet

	mu      sync.Mutex
	conns   map[*conn]struct{}
	gates   []*gate
	known   int            // connections that have shown who they are
	users   map[uint32]int // the same by user
	closing bool
	url     string
}

// New makes a server. It panics where handlers and the table of methods do not
// fit, which is a mistake in the program.
func New(c Config) *Server {
	c.Limits = c.Limits.withDefaults()
	s := &Server{config: c, url: c.URL, conns: map[*conn]struct{}{}, users: map[uint32]int{}}
	s.greeting, s.ungreet = context.WithCancel(context.Background())
	s.methods = methodTable(api.Methods(), c.Handlers, s.stateHandlers(), s.accessHandlers())
	s.http = &http.Server{
		Handler:           s,
		ReadHeaderTimeout: c.Limits.HelloDeadline,
		ReadTimeout:       c.Limits.HelloDeadline,
		WriteTimeout:      c.Limits.WriteDeadline,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(c.Log.Handler(), slog.LevelDebug),
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, linkKey{}, conn)
		},
	}
	return s
}

// Serve accepts connections until Shutdown, and then returns ErrClosed. The
// listener is a Unix socket, or TCP on a loopback address; it may come from
// launchd or systemd. Several listeners are served at once by as many calls.
func (s *Server) Serve(l net.Listener) error {
	g := &gate{Listener: l, most: s.config.Limits.HalfOpen, accepted: s.config.Accepted}
	switch addr := l.Addr().(type) {
	case *net.UnixAddr:
		g.unix, g.guard = true, unixGuard()
	case *net.TCPAddr:
		if !addr.IP.IsLoopback() {
			return fmt.Errorf("the API is served on loopback addresses only, not on %s", addr)
		}
		g.guard = tcpGuard(addr.Port)
		s.mu.Lock()
		if s.url == "" {
			s.url = "ws://" + addr.String() + api.PathAPI
		}
		s.mu.Unlock()
	default:
		return fmt.Errorf("the API is not served on %s", addr.Network())
	}
	s.mu.Lock()
	s.gates = append(s.gates, g)
	s.mu.Unlock()
	return s.http.Serve(g)
}

// URL is the WebSocket's address on the first TCP listener; empty before there
// is one.
func (s *Server) URL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.url
}

// Shutdown closes the listeners, tells every client that the daemon is going
// away, and waits for the connections to end, at most until ctx does; what is
// left then is cut.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closing = true
	gates := slices.Clone(s.gates)
	s.mu.Unlock()
	s.ungreet()
	for _, g := range gates { // http.Server would wait for those who never ask
		g.clear()
	}
	for _, c := range s.open(nil) {
		c.end(websocket.StatusGoingAway, api.NewError(api.ReasonStopping, ""))
	}
	err := s.http.Shutdown(ctx)
	ended := make(chan struct{})
	go func() {
		s.sockets.Wait()
		s.background.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		for _, c := range s.open(nil) {
			c.cancel(ctx.Err())
		}
		err = errors.Join(err, ctx.Err(), s.http.Close())
	}
	return err
}

// serveSocket serves an upgraded connection until it ends.
func (s *Server) serveSocket(ws *websocket.Conn, l *link, who identity, known bool) {
	if !s.begin() {
		_ = ws.Close(websocket.StatusGoingAway, string(api.ReasonStopping))
		return
	}
	defer s.sockets.Done()
	// A request's own context ends when its handler returns, and is cancelled by
	// nothing before: the connection has one of its own.
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(errDisconnected)
	if !known {
		var err error
		if who, err = s.hello(s.greeting, ws, l); err != nil {
			_ = ws.Close(websocket.StatusPolicyViolation, closeReason(err)) // told already, in words
			return
		}
		if !s.enter(who.uid) {
			_ = ws.Close(websocket.StatusTryAgainLater, string(api.ReasonTooManyClients))
			return
		}
		defer s.leave(who.uid)
	}
	l.known()
	ws.SetReadLimit(api.MaxMessageBytes)
	c := newConn(s, ws, l, ctx, cancel)
	c.who = who
	leave, err := s.admit(c)
	if err != nil {
		status := websocket.StatusPolicyViolation
		if errors.Is(err, api.ReasonStopping) {
			status = websocket.StatusGoingAway
		}
		_ = ws.Close(status, closeReason(err))
		return
	}
	defer leave()
	c.run()
}

// admit takes a connection in until leave is called, unless the server is stopping, or its
// token was revoked a moment ago.
func (s *Server) admit(c *conn) (leave func(), err error) {
	if !s.add(c) {
		return nil, api.NewError(api.ReasonStopping, "")
	}
	if !c.who.socket && !s.config.Tokens.Stands(c.who.token) {
		s.remove(c)
		return nil, api.NewError(api.ReasonBadToken, "")
	}
	forget := c.expireAt(c.who.token.ExpiresAt)
	return func() {
		forget()
		s.remove(c)
	}, nil
}

// begin counts a connection that Shutdown waits for, unless it has begun.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closing {
		s.sockets.Add(1)
	}
	return !s.closing
}

// enter counts a connection that is known, if there is room.
func (s *Server) enter(uid uint32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known >= s.config.Limits.Clients || s.users[uid] >= s.config.Limits.ClientsPerUser {
		return false
	}
	s.known++
	s.users[uid]++
	return true
}

func (s *Server) leave(uid uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known--
	if s.users[uid]--; s.users[uid] == 0 {
		delete(s.users, uid)
	}
}

func (s *Server) add(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	s.conns[c] = struct{}{}
	return true
}

func (s *Server) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// open lists the connections for which keep is true; nil = all.
func (s *Server) open(keep func(*conn) bool) []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*conn
	for c := range s.conns {
		out = append(out, c)
	}
	if keep != nil {
		out = slices.DeleteFunc(out, func(c *conn) bool { return !keep(c) })
	}
	return out
}
