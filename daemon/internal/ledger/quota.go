package ledger

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"fulmen/daemon/api"
)

// holding is what is held of one writer and kind, by Kind.QuotaKind.
type holding struct {
	documents, bytes int
	deleted          map[api.Key]api.Version
}

// writerShare is what is held of one node.
type writerShare struct {
	kinds map[api.Kind]*holding
	bytes int
}

// quotas counts what is held. Ledger.mu guards it.
type quotas struct {
	writers map[api.NodeID]*writerShare
	foreign int // bytes, of all nodes but this one
	over    map[quotaKey]*Over
}

type quotaKey struct {
	node api.NodeID
	kind api.Kind
}

// Over is a writer whose documents were refused because it has as many as are kept
// of one.
type Over struct {
	// Node is the writer, Kind the kind; empty for those that this version does not know.
	Node api.NodeID
	Kind api.Kind
	// Bound is the limit that it has reached, in words.
	Bound string
	// Refused is how many documents were since the last time that none was for OverFor.
	Refused uint64
	// Last is when the last one was.
	Last time.Time
}

// OverFor is how long a writer counts as being over its quota after the last
// document that was refused for it.
const OverFor = 10 * time.Minute

// set makes e what is held of a key. The caller holds mu.
func (l *Ledger) set(k api.Key, e *entry) {
	l.uncount(k)
	l.entries[k] = e
	l.shelves.put(e.rec)
	w := l.quotas.writers[k.Node]
	if w == nil {
		w = &writerShare{kinds: map[api.Kind]*holding{}}
		l.quotas.writers[k.Node] = w
	}
	h := w.kinds[k.Kind.QuotaKind()]
	if h == nil {
		h = &holding{}
		w.kinds[k.Kind.QuotaKind()] = h
	}
	if e.rec.doc.Deleted {
		if h.deleted == nil {
			h.deleted = map[api.Key]api.Version{}
		}
		h.deleted[k] = e.rec.Version()
		return
	}
	e.weight = e.rec.doc.Weight()
	h.documents++
	l.weigh(k.Node, w, h, e.weight)
}

// unset takes a key out. The caller holds mu.
func (l *Ledger) unset(k api.Key) {
	l.uncount(k)
	delete(l.entries, k)
	l.shelves.take(k)
}

// uncount takes what is held of a key out of the counts. The caller holds mu.
func (l *Ledger) uncount(k api.Key) {
	e, isHeld := l.entries[k]
	if !isHeld {
		return
	}
	w := l.quotas.writers[k.Node]
	h := w.kinds[k.Kind.QuotaKind()]
	if e.rec.doc.Deleted {
		delete(h.deleted, k)
	} else {
		h.documents--
		l.weigh(k.Node, w, h, -e.weight)
	}
	if h.documents == 0 && len(h.deleted) == 0 {
		delete(w.kinds, k.Kind.QuotaKind())
	}
	if len(w.kinds) == 0 {
		delete(l.quotas.writers, k.Node)
	}
}

func (l *Ledger) weigh(node api.NodeID, w *writerShare, h *holding, bytes int) {
	h.bytes += bytes
	w.bytes += bytes
	if node != l.author.node {
		l.quotas.foreign += bytes
	}
}

// bound is the limit that a document of another node would go beyond, empty where it
// fits. A writer that has used up its quota can still change and delete what it has: a
// document that replaces another one has half as many bytes more. The caller holds mu.
func (l *Ledger) bound(k api.Key, weight int) string {
	w := l.quotas.writers[k.Node]
	if w == nil {
		w = &writerShare{}
	}
	h := w.kinds[k.Kind.QuotaKind()]
	if h == nil {
		h = &holding{}
	}
	quota := k.Kind.Quota()
	atMost := func(bytes int) int { return bytes }
	if e := l.entries[k]; e != nil && !e.rec.doc.Deleted {
		weight -= e.weight
		atMost = func(bytes int) int { return bytes + bytes/2 }
	} else if h.documents >= quota.Documents {
		return fmt.Sprintf("%d documents", quota.Documents)
	}
	part := api.MaxForeignBytes / max(len(l.quotas.writers), 1)
	switch {
	case weight <= 0:
		return ""
	case h.bytes+weight > atMost(quota.Bytes):
		return fmt.Sprintf("%d KiB", quota.Bytes>>10)
	case w.bytes+weight > atMost(api.MaxWriterBytes):
		return fmt.Sprintf("%d KiB of all kinds", api.MaxWriterBytes>>10)
	case k.Node != l.author.node && l.quotas.foreign+weight > atMost(api.MaxForeignBytes) && w.bytes+weight > atMost(part):
		return fmt.Sprintf("%d KiB of all kinds while all Macs together have %d", part>>10, api.MaxForeignBytes>>10)
	}
	return ""
}

