package event

import (
	"slices"
	"sync"

	"fulmen/daemon/api"
)

// Ring keeps the newest events. Its methods may be called at the same time.
type Ring struct {
	mu      sync.Mutex
	entries []Entry
	number  uint64
	since   api.Time
}

// NewRing makes a ring that is empty since a time.
func NewRing(since api.Time) *Ring { return &Ring{since: since} }

// Add keeps events of a time, and drops the oldest where there are more than
// [api.EventsKept]. It reports whether there were any.
func (r *Ring) Add(at api.Time, entries []Entry) bool {
	if len(entries) == 0 {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range entries {
		r.number++
		e.Seq, e.At = r.number, at
		r.entries = append(r.entries, e)
	}
	if extra := len(r.entries) - api.EventsKept; extra > 0 {
		r.entries = slices.Delete(r.entries, 0, extra)
		r.since = r.entries[0].At
	}
	return true
}

// List gives the events that are kept, the oldest first, and from when on those
// are all.
func (r *Ring) List() (entries []Entry, since api.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.entries), r.since
}
