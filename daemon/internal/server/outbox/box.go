package outbox

import (
	"context"
	"errors"
	"sync"

	"fulmen/native/waker"
)

// ErrFull is a message for a client that reads too slowly.
var ErrFull = errors.New("outbox is full")

// Source says things that can be merged while nobody reads them.
type Source interface {
	// Next is the next message, or nil when there is none; more says that
	// another is ready. It is called by the one who pops, never concurrently.
	Next() (message []byte, more bool)
}

// Slot is a source's place in the queue, which it takes at most once.
type Slot struct {
	source Source
	queued bool
}

// NewSlot makes the place of a source.
func NewSlot(s Source) *Slot { return &Slot{source: s} }

// Box is the queue. Push and Ready never block; one goroutine pops.
type Box struct {
	limit int // bytes of messages
	wake  waker.Waker
	room  waker.Waker

	mu    sync.Mutex
	queue []entry
	bytes int
}

// entry is a message or a source.
type entry struct {
	message []byte
	slot    *Slot
}

// New makes a box that refuses a message while more than limit bytes wait.
func New(limit int) *Box {
	return &Box{limit: limit, wake: waker.New(), room: waker.New()}
}

// Push queues a message, or returns ErrFull. A message larger than the limit
// is taken when nothing else waits.
func (b *Box) Push(message []byte) error {
	b.mu.Lock()
	if b.bytes > 0 && b.bytes+len(message) > b.limit {
		b.mu.Unlock()
		return ErrFull
	}
	b.bytes += len(message)
	b.queue = append(b.queue, entry{message: message})
	b.mu.Unlock()
	b.wake.Wake()
	return nil
}

// Ready gives a source its place at the end of the queue, if it has none.
func (b *Box) Ready(s *Slot) {
	b.mu.Lock()
	added := !s.queued
	if added {
		s.queued = true
		b.queue = append(b.queue, entry{slot: s})
	}
	b.mu.Unlock()
	if added {
		b.wake.Wake()
	}
}

// Pop takes the next message out and waits for one if there is none.
func (b *Box) Pop(ctx context.Context) ([]byte, error) {
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
func (b *Box) WaitRoom(ctx context.Context, limit int) error {
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

func (b *Box) take() (entry, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		b.queue = nil // lets go of what a burst needed
		return entry{}, false
	}
	e := b.queue[0]
	b.queue[0] = entry{}
	b.queue = b.queue[1:]
	b.bytes -= len(e.message)
	if e.slot != nil {
		e.slot.queued = false
	}
	return e, true
}