// Fits says whether a document of a key that is not held would be kept, however small
// it is. Replication asks before it fetches one; of what was refused lately nothing
// is fetched, since how large it is nobody knows before. The error is
// api.ReasonTooManyDocuments, and counts as refused if the writer itself offers it.
func (l *Ledger) Fits(k api.Key, from api.NodeID) error {
	if k.Node == l.author.node {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	bound := l.bound(k, 1)
	if o := l.quotas.over[quotaKey{k.Node, k.Kind.QuotaKind()}]; bound == "" && (o == nil || l.now().Sub(o.Last) > OverFor) {
		return nil
	} else if bound == "" {
		return overQuota(k, o.Bound)
	}
	if from == k.Node {
		l.refuse(k, bound)
	}
	return overQuota(k, bound)
}

func overQuota(k api.Key, bound string) error {
	return api.Errorf(api.ReasonTooManyDocuments, k.String(), "%s is not kept: of %s there may be %s of one Mac, and %s has them",
		k, kindName(k.Kind.QuotaKind()), bound, k.Node.Display())
}

func kindName(k api.Kind) string {
	if k == "" {
		return "kinds that this version does not know"
	}
	return "the kind " + string(k)
}

// admitOwn refuses new documents of this node's own that nobody else would keep. The
// caller does not hold mu.
func (l *Ledger) admitOwn(docs []api.Document) error {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for i := range docs {
		k := docs[i].Key()
		info, isKnown := api.LookupKind(k.Kind)
		if e := l.entries[k]; docs[i].Deleted || isKnown && !info.Replicated || e != nil && !e.rec.doc.Deleted {
			continue
		}
		if bound := l.bound(k, docs[i].Weight()); bound != "" {
			return overQuota(k, bound)
		}
	}
	return nil
}

// admit refuses a document of another node for which there is no room. Its signature counts, so that
// nobody uses up another one's quota or is told to. The caller holds mu.
func (l *Ledger) admit(d *api.Document) error {
	if d.Deleted {
		return nil
	}
	bound := l.bound(d.Key(), d.Weight())
	if bound == "" {
		return nil
	}
	l.refuse(d.Key(), bound)
	return overQuota(d.Key(), bound)
}

// refuse counts. The caller holds mu.
func (l *Ledger) refuse(k api.Key, bound string) {
	at := quotaKey{k.Node, k.Kind.QuotaKind()}
	now := l.now()
	o := l.quotas.over[at]
	isNew := o == nil || now.Sub(o.Last) > OverFor
	if isNew {
		o = &Over{Node: at.node, Kind: at.kind}
		l.quotas.over[at] = o
	}
	o.Bound, o.Last = bound, now
	o.Refused++
	if isNew && l.onOver != nil {
		l.onOver()
	}
}

// OverQuota lists the writers of which documents were refused in the last OverFor,
// in the order of nodes and kinds.
func (l *Ledger) OverQuota() []Over {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	var all []Over
	for at, o := range l.quotas.over {
		if now.Sub(o.Last) > OverFor || l.quotas.writers[at.node] == nil {
			delete(l.quotas.over, at)
			continue
		}
		all = append(all, *o)
	}
	slices.SortFunc(all, func(a, b Over) int { return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Kind, b.Kind)) })
	return all
}

// evict takes out the oldest deletions of whoever has more than are kept, and returns
// those that the store has too. All nodes keep the same ones, those of the newest
// versions, so that they agree on what they hold. A document whose deletion is gone
// and that somebody still has comes back until its writer hears of it, which then
// deletes it again. k has just been deleted; the caller holds mu.
func (l *Ledger) evict(k api.Key) (persisted []api.Key) {
	h := l.quotas.writers[k.Node].kinds[k.Kind.QuotaKind()]
	for excess := len(h.deleted) - k.Kind.Quota().Deleted; excess > 0; excess-- {
		var oldest api.Key
		var lowest api.Version
		for key, v := range h.deleted {
			if lowest == (api.Version{}) || v.Compare(lowest) < 0 {
				oldest, lowest = key, v
			}
		}
		l.unset(oldest)
		if isPersisted(oldest.Kind) {
			persisted = append(persisted, oldest)
		}
	}
	return persisted
}
