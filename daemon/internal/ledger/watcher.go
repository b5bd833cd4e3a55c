package ledger

import (
	"cmp"
	"context"
	"errors"
	"slices"
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
	return found, w
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

// keptLagged is how many watchers that lagged are remembered for the tap.
const keptLagged = 16

// SubscriberInfo is what is known of one watcher, for whoever looks for a slow one.
type SubscriberInfo struct {
	// Name is who watches.
	Name string
	// Filter says which documents.
	Filter Filter
	// Passive says that it does not count as interest.
	Passive bool
	// Since is when it began.
	Since time.Time
	// Changes counts the changes taken, Delivered the keys in them.
	Changes, Delivered uint64
	// Coalesced counts versions that a newer one replaced before they were taken.
	Coalesced uint64
	// Queued counts the keys that wait; none once it has lagged.
	Queued int
	// OldestAge is for how long the first of them has waited; 0 if none does.
	OldestAge time.Duration
	// Lagged says that it fell behind and is over.
	Lagged bool
}

// info describes the watcher.
func (w *Watcher) info(now time.Time) SubscriberInfo {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := SubscriberInfo{Name: w.name, Filter: w.filter, Passive: w.passive, Since: w.began, Changes: w.n,
		Delivered: w.delivered, Coalesced: w.coalesced, Queued: len(w.places), Lagged: w.state == lagging}
	for _, q := range []*queue{&w.notable, &w.live} {
		if len(q.items) > 0 {
			s.OldestAge = max(s.OldestAge, now.Sub(q.items[0].since))
		}
	}
	return s
}

// laggedList remembers the last watchers that lagged. Ledger.mu guards it.
type laggedList struct {
	total uint64
	last  []SubscriberInfo
}

func (s *laggedList) add(i SubscriberInfo) {
	s.total++
	if len(s.last) == keptLagged {
		s.last = append(s.last[:0], s.last[1:]...)
	}
	s.last = append(s.last, i)
}

// Subscribers describes the watchers, ordered by name and beginning, and after
// them the last few that lagged, the oldest first. The number is how many ever did.
func (l *Ledger) Subscribers() (all []SubscriberInfo, lagged uint64) {
	now := l.now()
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, w := range l.watchers {
		all = append(all, w.info(now))
	}
	slices.SortStableFunc(all, func(a, b SubscriberInfo) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), a.Since.Compare(b.Since))
	})
	return append(all, l.lagged.last...), l.lagged.total
}

// Follower is a subscription that goes on where a [Watcher] lagged and ended: it begins
// anew, and gives all documents as they are then. It is for one goroutine at a time.
type Follower struct {
	ledger  *Ledger
	options WatchOptions
	watcher *Watcher
}

// Follow gives the documents that the filter covers, and a follower for everything that
// changes after. The caller reads with Next and must Close.
func (l *Ledger) Follow(o WatchOptions) ([]*Record, *Follower) {
	f := &Follower{ledger: l, options: o}
	return f.begin(), f
}

// FollowEach gives see the documents that the filter covers, and every change after,
// until ctx ends; the error is its cause.
func (l *Ledger) FollowEach(ctx context.Context, o WatchOptions, see func(Change)) error {
	found, f := l.Follow(o)
	return f.Each(ctx, found, see)
}

func (f *Follower) begin() (found []*Record) {
	found, f.watcher = f.ledger.Watch(f.options)
	return found
}

// Each gives see what was found when the follower was made, and every change after, until
// ctx ends, and closes the follower; the error is the cause of ctx.
func (f *Follower) Each(ctx context.Context, found []*Record, see func(Change)) error {
	defer f.Close()
	for change := (Change{Put: found, Whole: true}); ; {
		see(change)
		var err error
		if change, err = f.Next(ctx); err != nil {
			return err
		}
	}
}

// Next waits for the next change. Its error is the context's.
func (f *Follower) Next(ctx context.Context) (Change, error) {
	change, err := f.watcher.Next(ctx)
	if !errors.Is(err, api.ReasonLagged) {
		return change, err
	}
	f.Close()
	return Change{Put: f.begin(), Whole: true}, nil
}

// Close ends the subscription. It may be repeated.
func (f *Follower) Close() { f.watcher.Close() }

// Filter says which documents. The zero value is all that are not deleted.
type Filter struct {
	// Kinds are the kinds wanted; empty = all, also those this version does not know.
	Kinds []api.Kind
	// Nodes are the nodes wanted; empty = all.
	Nodes []api.NodeID
	// Deleted gives deletions as documents, for whoever passes them on. Without
	// it a deleted document is absent from snapshots and a key in Change.Del.
	Deleted bool
}

// clean copies the filter, sorted and without repetitions.
func (f Filter) clean() Filter {
	f.Kinds = sortedSet(f.Kinds)
	f.Nodes = sortedSet(f.Nodes)
	return f
}

func sortedSet[T api.Kind | api.NodeID](all []T) []T {
	all = slices.Clone(all)
	slices.Sort(all)
	return slices.Compact(all)
}

// wants reports whether a clean filter covers the key.
func (f *Filter) wants(k *api.Key) bool {
	return has(f.Kinds, k.Kind) && has(f.Nodes, k.Node)
}

// has searches a sorted list, however long somebody made it; an empty one has all.
func has[T api.Kind | api.NodeID](all []T, one T) bool {
	if len(all) == 0 {
		return true
	}
	_, ok := slices.BinarySearch(all, one)
	return ok
}

// Named is what nodes hold of one kind by one name, ordered by node: the documents
// of one job, for instance. Unlike List it does not look at everything else.
// Deletions are among them where isDeleted says so.
func (l *Ledger) Named(kind api.Kind, name string, isDeleted bool) []*Record {
	var found []*Record
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, node := range l.shelves.order {
		e, ok := l.entries[api.Key{Node: node, Kind: kind, Name: name}]
		if ok && (isDeleted || !e.rec.doc.Deleted) {
			found = append(found, e.rec)
		}
	}
	return found
}

// Change is what happened since the one before.
type Change struct {
	// N numbers the changes of one watcher, from 1 without a gap.
	N uint64
	// Whole says that Put are all documents, as they are at the beginning and after a
	// [Follower] lagged. What is gone meanwhile is not named.
	Whole bool
	// Put are the new and changed documents, each in its latest version.
	Put []*Record
	// Del are the documents that are gone; the watcher may never have seen one
	// that came and went between two changes.
	Del []api.Key
}

// item is the latest of one key on its way to a watcher.
type item struct {
	key    api.Key
	rec    *Record // nil: forgotten
	isLive bool
	since  time.Time // when the key began to wait
}

func (it *item) sizeBytes() int {
	if it.rec == nil {
		return envelopeBytes + 6*len(it.key.Name)
	}
	return it.rec.SizeBytes()
}

func (it *item) tapEvent(by string, now time.Time) TapEvent {
	e := TapEvent{At: now, Type: TapForget, By: by, Key: it.key}
	if it.rec != nil {
		e.Type, e.Version = TapPut, it.rec.Version()
		if it.rec.doc.Deleted {
			e.Type = TapDelete
		}
	}
	return e
}
