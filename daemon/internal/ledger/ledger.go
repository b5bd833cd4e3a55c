package ledger

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/native/waker"
)

// DefaultQueue is how many keys a watcher may be behind by before it lags:
// several times what a cluster of 32 nodes with their ports, jobs and ranks holds.
const DefaultQueue = 8192

// Options is what a ledger needs.
type Options struct {
	// Key is the node's own; with it go the node's id and the right to write.
	Key ed25519.PrivateKey
	// Cluster is what documents are signed for.
	Cluster api.ClusterID
	// Counter keeps the versions. Required.
	Counter Counter
	// Store keeps documents of persisted kinds; nil = they end with the process.
	Store Store
	// TakesBack says of a document of this node's own that it does not hold, and that
	// another node has brought, whether it was lost with an earlier Store and still
	// counts: then it is written again as it was. nil = none is; they are orphans.
	TakesBack func(api.Document) bool
	// Members decides whose documents are taken; nil = nobody's but the node's own.
	Members Members
	// Now is the wall clock; nil = time.Now. It dates documents and ages
	// deletions, which are dates over weeks; no lease or deadline hangs on it.
	Now func() time.Time
	// OnOver hears that OverQuota has one more; nil = nobody does. It must return at
	// once, and not call the ledger.
	OnOver func()
	// Queue is how many keys a watcher may be behind by; 0 = DefaultQueue.
	Queue int
}

// Store keeps the documents of persisted kinds over a restart.
type Store interface {
	// Load gives everything that was saved and not forgotten, in any order.
	Load() ([]api.Document, error)
	// Save keeps documents, each instead of an earlier one with its key, and
	// forgets others, all in one step that is on disk when it returns, but for
	// documents that come again after a crash, which may be there soon after.
	Save(put []api.Document, forget []api.Key) error
}

// Counter keeps how far the node's versions may have been used.
type Counter interface {
	// LoadVersion gives what was saved last, the zero Version if nothing was.
	LoadVersion() (api.Version, error)
	// SaveVersion keeps v and is on disk when it returns: every version up to v
	// counts as used from then on.
	SaveVersion(v api.Version) error
}

// Members says whose signatures count. It is asked while arriving documents are
// held back, so it must answer from memory and not wait for a caller of the ledger.
type Members interface {
	// PublicKey is a member's Ed25519 key; false for whoever is none.
	PublicKey(node api.NodeID) (ed25519.PublicKey, bool)
}

// Ledger is all documents that a node holds. Every method may be called from
// any goroutine.
type Ledger struct {
	options Options
	author  *author

	// saving is held by whoever changes persisted documents, from the check to
	// the publication, so that disk and memory change in the same order. What is
	// not persisted never waits for it.
	saving sync.Mutex

	mu            sync.RWMutex
	records       map[api.Key]*Record // the latest of each key
	recordsByNode recordsByNode       // what is in records
	watchers      []*Watcher
	lagged        uint64 // how many watchers ever did
	interest      interestSet
	foreign       int // bytes held of all nodes but this one
	over          map[api.Key]*Over
	sweptAt       time.Time
	skipped       []error
}

// Open loads the persisted documents and gives the ledger and the one handle
// that writes the node's own. Errors are those of Counter and Store; documents
// that were loaded and break a rule are left out, and Skipped tells them.
func Open(o Options) (*Ledger, *Writer, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Queue <= 0 {
		o.Queue = DefaultQueue
	}
	l := &Ledger{options: o, records: map[api.Key]*Record{}, recordsByNode: recordsByNode{nodes: map[api.NodeID]*nodeRecords{}}, over: map[api.Key]*Over{}}
	if o.Counter == nil {
		return nil, nil, errors.New("ledger: no counter for versions")
	}
	var err error
	if l.author, err = newAuthor(o.Key, o.Cluster, o.Counter); err != nil {
		return nil, nil, err
	}
	l.sweptAt = l.options.Now()
	if err := l.load(); err != nil {
		return nil, nil, err
	}
	return l, &Writer{ledger: l, name: "daemon"}, nil
}

