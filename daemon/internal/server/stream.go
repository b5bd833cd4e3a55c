package server

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/coder/websocket"

	"fulmen/daemon/api"
	"fulmen/native/waker"
)

const (
	// maxStreamed bounds the notifications that wait on one stream.
	maxStreamed = 256
	// maxStreamedBytes bounds their size.
	maxStreamedBytes = 1 << 20
)

// ErrStreamEnded is a stream that nobody reads any more.
var ErrStreamEnded = errors.New("the subscription has ended")

// Stream is a subscription that a handler feeds with notifications of its
// method. It says nothing before the reply that names it.
type Stream struct {
	sub    *subscription
	lagged func() any

	mu    sync.Mutex
	queue []streamed
	bytes int
	n     uint64
	ended bool
	room  waker.Waker // has a token when something was taken
}

// streamed is a notification that waits.
type streamed struct {
	key     string
	n       uint64
	message []byte
}

// Subscribe opens a stream of the notifications that the method announces. It is
// called by the handler, before it returns the result that names the stream. A
// client that reads too slowly gets, in place of what it missed, what lagged
// makes, and the stream is over; without lagged it is disconnected.
func (c *Caller) Subscribe(lagged func(sub api.Subscription) any) (*Stream, error) {
	st := &Stream{room: waker.New()}
	sub, err := c.subscribe(func(s *subscription) source { st.sub = s; return st })
	if err != nil {
		return nil, err
	}
	if lagged != nil {
		st.lagged = func() any { return lagged(sub.id) }
	}
	return st, nil
}

// Sub names the stream.
func (s *Stream) Sub() api.Subscription { return s.sub.id }

// Done is closed when nobody reads the stream any more.
func (s *Stream) Done() <-chan struct{} { return s.sub.ctx.Done() }

// Send queues a notification and does not wait. build gets its number, from 1
// without a gap. One with a key takes the place, and the number, of an unsent
// one with the same key; an empty key replaces nothing.
func (s *Stream) Send(key string, build func(n uint64) any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || s.sub.over() {
		return ErrStreamEnded
	}
	at := -1
	for i := range s.queue {
		if key != "" && s.queue[i].key == key {
			at = i
		}
	}
	item := streamed{key: key, n: s.n + 1}
	if at >= 0 {
		item.n = s.queue[at].n
	}
	var err error
	if item.message, err = notification(s.sub.notifies, build(item.n)); err != nil {
		return err
	}
	if len(item.message) > api.MaxMessageBytes {
		return api.NewError(api.ReasonMessageTooLarge, s.sub.notifies)
	}
	if at >= 0 {
		s.bytes += len(item.message) - len(s.queue[at].message)
		s.queue[at] = item
	} else {
		s.n++
		s.bytes += len(item.message)
		s.queue = append(s.queue, item)
	}
	if len(s.queue) > maxStreamed || s.bytes > maxStreamedBytes {
		return s.overflow()
	}
	s.sub.ready()
	return nil
}

// Wait returns when little waits to be sent: for who has more than a client may
// be behind, and can wait for it. The error is ctx's, or ErrStreamEnded.
func (s *Stream) Wait(ctx context.Context) error {
	for {
		s.mu.Lock()
		isOver := s.ended || s.sub.over()
		hasRoom := len(s.queue) <= maxStreamed/2 && s.bytes <= maxStreamedBytes/4
		s.mu.Unlock()
		switch {
		case isOver:
			return ErrStreamEnded
		case hasRoom:
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.Done():
		case <-s.room:
		}
	}
}

// End says that nothing follows; what is queued is still sent.
func (s *Stream) End() {
	s.mu.Lock()
	s.ended = true
	empty := len(s.queue) == 0
	s.mu.Unlock()
	if empty {
		s.sub.end()
	}
}

func (s *Stream) overflow() error {
	s.ended, s.queue, s.bytes = true, nil, 0
	if s.lagged == nil {
		s.sub.conn.cut()
		return ErrStreamEnded
	}
	message, err := notification(s.sub.notifies, s.lagged())
	if err != nil {
		return err
	}
	s.queue = []streamed{{message: message}}
	s.sub.ready()
	return ErrStreamEnded
}

