package ledger

import (
	"slices"
	"sync"

	"fulmen/daemon/api"
	"fulmen/native/waker"
)

// Interest is one thing that somebody watches and that moves, or is measured
// again, only meanwhile. Kinds that move by themselves do not count: nobody starts
// or stops anything for them.
type Interest struct {
	// Kind is the live or fresh kind; empty = every kind.
	Kind api.Kind
	// Node is the node; empty = every node.
	Node api.NodeID
}

// interestSet counts who watches what. Ledger.mu guards it.
type interestSet struct {
	counts  map[Interest]int
	waiting []*InterestWatcher
}

// each visits everything of interest that the filter asks for.
func (f *Filter) each(visit func(Interest)) {
	kinds, nodes := []api.Kind{""}, f.Nodes
	if len(f.Kinds) > 0 {
		kinds = slices.DeleteFunc(slices.Clone(f.Kinds), func(k api.Kind) bool { return !isInteresting(k) })
	}
	if len(nodes) == 0 {
		nodes = []api.NodeID{""}
	}
	for _, k := range kinds {
		for _, n := range nodes {
			visit(Interest{k, n})
		}
	}
}

func (s *interestSet) add(f *Filter) {
	if s.counts == nil {
		s.counts = map[Interest]int{}
	}
	isNew := false
	f.each(func(i Interest) {
		isNew = isNew || s.counts[i] == 0
		s.counts[i]++
	})
	if isNew {
		s.signal()
	}
}

func (s *interestSet) remove(f *Filter) {
	isLast := false
	f.each(func(i Interest) {
		if s.counts[i]--; s.counts[i] == 0 {
			delete(s.counts, i)
			isLast = true
		}
	})
	if isLast {
		s.signal()
	}
}

func (s *interestSet) signal() {
	for _, w := range s.waiting {
		w.c.Wake()
	}
}

// Want counts as a watcher of what the filter covers, until done is called: for
// whoever looks at something that is derived of documents.
func (l *Ledger) Want(f Filter) (done func()) {
	f = f.clean()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.interest.add(&f)
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.interest.remove(&f)
	})
}

// Interested reports whether somebody watches documents of the node of a live or
// fresh kind.
func (l *Ledger) Interested(kind api.Kind, node api.NodeID) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	c := l.interest.counts
	return c[Interest{kind, node}] > 0 || c[Interest{kind, ""}] > 0 || c[Interest{"", node}] > 0 || c[Interest{}] > 0
}

// Watched reports whether a watcher that is not passive gets changes of a document.
func (l *Ledger) Watched(key api.Key) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return slices.ContainsFunc(l.watchers, func(w *Watcher) bool { return !w.passive && w.filter.wants(&key) })
}

// Interests is everything that somebody watches, ordered by kind and node.
func (l *Ledger) Interests() []Interest {
	l.mu.RLock()
	defer l.mu.RUnlock()
	all := make([]Interest, 0, len(l.interest.counts))
	for i := range l.interest.counts {
		all = append(all, i)
	}
	slices.SortFunc(all, func(a, b Interest) int {
		return api.Key{Kind: a.Kind, Name: string(a.Node)}.Compare(api.Key{Kind: b.Kind, Name: string(b.Node)})
	})
	return all
}

// InterestWatcher tells when the first watcher of something came or the last
// one left. As with every hint the truth is read after it, with Interested: a
// watcher that left and came again at once may have made one hint or none.
type InterestWatcher struct {
	ledger *Ledger
	c      waker.Waker
}

// WatchInterest begins with one hint, so that a single loop reads the state at
// the start as well.
func (l *Ledger) WatchInterest() *InterestWatcher {
	w := &InterestWatcher{ledger: l, c: waker.New()}
	w.c <- struct{}{}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.interest.waiting = append(l.interest.waiting, w)
	return w
}

// C has a token after interest began or ended. It is never closed.
func (w *InterestWatcher) C() <-chan struct{} { return w.c }

// Close ends the hints. It may be repeated.
func (w *InterestWatcher) Close() {
	l := w.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	l.interest.waiting = slices.DeleteFunc(l.interest.waiting, func(o *InterestWatcher) bool { return o == w })
}