// Node is the node whose ledger it is.
func (l *Ledger) Node() api.NodeID { return l.author.node }

// Skipped says which documents could not be loaded, and why.
func (l *Ledger) Skipped() []error { return slices.Clone(l.skipped) }

// Get is the latest version of one document; false if there is none or it was deleted.
func (l *Ledger) Get(k api.Key) (*Record, bool) {
	r, ok := l.Latest(k)
	if !ok || r.doc.Deleted {
		return nil, false
	}
	return r, true
}

// Latest is the latest version of one document, a deletion too, for whoever
// passes it on; false where nothing is held.
func (l *Ledger) Latest(k api.Key) (*Record, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	r, ok := l.records[k]
	return r, ok
}

// List is the documents that the filter covers, as they are at one moment,
// ordered by node, kind and name.
func (l *Ledger) List(f Filter) []*Record {
	f = f.clean()
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.collectLocked(&f)
}

// collectLocked gathers what a clean filter shows, in order.
func (l *Ledger) collectLocked(f *Filter) []*Record {
	nodes := f.Nodes
	if len(nodes) == 0 {
		nodes = l.recordsByNode.order
	}
	found := make([]*Record, 0, 16)
	for _, node := range nodes {
		if of := l.recordsByNode.nodes[node]; of != nil {
			of.of(f.Kinds, func(some []*Record) {
				for _, r := range some {
					if f.Deleted || !r.doc.Deleted {
						found = append(found, r)
					}
				}
			})
		}
	}
	return found
}

// versionLocked is the version held of a key, zero if none.
func (l *Ledger) versionLocked(k api.Key) api.Version {
	if r, ok := l.records[k]; ok {
		return r.Version()
	}
	return api.Version{}
}

// commit takes documents over where they are newer than what is held, and hands them to
// the watchers, all in one step, with the values of those that are settled. What was
// overtaken is dropped. It returns the deletions that are kept no longer and that the
// store still has; the caller then holds saving.
func (l *Ledger) commit(docs []api.Document, settled map[api.Key]any) (evicted []api.Key) {
	now := l.options.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	items := make([]item, 0, len(docs))
	for i := range docs {
		k := docs[i].Key()
		if docs[i].Version().Compare(l.versionLocked(k)) <= 0 {
			continue
		}
		r := newRecord(docs[i], now)
		if value, is := settled[k]; is {
			r.settle(value)
		}
		l.setLocked(r)
		items = append(items, item{key: k, rec: r, isLive: about(k.Kind).Live})
		if docs[i].Deleted {
			evicted = append(evicted, l.evictLocked(k)...)
		}
	}
	l.publishLocked(items)
	return evicted
}

// publishLocked hands items to every watcher.
func (l *Ledger) publishLocked(items []item) {
	if len(items) == 0 {
		return
	}
	// Backwards, because a watcher that lags is taken out of the list on the way.
	for i := len(l.watchers) - 1; i >= 0; i-- {
		if w := l.watchers[i]; !w.offer(items) {
			l.detachLocked(w)
			l.lagged++
		}
	}
}

// save writes to the store what is persisted of docs.
func (l *Ledger) save(docs []api.Document, forget []api.Key) error {
	if l.options.Store == nil {
		return nil
	}
	put := make([]api.Document, 0, len(docs))
	for i := range docs {
		if about(docs[i].Kind).Persisted {
			put = append(put, docs[i])
		}
	}
	if len(put) == 0 && len(forget) == 0 {
		return nil
	}
	if err := l.options.Store.Save(put, forget); err != nil {
		return fmt.Errorf("save documents: %w", err)
	}
	return nil
}

// ErrEnded is what Next returns after a watcher was closed, or was told that it lagged.
var ErrEnded = errors.New("the subscription has ended")

