package ledger

import (
	"context"
	"errors"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/native/waker"
)

// ErrEnded is what Next returns after a watcher was closed, or was told that it lagged.
var ErrEnded = errors.New("the subscription has ended")

// WatchOptions says who watches what.
type WatchOptions struct {
	// Name is who watches, for the tap: "client uid 501", "health".
	Name string
	// Filter says which documents.
	Filter Filter
	// Passive does not count as interest: live kinds do not begin to move for it.
	Passive bool
	// BatchBytes bounds a Change by the sum of its records' SizeBytes, one record
	// at least; 0 = no bound.
	BatchBytes int
}

// Watcher is a subscription: one reader, and a queue that belongs to it.
type Watcher struct {
	ledger  *Ledger
	name    string
	filter  Filter
	passive bool
	batch   int
	limit   int
	began   time.Time

	// wake holds a token when there may be something to take.
	wake waker.Waker
	// index is the place in Ledger.watchers, -1 when taken out; Ledger.mu guards it.
	index int

	mu        sync.Mutex
	notable   queue
	live      queue
	places    map[api.Key]int // of the keys that wait; a key's kind says in which queue
	n         uint64
	delivered uint64
	coalesced uint64
	state     watcherState
}

type watcherState int

const (
	watching   watcherState = iota
	lagging                 // fell behind and was not told yet
	watchEnded              // closed, or told
)

// Watch gives the documents that the filter covers, ordered by node, kind and
// name, and a watcher for everything that changes after, as one step: nothing
// is missed or told twice in between. The caller reads with Next and must Close.
func (l *Ledger) Watch(o WatchOptions) ([]*Record, *Watcher) {
	w := &Watcher{ledger: l, name: o.Name, filter: o.Filter.clean(), passive: o.Passive, batch: o.BatchBytes,
		limit: l.queue, began: l.now(), wake: waker.New(), places: map[api.Key]int{}}
	l.mu.Lock()
	found := l.collect(&w.filter)
	w.index = len(l.watchers)
	l.watchers = append(l.watchers, w)
	if !w.passive {
		l.interest.add(&w.filter)
	}
	l.taps.add(TapEvent{At: w.began, Type: TapWatch, By: w.name})
	l.mu.Unlock()
	return sortRecords(found), w
}

// detach takes a watcher out of the list; the caller holds Ledger.mu. It
// reports whether it was in it.
func (l *Ledger) detach(w *Watcher) bool {
	if w.index < 0 {
		return false
	}
	end := len(l.watchers) - 1
	l.watchers[w.index] = l.watchers[end]
	l.watchers[w.index].index = w.index
	l.watchers[end] = nil
	l.watchers = l.watchers[:end]
	w.index = -1
	if !w.passive {
		l.interest.remove(&w.filter)
	}
	return true
}

// Close ends the watcher. A waiting Next returns ErrEnded. It may be repeated.
func (w *Watcher) Close() {
	l := w.ledger
	l.mu.Lock()
	if l.detach(w) {
		l.taps.add(TapEvent{At: l.now(), Type: TapUnwatch, By: w.name})
	}
	l.mu.Unlock()
	w.mu.Lock()
	w.end(watchEnded)
	w.mu.Unlock()
}

// end drops what waits and wakes the reader; the caller holds mu.
func (w *Watcher) end(s watcherState) {
	w.state = s
	w.notable, w.live, w.places = queue{}, queue{}, nil
	w.wake.Wake()
}

// offer queues, for a watcher in the ledger's list, what the filter covers, all or
// nothing of it at once for the reader. It returns false when the watcher is too far
// behind and is over.
func (w *Watcher) offer(items []item) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range items {
		it := &items[i]
		if !w.filter.wants(&it.key) {
			continue
		}
		q := &w.notable
		if it.isLive {
			q = &w.live
		}
		if place, ok := w.places[it.key]; ok {
			q.replace(place, *it)
			w.coalesced++
		} else {
			if len(w.places) == 0 {
				w.wake.Wake()
			}
			w.places[it.key] = q.push(*it)
		}
	}
	if len(w.places) > w.limit {
		w.end(lagging)
		return false
	}
	return true
}

// Next waits for the next change. Its error is the context's; once, with the
// reason lagged, when the watcher was too slow; and ErrEnded from then on. It is
// for one goroutine at a time.
func (w *Watcher) Next(ctx context.Context) (Change, error) {
	for {
		if err := ctx.Err(); err != nil {
			return Change{}, context.Cause(ctx)
		}
		c, ok, err := w.take()
		if ok || err != nil {
			return c, err
		}
		select {
		case <-w.wake:
		case <-ctx.Done():
		}
	}
}

// take is Next without waiting; false when there is nothing.
func (w *Watcher) take() (Change, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.state == lagging:
		w.state = watchEnded
		return Change{}, false, api.NewError(api.ReasonLagged, w.name)
	case w.state == watchEnded:
		return Change{}, false, ErrEnded
	case len(w.places) == 0:
		return Change{}, false, nil
	}
	w.n++
	c := Change{N: w.n}
	room := w.batch
	if w.fill(&c, &w.notable, &room) {
		w.fill(&c, &w.live, &room)
	}
	w.delivered += uint64(len(c.Put) + len(c.Del))
	return c, true, nil
}

// fill moves items to the change while there is room, and reports whether it
// moved all.
func (w *Watcher) fill(c *Change, q *queue, room *int) bool {
	n := 0
	for ; n < len(q.items); n++ {
		it := &q.items[n]
		if w.batch > 0 {
			if *room -= it.sizeBytes(); *room < 0 && len(c.Put)+len(c.Del) > 0 {
				break
			}
		}
		if it.rec == nil || it.rec.doc.Deleted && !w.filter.Deleted {
			c.Del = append(c.Del, it.key)
		} else {
			if c.Put == nil {
				c.Put = make([]*Record, 0, len(q.items)-n)
			}
			c.Put = append(c.Put, it.rec)
		}
		delete(w.places, it.key)
	}
	isAll := n == len(q.items)
	q.drop(n)
	return isAll
}

// queue holds items in the order in which their keys began to wait. Places are
// counted from the queue's beginning of time, so that they stay what they are
// while the front is taken off.
type queue struct {
	items []item
	base  int // the place of items[0]
}

// push adds an item and returns its place.
func (q *queue) push(it item) int {
	q.items = append(q.items, it)
	return q.base + len(q.items) - 1
}

// replace puts a newer version in an item's place, which waits no less for that.
func (q *queue) replace(place int, it item) {
	old := &q.items[place-q.base]
	it.since = old.since
	*old = it
}

// drop takes n items off the front. The room of an emptied queue is used again
// unless a burst made it large.
func (q *queue) drop(n int) {
	clear(q.items[:n])
	q.base += n
	switch {
	case n < len(q.items):
		q.items = q.items[n:]
	case cap(q.items) > 256:
		q.items = nil
	default:
		q.items = q.items[:0]
	}
}
