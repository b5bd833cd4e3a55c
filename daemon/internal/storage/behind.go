package storage

import (
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

const (
	// behindFor is how long a document may be in memory alone that need not be on
	// disk at once. A job of four ranks brings some thirty to each node within a
	// tenth of a second; each by itself would be a commit of its own, two flushes of
	// the disk, in the way of those that somebody waits for.
	behindFor = 250 * time.Millisecond
	// behindAgain is after a write of them that failed.
	behindAgain = 2 * time.Second
)

// Behind is the storage of documents. Those that come again are written late,
// several at once: what other nodes have written, who say it again, and this
// node's own grants and ranks, which are said again from what runs and from the
// records beside the ranks. All others are on disk when Save returns.
type Behind struct {
	Records
	self  api.NodeID
	clock native.Clock
	log   *slog.Logger

	writing sync.Mutex // held during a write, so that an older version never comes later

	mu       sync.Mutex
	docs     map[api.Key]api.Document // not written yet
	timer    native.Timer             // nil where nothing is to be written
	ended    bool
	reported bool // that they cannot be written
}

// NewBehind is the storage of a node's ledger.
func NewBehind(s Records, self api.NodeID, clock native.Clock, log *slog.Logger) *Behind {
	return &Behind{Records: s, self: self, clock: clock, log: log, docs: map[api.Key]api.Document{}}
}

// mayWait reports whether a document comes again.
func (b *Behind) mayWait(d api.Document) bool {
	return d.Node != b.self || d.Kind == api.KindRank || d.Kind == api.KindGrant
}

// Save implements ledger.Store.
func (b *Behind) Save(put []api.Document, forget []api.Key) error {
	if len(forget) == 0 && !slices.ContainsFunc(put, func(d api.Document) bool { return !b.mayWait(d) }) && b.later(put) {
		return nil
	}
	return b.write(put, forget)
}

// later notes documents; false when nothing is written late any more.
func (b *Behind) later(put []api.Document) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return false
	}
	for _, d := range put {
		b.docs[d.Key()] = d
	}
	b.armLocked(behindFor)
	return true
}

// armLocked has what is noted written soon.
func (b *Behind) armLocked(after time.Duration) {
	if b.timer == nil && !b.ended && len(b.docs) > 0 {
		b.timer = b.clock.AfterFunc(after, func() { _ = b.Flush() })
	}
}

// Flush writes what is noted. It is on disk when Flush returns nil.
func (b *Behind) Flush() error { return b.write(nil, nil) }

// write writes documents, and with them in one step all that is noted.
func (b *Behind) write(put []api.Document, forget []api.Key) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	b.mu.Lock()
	late := b.docs
	b.docs = map[api.Key]api.Document{}
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
	b.mu.Unlock()
	all := maps.Clone(late)
	for _, d := range put {
		all[d.Key()] = d
	}
	for _, key := range forget {
		delete(all, key)
		delete(late, key)
	}
	if len(all) == 0 && len(forget) == 0 {
		return nil
	}
	err := b.Records.Save(slices.Collect(maps.Values(all)), forget)
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		b.reported = false
		return nil
	}
	for key, d := range late { // what came meanwhile is newer
		if _, newer := b.docs[key]; !newer {
			b.docs[key] = d
		}
	}
	b.armLocked(behindAgain)
	if !b.reported && len(late) > 0 {
		b.reported = true
		b.log.Error("documents could not be saved; it is tried again", "documents", len(late), "error", err)
	}
	return err
}

// Close writes what is noted; what comes later is written at once.
func (b *Behind) Close() error {
	b.mu.Lock()
	b.ended = true
	b.mu.Unlock()
	return b.Flush()
}
