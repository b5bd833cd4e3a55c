package audit

import (
	"cmp"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

const (
	// writeNew is how long a new entry may be in memory alone.
	writeNew = time.Second
	// writeRepeat is the same for the count of one that is written. The lease of a job
	// is renewed every few seconds, and each time would be a flush of the disk.
	writeRepeat = time.Minute
	// writeAgain is after a write that failed.
	writeAgain = time.Minute
	// expireEvery is how often Record looks for entries that are too old.
	expireEvery = time.Hour
)

// Entry is a call to record.
type Entry = api.AuditCall

// Store keeps the records.
type Store interface {
	// LoadAudit calls f for every record, in the order of the keys.
	LoadAudit(f func(key string, raw []byte)) error
	// SaveAudit writes some records and deletes others, all or none of it.
	SaveAudit(put map[string][]byte, forget []string) error
}

// Config is what a Log needs.
type Config struct {
	// Clock dates entries and times the writing.
	Clock native.Clock
	// Store keeps the entries.
	Store Store
	// Log is told of records that cannot be read or written.
	Log *slog.Logger
}

// Log is the record. Its methods may be called at the same time.
type Log struct {
	config Config

	writing sync.Mutex // held during a write, so that an older state never comes later

	mu       sync.Mutex
	book     *book
	pending  map[string]*held // not stored as they are now; those that were dropped are to be deleted
	timer    native.Timer     // nil where nothing is to be written
	due      time.Duration    // when, on Boot
	expire   time.Time        // when Record looks for old entries next
	reported bool             // that nothing can be written
	ended    bool
}

// Open reads what is stored. Records that cannot be read are left out and deleted.
func Open(c Config) (*Log, error) {
	l := &Log{config: c, book: newBook(api.AuditKept, api.AuditKeptPerCaller), pending: map[string]*held{}}
	damaged := 0
	err := c.Store.LoadAudit(func(key string, raw []byte) {
		entry, err := decode(raw)
		if err != nil || keyOf(entry.Seq) != key {
			damaged++
			l.pending[key] = &held{stored: true, dropped: true}
			return
		}
		l.noteLocked(l.book.restore(entry))
	})
	if err != nil {
		return nil, err
	}
	if damaged > 0 {
		c.Log.Warn("records of the audit were left out because they cannot be read", "records", damaged)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expireOldLocked()
	if len(l.pending) > 0 {
		l.armLocked(writeNew)
	}
	return l, nil
}

// Record notes a call of now. It waits for nothing and cannot fail: what cannot be
// written stays in memory. A node's own calls to itself are not for it.
func (l *Log) Record(e Entry) {
	e = clean(e)
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.config.Clock.Now()
	if now.After(l.expire) || l.expire.Sub(now) > expireEvery { // also after the wall clock was set back
		l.expireOldLocked()
	}
	entry, changed := l.book.add(e, api.TimeOf(now))
	l.noteLocked(changed)
	if entry.Count == 1 {
		l.armLocked(writeNew)
	} else {
		l.armLocked(writeRepeat)
	}
}

// List gives a page of the entries that a reader may see.
func (l *Log) List(p api.EventAuditParams, sees func(Entry) bool) api.EventAuditResult {
	l.mu.Lock()
	l.expireOldLocked()
	var all []api.AuditEntry
	for h := range l.book.all() {
		if e := h.entry; !e.Last.Before(p.Since.Time) && (p.Before == 0 || e.Seq < p.Before) && sees(e.AuditCall) {
			all = append(all, e)
		}
	}
	l.mu.Unlock()
	slices.SortFunc(all, func(a, b api.AuditEntry) int { return cmp.Compare(a.Seq, b.Seq) })
	first := max(0, len(all)-api.AuditPage)
	return api.EventAuditResult{Entries: append([]api.AuditEntry{}, all[first:]...), More: first > 0}
}

// expireOldLocked drops what is too old.
func (l *Log) expireOldLocked() {
	now := l.config.Clock.Now()
	l.expire = now.Add(expireEvery)
	if old := l.book.expire(api.TimeOf(now.Add(-api.AuditTTL))); len(old) > 0 {
		l.noteLocked(old)
		l.armLocked(writeNew)
	}
}

// noteLocked takes what has to be written.
func (l *Log) noteLocked(changed []*held) {
	for _, h := range changed {
		if key := keyOf(h.entry.Seq); h.dropped && !h.stored {
			delete(l.pending, key)
		} else {
			l.pending[key] = h
		}
	}
}

// armLocked has what is noted written within a time.
func (l *Log) armLocked(within time.Duration) {
	due := l.config.Clock.Boot() + within
	if l.ended || l.timer != nil && l.due <= due {
		return
	}
	if l.timer != nil {
		l.timer.Stop()
	}
	l.due = due
	l.timer = l.config.Clock.AfterFunc(within, func() { _ = l.Flush() })
}

// Flush writes what is noted. It is on the disk when Flush returns nil.
func (l *Log) Flush() error {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	taken := l.pending
	l.pending = map[string]*held{}
	put, forget := map[string][]byte{}, []string{}
	for key, h := range taken {
		if h.dropped {
			forget = append(forget, key)
		} else {
			put[key], _ = json.Marshal(h.entry) // of texts and numbers
		}
	}
	l.mu.Unlock()
	if len(taken) == 0 {
		return nil
	}
	err := l.config.Store.SaveAudit(put, forget)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.reported = false
		for key := range put {
			h := taken[key]
			if h.stored = true; h.dropped { // meanwhile
				l.pending[key] = h
				l.armLocked(writeNew)
			}
		}
		return nil
	}
	for key, h := range taken {
		if h.stored || !h.dropped {
			l.pending[key] = h
		}
	}
	l.armLocked(writeAgain)
	if !l.reported {
		l.reported = true
		l.config.Log.Error("the audit could not be saved; it is tried again", "error", err)
	}
	return err
}

// Close writes what is noted. What is recorded later is lost.
func (l *Log) Close() error {
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	return l.Flush()
}
