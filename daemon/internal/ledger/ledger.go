package ledger

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
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
	// another node has brought, whether it was lost with a Store of before and still
	// counts: then it is written again as it was. nil = none is; they are ghosts.
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
	PublicKey(node api.NodeID) ([]byte, bool)
}

// Ledger is all documents that a node holds. Every method may be called from
// any goroutine.
type Ledger struct {
	store   Store
	members Members
	// takesBack is as in [Options].
	takesBack func(api.Document) bool
	now       func() time.Time
	queue     int
	author    *author

	// saving is held by whoever changes persisted documents, from the check to
	// the publication, so that disk and memory change in the same order. What is
	// not persisted never waits for it.
	saving sync.Mutex

	mu       sync.RWMutex
	entries  map[api.Key]*entry
	shelves  shelves // what is in entries
	watchers []*Watcher
	interest interestSet
	taps     tapSet
	quotas   quotas
	onOver   func()
	lagged   laggedList
	sweptAt  time.Time
	skipped  []error
}

// entry is a key's latest version.
type entry struct {
	rec *Record
	// heldSince is when a deletion arrived, zero where it was loaded.
	heldSince time.Time
	weight    int // as it is counted; 0 of a deletion
}

// Open loads the persisted documents and gives the ledger and the one handle
// that writes the node's own. Errors are those of Counter and Store; documents
// that were loaded and break a rule are left out, and Skipped tells them.
func Open(o Options) (*Ledger, *Writer, error) {
	l := &Ledger{store: o.Store, members: o.Members, takesBack: o.TakesBack, now: o.Now, queue: o.Queue, onOver: o.OnOver, entries: map[api.Key]*entry{}, shelves: shelves{nodes: map[api.NodeID]*shelf{}},
		quotas: quotas{writers: map[api.NodeID]*writerShare{}, over: map[quotaKey]*Over{}}}
	if l.now == nil {
		l.now = time.Now
	}
	if l.queue <= 0 {
		l.queue = DefaultQueue
	}
	if o.Counter == nil {
		return nil, nil, errors.New("ledger: no counter for versions")
	}
	var err error
	if l.author, err = newAuthor(o.Key, o.Cluster, o.Counter); err != nil {
		return nil, nil, err
	}
	l.sweptAt = l.now()
	if err := l.load(); err != nil {
		return nil, nil, err
	}
	return l, &Writer{ledger: l, name: "daemon"}, nil
}

// Node is the node whose ledger it is.
func (l *Ledger) Node() api.NodeID { return l.author.node }

// Cluster is what documents are signed for now.
func (l *Ledger) Cluster() api.ClusterID {
	l.author.era.RLock()
	defer l.author.era.RUnlock()
	return l.author.cluster
}

// Skipped says which documents could not be loaded, and why.
func (l *Ledger) Skipped() []error { return slices.Clone(l.skipped) }

// Get is the latest version of one document; false if there is none or it was deleted.
func (l *Ledger) Get(k api.Key) (*Record, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	e, ok := l.entries[k]
	if !ok || e.rec.doc.Deleted {
		return nil, false
	}
	return e.rec, true
}

// Latest is the latest version of one document, a deletion too, for whoever
// passes it on; false where nothing is held.
func (l *Ledger) Latest(k api.Key) (*Record, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	e, ok := l.entries[k]
	if !ok {
		return nil, false
	}
	return e.rec, true
}

// List is the documents that the filter covers, as they are at one moment,
// ordered by node, kind and name.
func (l *Ledger) List(f Filter) []*Record {
	f = f.clean()
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.collect(&f)
}

// collect gathers what a clean filter shows, in order; the caller holds mu.
func (l *Ledger) collect(f *Filter) []*Record {
	nodes := f.Nodes
	if len(nodes) == 0 {
		nodes = l.shelves.order
	}
	found := make([]*Record, 0, 16)
	for _, node := range nodes {
		if of := l.shelves.nodes[node]; of != nil {
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

// version is the version held of a key, zero if none. The caller holds mu.
func (l *Ledger) version(k api.Key) api.Version {
	if e, ok := l.entries[k]; ok {
		return e.rec.Version()
	}
	return api.Version{}
}

// commit takes documents over where they are newer than what is held, and
// hands them to the watchers, all in one step. What was overtaken is dropped. It
// returns the deletions that are kept no longer and that the store still has; the
// caller then holds saving.
func (l *Ledger) commit(docs []api.Document, by string) (evicted []api.Key) {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	items := make([]item, 0, len(docs))
	for i := range docs {
		k := docs[i].Key()
		if docs[i].Version().Compare(l.version(k)) <= 0 {
			continue
		}
		e := &entry{rec: newRecord(docs[i], now)}
		if docs[i].Deleted {
			e.heldSince = now
		}
		l.set(k, e)
		items = append(items, item{key: k, rec: e.rec, isLive: isLive(k.Kind), since: now})
		if docs[i].Deleted {
			evicted = append(evicted, l.evict(k)...)
		}
	}
	l.publish(items, by, now)
	return evicted
}

// publish hands items to every watcher; the caller holds mu.
func (l *Ledger) publish(items []item, by string, now time.Time) {
	if len(items) == 0 {
		return
	}
	// Backwards, because a watcher that lags is taken out of the list on the way.
	for i := len(l.watchers) - 1; i >= 0; i-- {
		w := l.watchers[i]
		if !w.offer(items) {
			l.detach(w)
			l.lagged.add(w.info(now))
			l.taps.add(TapEvent{At: now, Type: TapLagged, By: w.name})
		}
	}
	if l.taps.none() {
		return
	}
	for _, it := range items {
		l.taps.add(it.tapEvent(by, now))
	}
}

// save writes to the store what is persisted of docs.
func (l *Ledger) save(docs []api.Document, forget []api.Key) error {
	if l.store == nil {
		return nil
	}
	put := make([]api.Document, 0, len(docs))
	for i := range docs {
		if isPersisted(docs[i].Kind) {
			put = append(put, docs[i])
		}
	}
	if len(put) == 0 && len(forget) == 0 {
		return nil
	}
	if err := l.store.Save(put, forget); err != nil {
		return fmt.Errorf("save documents: %w", err)
	}
	return nil
}
