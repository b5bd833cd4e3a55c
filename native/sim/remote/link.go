package remote

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"sync"
	"time"

	"fulmen/native"
	"fulmen/native/waker"
)

// answerWithin is how long the world may take to answer what it can answer at
// once.
const answerWithin = 10 * time.Second

// maxUndelivered is how much news may wait for a callback to return.
const maxUndelivered = 1 << 16

// link is the caller's side of a connection to a world.
type link struct {
	conn  net.Conn
	where string
	clock native.Clock

	writing sync.Mutex

	mu          sync.Mutex
	last        uint64 // number of a request
	waiting     map[uint64]chan message
	subs        map[uint64]*subscription
	err         error         // set when it is over
	over        chan struct{} // closed then
	undelivered []func()      // to be delivered in order
	more        waker.Waker   // has room for one
	done        sync.WaitGroup
}

// subscription is what a request began.
type subscription struct {
	event   func(json.RawMessage) error
	direct  bool // it may be called where nothing may wait
	calling sync.Mutex
	stopped bool // guarded by calling
}

// deliver calls back, unless the subscription was stopped.
func (s *subscription) deliver(raw json.RawMessage) error {
	s.calling.Lock()
	defer s.calling.Unlock()
	if s.stopped {
		return nil
	}
	return s.event(raw)
}

// newLink takes over a connection. gone is called once, when it is over.
func newLink(conn net.Conn, where string, clock native.Clock, gone func(why error)) *link {
	l := &link{
		conn: conn, where: where, clock: clock, waiting: map[uint64]chan message{}, subs: map[uint64]*subscription{},
		over: make(chan struct{}), more: waker.New(),
	}
	l.done.Go(func() {
		l.end(l.receive())
		gone(l.why())
	})
	l.done.Go(l.deliver)
	return l
}

// close ends it. It waits for callbacks under way, so none of them may call it.
func (l *link) close() {
	l.end(native.ErrClosed)
	l.done.Wait()
}

// end makes it over; the first reason stays.
func (l *link) end(why error) {
	l.mu.Lock()
	if l.err == nil {
		if !errors.Is(why, native.ErrClosed) {
			why = &GoneError{World: l.where, Err: why}
		}
		l.err = why
		close(l.over)
	}
	l.mu.Unlock()
	_ = l.conn.Close()
}

// why is the reason for which it is over.
func (l *link) why() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// receive takes answers and news until the connection ends.
func (l *link) receive() error {
	for {
		m, err := read(l.conn)
		if err != nil {
			return err
		}
		if m.isRequest() {
			return errors.New("it sent a request instead of an answer")
		}
		if m.Event == nil {
			l.mu.Lock()
			answer := l.waiting[m.ID]
			delete(l.waiting, m.ID)
			l.mu.Unlock()
			if answer != nil {
				answer <- m // it has room
			}
			continue
		}
		if err := l.receiveFrames(m); err != nil {
			return err
		}
	}
}

func (l *link) receiveFrames(m message) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.subs[m.ID]
	switch {
	case s == nil: // it was ended meanwhile
	case s.direct:
		return s.event(m.Event)
	case len(l.undelivered) == maxUndelivered:
		return errors.New("its events are not read quickly enough")
	default:
		l.queueLocked(func() {
			if err := s.deliver(m.Event); err != nil {
				l.end(err)
			}
		})
	}
	return nil
}

// queueLocked has something delivered.
func (l *link) queueLocked(f func()) {
	l.undelivered = append(l.undelivered, f)
	l.more.Wake()
}

// deliver calls back, one at a time, on a goroutine of its own: a callback may
// call the platform.
func (l *link) deliver() {
	for over := false; ; {
		l.mu.Lock()
		undelivered := l.undelivered
		l.undelivered = nil
		l.mu.Unlock()
		for _, f := range undelivered {
			f()
		}
		if len(undelivered) > 0 {
			continue
		}
		if over {
			return
		}
		select {
		case <-l.more:
		case <-l.over:
			over = true
		}
	}
}

// call asks for something that is answered at once.
func (l *link) call(ctx context.Context, what method, params, result any) error {
	_, err := l.ask(ctx, what, params, result, nil)
	return err
}

// subscribe asks for something that lasts until stop is called or the context,
// before it is there, ends. Stopping twice is harmless.
func (l *link) subscribe(ctx context.Context, what method, params, result any, s *subscription) (stop func() error, err error) {
	id, err := l.ask(ctx, what, params, result, s)
	if err != nil {
		return nil, err
	}
	return func() error {
		l.forget(id)
		err := l.call(context.Background(), methodEnd, endParams{id}, nil)
		s.calling.Lock()
		defer s.calling.Unlock()
		s.stopped = true
		if errors.Is(err, native.ErrClosed) {
			return nil // and with it what was begun
		}
		return err
	}, nil
}

// forget takes no more news of a request.
func (l *link) forget(id uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.waiting, id)
	delete(l.subs, id)
}

// ask sends a request and waits for its answer.
func (l *link) ask(ctx context.Context, what method, params, result any, s *subscription) (id uint64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, context.Cause(ctx)
	}
	if what != methodConnect {
		var cancel context.CancelFunc
		ctx, cancel = native.WithTimeout(ctx, l.clock, answerWithin, "the simulated world at "+l.where+" to answer "+string(what))
		defer cancel()
	}
	answer := make(chan message, 1)
	l.mu.Lock()
	if l.err != nil {
		l.mu.Unlock()
		return 0, l.why()
	}
	l.last++
	id = l.last
	l.waiting[id] = answer
	if s != nil {
		l.subs[id] = s
	}
	l.mu.Unlock()
	if err := l.send(id, what, params); err != nil {
		l.forget(id)
		return 0, err
	}
	select {
	case m := <-answer:
		err = m.into(result)
	case <-ctx.Done():
		err = context.Cause(ctx)
		l.cancel(id)
	case <-l.over:
		select { // the answer may have been the last that came
		case m := <-answer:
			err = m.into(result)
		default:
			err = l.why()
		}
	}
	if err != nil {
		l.forget(id)
	}
	return id, err
}

// into gives the answer.
func (m message) into(result any) error {
	switch {
	case m.Error != nil:
		return m.Error.err()
	case result == nil:
		return nil
	}
	return strictly(m.Result, result)
}

// cancel ends a request, or what it began, without waiting.
func (l *link) cancel(id uint64) {
	l.forget(id)
	l.mu.Lock()
	l.last++
	own := l.last
	l.mu.Unlock()
	_ = l.send(own, methodEnd, endParams{id})
}

// send sends a request. A world that takes nothing is gone.
func (l *link) send(id uint64, what method, params any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	data, err := encode(message{ID: id, Method: what, Params: raw})
	if err != nil {
		return err
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	_ = l.conn.SetWriteDeadline(time.Now().Add(writeWithin))
	if _, err := l.conn.Write(data); err != nil {
		l.end(err)
		return l.why()
	}
	return nil
}
