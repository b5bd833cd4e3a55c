package ledger

import (
	"cmp"
	"slices"
	"time"
)

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
