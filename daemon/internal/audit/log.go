package audit

import (
	"cmp"
	"encoding/json"
	"log/slog"
	"maps"
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

	mu     sync.Mutex
	book   *book
	dirty  map[*held]struct{}  // not written as they are now
	forget map[string]struct{} // written, and to be deleted
	timer  native.Timer        // nil where nothing is to be written
	due    time.Duration       // when, on Boot
	expire time.Time           // when Record looks for old entries next
	said   bool                // that nothing can be written
	ended  bool
}

// Open reads what is stored. Records that cannot be read are left out and deleted.
func Open(c Config) (*Log, error) {
	l := &Log{config: c, book: newBook(api.AuditKept, api.AuditKeptPerCaller), dirty: map[*held]struct{}{}, forget: map[string]struct{}{}}
	damaged := 0
	err := c.Store.LoadAudit(func(key string, raw []byte) {
		entry, err := decode(raw)
		if err != nil || keyOf(entry.Seq) != key {
			damaged++
			l.forget[key] = struct{}{}
			return
		}
		l.note(l.book.restore(entry))
	})
	if err != nil {
		return nil, err
	}
	if damaged > 0 {
		c.Log.Warn("records of the audit were left out because they cannot be read", "records", damaged)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expireOld()
	if len(l.dirty)+len(l.forget) > 0 {
		l.arm(writeNew)
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
		l.expireOld()
	}
	entry, change := l.book.add(e, api.TimeOf(now))
	l.note(change)
	if entry.Count == 1 {
		l.arm(writeNew)
	} else {
		l.arm(writeRepeat)
	}
}

// List gives a page of the entries that a reader may see.
func (l *Log) List(p api.EventAuditParams, sees func(Entry) bool) api.EventAuditResult {
	l.mu.Lock()
	l.expireOld()
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

// expireOld drops what is too old. The caller holds mu.
func (l *Log) expireOld() {
	now := l.config.Clock.Now()
	l.expire = now.Add(expireEvery)
	if change := l.book.expire(api.TimeOf(now.Add(-api.AuditTTL))); len(change.dropped) > 0 {
		l.note(change)
		l.arm(writeNew)
	}
}

// note takes what has to be written. The caller holds mu.
func (l *Log) note(c change) {
	for _, h := range c.changed {
		l.dirty[h] = struct{}{}
	}
	for _, h := range c.dropped {
		delete(l.dirty, h)
		if h.stored {
			l.forget[keyOf(h.entry.Seq)] = struct{}{}
		}
	}
}

// arm has what is noted written within a time. The caller holds mu.
func (l *Log) arm(within time.Duration) {
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
	var entries []api.AuditEntry
	var fresh []*held
	for h := range l.dirty {
		entries = append(entries, h.entry)
		if !h.stored {
			h.stored = true // by the time that it is dropped, if it is
			fresh = append(fresh, h)
		}
	}
	dirty, forget := l.dirty, slices.Collect(maps.Keys(l.forget))
	l.dirty, l.forget = map[*held]struct{}{}, map[string]struct{}{}
	l.mu.Unlock()
	if len(entries)+len(forget) == 0 {
		return nil
	}
	err := l.save(entries, forget)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.said = false
		return nil
	}
	l.again(dirty, fresh, forget)
	l.arm(writeAgain)
	if !l.said {
		l.said = true
		l.config.Log.Error("the audit could not be saved; it is tried again", "error", err)
	}
	return err
}

func (l *Log) save(entries []api.AuditEntry, forget []string) error {
	put := make(map[string][]byte, len(entries))
	for _, e := range entries {
		raw, err := json.Marshal(e)
		if err != nil {
			return err
		}
		put[keyOf(e.Seq)] = raw
	}
	return l.config.Store.SaveAudit(put, forget)
}

// again notes once more what a write that failed did not write. The caller holds mu.
func (l *Log) again(dirty map[*held]struct{}, fresh []*held, forget []string) {
	for _, h := range fresh {
		h.stored = false
		delete(l.forget, keyOf(h.entry.Seq))
	}
	for h := range dirty {
		if !h.dropped {
			l.dirty[h] = struct{}{}
		}
	}
	for _, key := range forget {
		l.forget[key] = struct{}{}
	}
}

// Close writes what is noted. What is recorded later is lost.
func (l *Log) Close() error {
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	return l.Flush()
}
