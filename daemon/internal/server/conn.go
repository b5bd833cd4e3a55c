package server

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/creachadair/jrpc2"

	"fulmen/daemon/api"
	"fulmen/native/waker"
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
	// farewell is what the other end gets to answer a closing handshake.
	farewell = 500 * time.Millisecond
)

// conn is one connection whose other end is known.
type conn struct {
	server     *Server
	ws         *websocket.Conn
	link       *link
	who        identity
	authorized atomic.Bool // daemon.authorize was granted

	// Reads and writes run on the connection's own context: one that ended for
	// another reason, such as a request's, would take the connection with it.
	ctx    context.Context
	cancel context.CancelCauseFunc

	box   *outbox
	slots chan struct{}
	ended sync.Once

	mu      sync.Mutex
	subs    map[api.Subscription]*subscription
	lastSub uint64
	replied map[string][]func(ok bool) // by request id
}

func newConn(s *Server, ws *websocket.Conn, l *link, ctx context.Context, cancel context.CancelCauseFunc) *conn {
	return &conn{server: s, ws: ws, link: l, ctx: ctx, cancel: cancel,
		box: newOutbox(maxOutboxBytes), slots: make(chan struct{}, maxSlots),
		subs: map[api.Subscription]*subscription{}, replied: map[string][]func(bool){}}
}

// run serves the connection until it ends.
func (c *conn) run() {
	defer c.finish()
	var writing sync.WaitGroup
	writing.Go(c.write)
	c.serveRPC(&socket{c})
	c.cancel(errDisconnected)
	writing.Wait()
}

func (c *conn) serveRPC(ch *socket) {
	rpc := jrpc2.NewServer(c, &jrpc2.ServerOptions{
		DisableBuiltin: true, // rpc.serverInfo tells things of the process to everybody
		Concurrency:    api.MaxBatch,
		NewContext:     func() context.Context { return c.ctx },
	})
	rpc.Start(ch)
	if err := rpc.Wait(); err != nil {
		c.log().Debug("a connection ended", "error", err)
	}
}

// write is the only one who writes messages. There is no ping: over the
// loopback address and Unix sockets the kernel reports at once that a process
// is gone, and one that only sleeps is found by the write deadline.
func (c *conn) write() {
	for {
		message, err := c.box.Pop(c.ctx)
		if err != nil {
			return
		}
		ctx, stop := context.WithTimeout(c.ctx, c.server.config.Limits.WriteDeadline)
		err = c.ws.Write(ctx, websocket.MessageText, message)
		late := errors.Is(ctx.Err(), context.DeadlineExceeded)
		stop()
		if err != nil {
			if late {
				c.cut()
			}
			c.cancel(errDisconnected)
			return
		}
	}
}

// end closes the connection with a status; what is queued is not sent. It does
// not wait for the other end to take leave too, and nobody waits long.
func (c *conn) end(code websocket.StatusCode, cause error) {
	c.ended.Do(func() {
		c.server.background.Go(func() {
			defer time.AfterFunc(farewell, func() { c.cancel(cause) }).Stop()
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
		s.stop()
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

// errFull is a message for a client that reads too slowly.
var errFull = errors.New("outbox is full")

// source says things that can be merged while nobody reads them.
type source interface {
	// Next is the next message, or nil when there is none; more says that
	// another is ready. It is called by the one who pops, never concurrently.
	Next() (message []byte, more bool)
}

// slot is a source's place in the queue, which it takes at most once.
type slot struct {
	source source
	queued bool
}

// newSlot makes the place of a source.
func newSlot(s source) *slot { return &slot{source: s} }

// outbox holds what one client has not read yet, so that whoever has something to say
// never waits for a client: messages are queued up to a bound, and sources, which know
// how to merge what they have not said yet, stand in the same queue once each and are
// asked when it is their turn. Push and Ready never block; one goroutine pops.
type outbox struct {
	limit int // bytes of messages
	wake  waker.Waker
	room  waker.Waker

	mu    sync.Mutex
	queue []queued
	bytes int
}

// queued is a message or a source.
type queued struct {
	message []byte
	slot    *slot
}

// newOutbox makes an outbox that refuses a message while more than limit bytes wait.
func newOutbox(limit int) *outbox {
	return &outbox{limit: limit, wake: waker.New(), room: waker.New()}
}

// Push queues a message, or returns errFull. A message larger than the limit
// is taken when nothing else waits.
func (b *outbox) Push(message []byte) error {
	b.mu.Lock()
	if b.bytes > 0 && b.bytes+len(message) > b.limit {
		b.mu.Unlock()
		return errFull
	}
	b.bytes += len(message)
	b.queue = append(b.queue, queued{message: message})
	b.mu.Unlock()
	b.wake.Wake()
	return nil
}

// Ready gives a source its place at the end of the queue, if it has none.
func (b *outbox) Ready(s *slot) {
	b.mu.Lock()
	added := !s.queued
	if added {
		s.queued = true
		b.queue = append(b.queue, queued{slot: s})
	}
	b.mu.Unlock()
	if added {
		b.wake.Wake()
	}
}

// Pop takes the next message out and waits for one if there is none.
func (b *outbox) Pop(ctx context.Context) ([]byte, error) {
	for {
		e, ok := b.take()
		switch {
		case !ok:
			select {
			case <-b.wake:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		case e.slot == nil:
			b.room.Wake()
			return e.message, nil
		default:
			message, more := e.slot.source.Next()
			if more {
				b.Ready(e.slot)
			}
			if message != nil {
				return message, nil
			}
		}
	}
}

// WaitRoom waits until at most limit bytes of messages wait. One goroutine
// calls it: who reads requests, so that a client that does not read replies is
// not read from either.
func (b *outbox) WaitRoom(ctx context.Context, limit int) error {
	for {
		b.mu.Lock()
		fits := b.bytes <= limit
		b.mu.Unlock()
		if fits {
			return nil
		}
		select {
		case <-b.room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (b *outbox) take() (queued, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		b.queue = nil // lets go of what a burst needed
		return queued{}, false
	}
	e := b.queue[0]
	b.queue[0] = queued{}
	b.queue = b.queue[1:]
	b.bytes -= len(e.message)
	if e.slot != nil {
		e.slot.queued = false
	}
	return e, true
}

// Deliver sends a client what something comes to, one after the other, as fast as
// the client takes it, up to its one end. What comes later replaces what was not
// sent yet, where a key is given; the end replaces nothing, and nothing replaces
// it. done is called when that is over.
func Deliver[V any](c *Caller, key string, next func(context.Context) (V, error), done func(),
	tell func(sub api.Subscription, n uint64, value V) any, isLast func(V) bool,
) (api.Subscription, error) {
	stream, err := c.Subscribe(nil)
	if err != nil {
		done()
		return "", err
	}
	go func() {
		defer done()
		defer stream.End()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() { // a reader who left ends the following, not what is followed
			select {
			case <-stream.Done():
				cancel()
			case <-ctx.Done():
			}
		}()
		for {
			value, err := next(ctx)
			if err != nil || stream.Wait(ctx) != nil {
				return
			}
			if isLast(value) {
				key = ""
			}
			err = stream.Send(key, func(n uint64) any { return tell(stream.Sub(), n, value) })
			if err != nil || isLast(value) {
				return
			}
		}
	}()
	return stream.Sub(), nil
}
