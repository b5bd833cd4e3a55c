package server

import (
	"context"
	"strconv"
	"sync"

	"fulmen/daemon/api"
)

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

	mu   sync.Mutex
	open bool
	want bool // something became ready before it was open
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
	s.slot = newSlot(of(s))
	conn.subs[s.id] = s
	conn.replied[c.requestID] = append(conn.replied[c.requestID], s.start)
	return s, nil
}

// drop ends what a request subscribed to before it failed; its reply, which
// is an error, would do the same a moment later.
func (c *Caller) drop() {
	conn := c.conn
	conn.mu.Lock()
	waiting := conn.replied[c.requestID]
	delete(conn.replied, c.requestID)
	conn.mu.Unlock()
	for _, f := range waiting {
		f(false)
	}
}

// start lets the stream speak, or ends it if its reply was an error.
func (s *subscription) start(ok bool) {
	if !ok {
		s.end()
		return
	}
	s.mu.Lock()
	s.open = true
	want := s.want
	s.mu.Unlock()
	if want {
		s.conn.box.Ready(s.slot)
	}
}

// ready says that the source has something to say.
func (s *subscription) ready() {
	s.mu.Lock()
	s.want = true
	open := s.open
	s.mu.Unlock()
	if open {
		s.conn.box.Ready(s.slot)
	}
}

// end takes the stream off the connection.
func (s *subscription) end() {
	s.conn.mu.Lock()
	delete(s.conn.subs, s.id)
	s.conn.mu.Unlock()
	s.stop()
}

func (s *subscription) stop() { s.cancel() }

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
