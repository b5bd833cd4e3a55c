package server

import (
	"context"
	"errors"
	"sync"

	"fulmen/native/waker"
)

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