// Next implements source.
func (s *Stream) Next() ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sub.over() || len(s.queue) == 0 {
		return nil, false
	}
	item := s.queue[0]
	s.queue[0] = streamed{}
	s.queue = s.queue[1:]
	s.bytes -= len(item.message)
	s.room.Wake()
	if s.ended && len(s.queue) == 0 {
		s.sub.end()
	}
	return item.message, len(s.queue) > 0
}

// notification is a notification as it goes out.
func notification(name string, params any) ([]byte, error) {
	return json.Marshal(struct {
		JSONRPC string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{api.JSONRPCVersion, name, params})
}

// maxSubscriptions bounds the streams of one connection.
const maxSubscriptions = 64

// subscription is a stream of notifications on a connection. It says nothing
// before the reply that names it has been queued.
type subscription struct {
	conn     *conn
	id       api.Subscription
	notifies string // the notification of its method
	slot     *slot
	ctx      context.Context // ends with the subscription
	cancel   context.CancelFunc
	open     atomic.Bool
}

// subscribe makes a stream for the request that the caller makes.
func (c *Caller) subscribe(of func(*subscription) source) (*subscription, error) {
	if c.requestID == "" {
		return nil, api.Errorf(api.ReasonMissingField, "id", "%s needs an id: the reply names the subscription.", c.method.Name)
	}
	conn := c.conn
	conn.mu.Lock()
	defer conn.mu.Unlock()
	switch {
	case conn.subs == nil:
		return nil, context.Canceled
	case len(conn.subs) >= maxSubscriptions:
		return nil, &api.Error{Code: api.CodeExhausted, Message: "The connection has " + strconv.Itoa(maxSubscriptions) + " subscriptions, the most that one may have.",
			Data: api.ErrorData{Reason: api.ReasonTooManySubscriptions, Remedy: "End some with state.unwatch, or use another connection."}}
	}
	conn.lastSub++
	s := &subscription{conn: conn, notifies: c.method.Notifies, id: api.Subscription("s" + strconv.FormatUint(conn.lastSub, 10))}
	s.ctx, s.cancel = context.WithCancel(conn.ctx)
	s.slot = &slot{source: of(s)}
	conn.subs[s.id] = s
	conn.underWay[c.requestID] = append(conn.underWay[c.requestID], s.start)
	return s, nil
}

// drop ends what a request subscribed to before it failed; its reply, which
// is an error, would do the same a moment later.
func (c *Caller) drop() {
	conn := c.conn
	conn.mu.Lock()
	waiting := conn.underWay[c.requestID]
	if waiting != nil {
		conn.underWay[c.requestID] = nil
	}
	conn.mu.Unlock()
	for _, f := range waiting {
		f(false)
	}
}

// start lets the stream speak, also of what became ready before, or ends it if its reply
// was an error.
func (s *subscription) start(ok bool) {
	if !ok {
		s.end()
		return
	}
	s.open.Store(true)
	s.ready()
}

// ready says that the source has something to say.
func (s *subscription) ready() {
	if s.open.Load() {
		s.conn.box.Ready(s.slot)
	}
}

// end takes the stream off the connection.
func (s *subscription) end() {
	s.conn.mu.Lock()
	delete(s.conn.subs, s.id)
	s.conn.mu.Unlock()
	s.cancel()
}

// over reports whether the stream has ended.
func (s *subscription) over() bool { return s.ctx.Err() != nil }

// unwatch ends a stream of any group by name.
func (c *conn) unwatch(id api.Subscription) error {
	c.mu.Lock()
	s, ok := c.subs[id]
	c.mu.Unlock()
	if !ok {
		return api.NewError(api.ReasonNoSuchSubscription, shorten(string(id)))
	}
	s.end()
	return nil
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
	notify func(sub api.Subscription, n uint64, value V) any, isLast func(V) bool,
) (api.Subscription, error) {
	stream, err := c.Subscribe(nil)
	if err != nil {
		done()
		return "", err
	}
	go func() {
		defer done()
		defer stream.End()
		ctx := stream.sub.ctx // a reader who left ends the following, not what is followed
		for {
			value, err := next(ctx)
			if err != nil || stream.Wait(ctx) != nil {
				return
			}
			if isLast(value) {
				key = ""
			}
			err = stream.Send(key, func(n uint64) any { return notify(stream.Sub(), n, value) })
			if err != nil || isLast(value) {
				return
			}
		}
	}()
	return stream.Sub(), nil
}
