package ledger

import (
	"slices"
	"sync"

	"fulmen/daemon/api"
	"fulmen/native/waker"
)

// interestSet counts who watches what moves, or is measured again, only meanwhile. Kinds
// that move by themselves do not count: nobody starts or stops anything for them.
type interestSet struct {
	counts  map[api.Key]int // by kind and node, empty = every one; Ledger.mu guards it
	waiting waker.Group
}

// each visits everything of interest that the filter asks for.
func (f *Filter) each(visit func(api.Key)) {
	kinds, nodes := []api.Kind{""}, f.Nodes
	if len(f.Kinds) > 0 {
		kinds = slices.DeleteFunc(slices.Clone(f.Kinds), func(k api.Kind) bool { return !about(k).Live && !about(k).Fresh })
	}
	if len(nodes) == 0 {
		nodes = []api.NodeID{""}
	}
	for _, k := range kinds {
		for _, n := range nodes {
			visit(api.Key{Kind: k, Node: n})
		}
	}
}

func (s *interestSet) add(f *Filter) {
	if s.counts == nil {
		s.counts = map[api.Key]int{}
	}
	isNew := false
	f.each(func(i api.Key) {
		isNew = isNew || s.counts[i] == 0
		s.counts[i]++
	})
	if isNew {
		s.waiting.Wake()
	}
}

func (s *interestSet) remove(f *Filter) {
	isLast := false
	f.each(func(i api.Key) {
		if s.counts[i]--; s.counts[i] == 0 {
			delete(s.counts, i)
			isLast = true
		}
	})
	if isLast {
		s.waiting.Wake()
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
	return c[api.Key{Kind: kind, Node: node}] > 0 || c[api.Key{Kind: kind}] > 0 || c[api.Key{Node: node}] > 0 || c[api.Key{}] > 0
}

// Watched reports whether a watcher that is not passive gets changes of a document.
func (l *Ledger) Watched(key api.Key) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return slices.ContainsFunc(l.watchers, func(w *Watcher) bool { return !w.passive && w.filter.wants(&key) })
}

// WatchInterest tells when the first watcher of something came or the last one left,
// until done is called. As with every hint the truth is read after it, with Interested: a
// watcher that left and came again at once may have made one hint or none. It begins with
// one hint, so that a single loop reads the state at the start as well.
func (l *Ledger) WatchInterest() (hints <-chan struct{}, done func()) {
	w, done := l.interest.waiting.Add()
	w.Wake()
	return w, done
}