// WatchOptions says who watches what.
type WatchOptions struct {
	// Name is who watches, for the error of one that lags: "client uid 501", "health".
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

	// wake holds a token when there may be something to take.
	wake waker.Waker
	// index is the place in Ledger.watchers, -1 when taken out; Ledger.mu guards it.
	index int

	mu      sync.Mutex
	waiting map[api.Key]*Record // the latest of each key that waits; nil = forgotten
	// notable and live are the keys that wait, in the order in which they began to.
	notable, live []api.Key
	n             uint64
	state         watcherState
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
		limit: l.options.Queue, wake: waker.New(), waiting: map[api.Key]*Record{}}
	l.mu.Lock()
	found := l.collectLocked(&w.filter)
	w.index = len(l.watchers)
	l.watchers = append(l.watchers, w)
	if !w.passive {
		l.interest.add(&w.filter)
	}
	l.mu.Unlock()
	return found, w
}

// detachLocked takes a watcher out of the list, if it is in it.
func (l *Ledger) detachLocked(w *Watcher) {
	if w.index < 0 {
		return
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
}

// Watchers is how many watchers there are, and how many have lagged so far.
func (l *Ledger) Watchers() (open int, lagged uint64) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return len(l.watchers), l.lagged
}

// Close ends the watcher. A waiting Next returns ErrEnded. It may be repeated.
func (w *Watcher) Close() {
	l := w.ledger
	l.mu.Lock()
	l.detachLocked(w)
	l.mu.Unlock()
	w.mu.Lock()
	w.endLocked(watchEnded)
	w.mu.Unlock()
}

// endLocked drops what waits and wakes the reader.
func (w *Watcher) endLocked(s watcherState) {
	w.state = s
	w.notable, w.live, w.waiting = nil, nil, nil
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
		if len(w.waiting) == 0 {
			w.wake.Wake()
		}
		if _, waits := w.waiting[it.key]; waits { // no less for the newer version
		} else if it.isLive {
			w.live = append(w.live, it.key)
		} else {
			w.notable = append(w.notable, it.key)
		}
		w.waiting[it.key] = it.rec
	}
	if len(w.waiting) > w.limit {
		w.endLocked(lagging)
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
	case len(w.waiting) == 0:
		return Change{}, false, nil
	}
	w.n++
	c := Change{N: w.n}
	room := w.batch
	if w.fill(&c, &w.notable, &room) {
		w.fill(&c, &w.live, &room)
	}
	return c, true, nil
}

// fill moves items to the change while there is room, and reports whether it
// moved all.
func (w *Watcher) fill(c *Change, queue *[]api.Key, room *int) bool {
	for i, key := range *queue {
		rec := w.waiting[key]
		if w.batch > 0 {
			if *room -= sizeBytes(key, rec); *room < 0 && len(c.Put)+len(c.Del) > 0 {
				*queue = (*queue)[i:]
				return false
			}
		}
		if rec == nil || rec.doc.Deleted && !w.filter.Deleted {
			c.Del = append(c.Del, key)
		} else {
			if c.Put == nil {
				c.Put = make([]*Record, 0, len(*queue)-i)
			}
			c.Put = append(c.Put, rec)
		}
		delete(w.waiting, key)
	}
	if *queue = (*queue)[:0]; cap(*queue) > 256 {
		*queue = nil // a burst made it large
	}
	return true
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
	for _, node := range l.recordsByNode.order {
		r, ok := l.records[api.Key{Node: node, Kind: kind, Name: name}]
		if ok && (isDeleted || !r.doc.Deleted) {
			found = append(found, r)
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
}

// sizeBytes bounds what a key takes on the wire with its record; nil = it is forgotten.
func sizeBytes(key api.Key, rec *Record) int {
	if rec == nil {
		return envelopeBytes + 6*len(key.Name)
	}
	return rec.SizeBytes()
}
