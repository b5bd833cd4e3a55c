package server

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"fulmen/daemon/api"
)

const (
	// maxSlots bounds what is worked on at once for one connection; further
	// messages are not read. It leaves room for a full batch of notifications.
	maxSlots = 64
	// replySlots is what a message takes that will be answered, as the answer
	// takes memory: 16 of them are under way at most.
	replySlots = 4
	// maxWaitingBytes is how much of unread replies stops reading requests.
	maxWaitingBytes = api.MaxMessageBytes
	// maxOutboxBytes is how much of unread replies ends the connection. What may
	// wait, and the replies under way when reading stopped, fit.
	maxOutboxBytes = maxWaitingBytes + (maxSlots/replySlots+1)*api.MaxMessageBytes
	// closeGrace is what the other end gets to answer a closing handshake.
	closeGrace = 500 * time.Millisecond
)

// socket is what a connection's messages go over: a WebSocket, or an HTTP answer that is a
// stream.
type socket interface {
	Read(ctx context.Context) (websocket.MessageType, []byte, error)
	Write(ctx context.Context, kind websocket.MessageType, message []byte) error
	Close(code websocket.StatusCode, reason string) error
	CloseNow() error
}

// conn is one connection whose other end is known.
type conn struct {
	server     *Server
	ws         socket
	link       *link
	who        identity
	authorized atomic.Bool // daemon.authorize was granted

	// Reads and writes run on the connection's own context: one that ended for
	// another reason, such as a request's, would take the connection with it.
	ctx    context.Context
	cancel context.CancelCauseFunc

	box   *outbox
	slots chan struct{} // what is worked on
	calls chan struct{} // what is done now
	ended sync.Once

	mu      sync.Mutex
	subs    map[api.Subscription]*subscription
	lastSub uint64
	// underWay are the requests without a reply, by id, with whoever waits for it.
	underWay map[string][]func(ok bool)
}

func newConn(s *Server, ws socket, l *link, ctx context.Context, cancel context.CancelCauseFunc) *conn {
	return &conn{server: s, ws: ws, link: l, ctx: ctx, cancel: cancel,
		box: newOutbox(maxOutboxBytes), slots: make(chan struct{}, maxSlots), calls: make(chan struct{}, api.MaxBatch),
		subs: map[api.Subscription]*subscription{}, underWay: map[string][]func(bool){}}
}

// run serves the connection until it ends.
func (c *conn) run() {
	defer c.finish()
	var writing sync.WaitGroup
	writing.Go(c.write)
	c.read()
	writing.Wait()
}

// end closes the connection with a status; what is queued is not sent. It does
// not wait for the other end to take leave too, and nobody waits long.
func (c *conn) end(code websocket.StatusCode, cause error) {
	c.ended.Do(func() {
		c.server.background.Go(func() {
			defer time.AfterFunc(closeGrace, func() { c.cancel(cause) }).Stop()
			_ = c.ws.Close(code, closeReason(cause)) // the other end may be gone already
			c.cancel(cause)
		})
	})
}

// cut ends the connection of a client that does not read, and so would not
// read a farewell either.
func (c *conn) cut() {
	c.log().Info("a client did not read and was disconnected")
	c.cancel(errDisconnected)
}

// finish lets go of everything that belongs to the connection.
func (c *conn) finish() {
	c.cancel(errDisconnected)
	_ = c.ws.CloseNow() // it is closed already, in the usual case
	c.mu.Lock()
	subs := c.subs
	c.subs = nil
	c.mu.Unlock()
	for _, s := range subs {
		s.cancel()
	}
}

// errDisconnected is the cause of a connection's end that needs no words.
var errDisconnected = errors.New("disconnected")

// closeReason is the reason in a close frame, which has room for 123 bytes.
func closeReason(cause error) string {
	e, ok := errors.AsType[*api.Error](cause)
	if !ok {
		return ""
	}
	return string(e.Data.Reason)
}

func (c *conn) log() *slog.Logger {
	return c.server.config.Log.With("uid", c.who.uid, "token", c.who.token.Name)
}

// expireAt ends the connection when its token's time is over. The timer stands
// still while the machine sleeps; requests compare the clock themselves.
func (c *conn) expireAt(at api.Time) (stop func()) {
	if at.IsZero() {
		return func() {}
	}
	t := time.AfterFunc(at.Sub(c.server.config.Clock.Now()), func() {
		c.end(websocket.StatusPolicyViolation, api.NewError(api.ReasonExpiredToken, ""))
	})
	return func() { t.Stop() }
}
