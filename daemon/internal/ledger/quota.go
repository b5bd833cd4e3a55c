package ledger

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"fulmen/daemon/api"
)

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

// quotaKey names what has one quota: a writer's documents of a kind.
func quotaKey(k api.Key) api.Key { return api.Key{Node: k.Node, Kind: k.Kind.QuotaKind()} }

// setLocked makes r what is held of its key.
func (l *Ledger) setLocked(r *Record) {
	k := r.Key()
	l.uncountLocked(k)
	l.records[k] = r
	of := l.recordsByNode.put(r)
	h := of.kinds[k.Kind.QuotaKind()]
	if h == nil {
		h = &holding{deleted: map[api.Key]api.Version{}}
		of.kinds[k.Kind.QuotaKind()] = h
	}
	if r.doc.Deleted {
		h.deleted[k] = r.Version()
		return
	}
	h.documents++
	l.weigh(k.Node, of, h, r.weight)
}

// unsetLocked takes a key out.
func (l *Ledger) unsetLocked(k api.Key) {
	l.uncountLocked(k)
	delete(l.records, k)
	l.recordsByNode.take(k)
}

// uncountLocked takes what is held of a key out of the counts.
func (l *Ledger) uncountLocked(k api.Key) {
	r, isHeld := l.records[k]
	if !isHeld {
		return
	}
	of := l.recordsByNode.nodes[k.Node]
	h := of.kinds[k.Kind.QuotaKind()]
	if r.doc.Deleted {
		delete(h.deleted, k)
	} else {
		h.documents--
		l.weigh(k.Node, of, h, -r.weight)
	}
	if h.documents == 0 && len(h.deleted) == 0 {
		delete(of.kinds, k.Kind.QuotaKind())
	}
}

func (l *Ledger) weigh(node api.NodeID, of *nodeRecords, h *holding, bytes int) {
	h.bytes += bytes
	of.bytes += bytes
	if node != l.author.node {
		l.foreign += bytes
	}
}

// boundLocked is the limit that a document of another node would go beyond, empty where it
// fits. A writer that has used up its quota can still change and delete what it has: a
// document that replaces another one has half as many bytes more.
func (l *Ledger) boundLocked(k api.Key, weight int) string {
	of := l.recordsByNode.nodes[k.Node]
	if of == nil {
		of = &nodeRecords{}
	}
	h := of.kinds[k.Kind.QuotaKind()]
	if h == nil {
		h = &holding{}
	}
	quota := k.Kind.Quota()
	atMost := func(bytes int) int { return bytes }
	if r := l.records[k]; r != nil && !r.doc.Deleted {
		weight -= r.weight
		atMost = func(bytes int) int { return bytes + bytes/2 }
	} else if h.documents >= quota.Documents {
		return fmt.Sprintf("%d documents", quota.Documents)
	}
	part := api.MaxForeignBytes / max(len(l.recordsByNode.nodes), 1)
	switch {
	case weight <= 0:
		return ""
	case h.bytes+weight > atMost(quota.Bytes):
		return fmt.Sprintf("%d KiB", quota.Bytes>>10)
	case of.bytes+weight > atMost(api.MaxWriterBytes):
		return fmt.Sprintf("%d KiB of all kinds", api.MaxWriterBytes>>10)
	case k.Node != l.author.node && l.foreign+weight > atMost(api.MaxForeignBytes) && of.bytes+weight > atMost(part):
		return fmt.Sprintf("%d KiB of all kinds, its part of the %d that all Macs may have together", part>>10, api.MaxForeignBytes>>10)
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
	bound := l.boundLocked(k, 1)
	if o := l.over[quotaKey(k)]; bound == "" && (o == nil || l.options.Now().Sub(o.Last) > OverFor) {
		return nil
	} else if bound == "" {
		return overQuota(k, o.Bound)
	}
	if from == k.Node {
		l.refuseLocked(k, bound)
	}
	return overQuota(k, bound)
}

func overQuota(k api.Key, bound string) error {
	return api.Errorf(api.ReasonTooManyDocuments, k.String(), "%s is not kept: %s has reached the limit for %s, which is %s",
		k, k.Node.Display(), kindName(k.Kind.QuotaKind()), bound)
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
		if r := l.records[k]; docs[i].Deleted || isKnown && !info.Replicated || r != nil && !r.doc.Deleted {
			continue
		}
		if bound := l.boundLocked(k, docs[i].Weight()); bound != "" {
			return overQuota(k, bound)
		}
	}
	return nil
}

// admitLocked refuses a document of another node for which there is no room. Its signature
// counts, so that nobody uses up another one's quota or is told to.
func (l *Ledger) admitLocked(d *api.Document) error {
	if d.Deleted {
		return nil
	}
	bound := l.boundLocked(d.Key(), d.Weight())
	if bound == "" {
		return nil
	}
	l.refuseLocked(d.Key(), bound)
	return overQuota(d.Key(), bound)
}

// refuseLocked counts.
func (l *Ledger) refuseLocked(k api.Key, bound string) {
	at := quotaKey(k)
	now := l.options.Now()
	o := l.over[at]
	isNew := o == nil || now.Sub(o.Last) > OverFor
	if isNew {
		o = &Over{Node: at.Node, Kind: at.Kind}
		l.over[at] = o
	}
	o.Bound, o.Last = bound, now
	o.Refused++
	if isNew && l.options.OnOver != nil {
		l.options.OnOver()
	}
}

// OverQuota lists the writers of which documents were refused in the last OverFor,
// in the order of nodes and kinds.
func (l *Ledger) OverQuota() []Over {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.options.Now()
	var all []Over
	for at, o := range l.over {
		if now.Sub(o.Last) > OverFor || l.recordsByNode.nodes[at.Node] == nil {
			delete(l.over, at)
			continue
		}
		all = append(all, *o)
	}
	slices.SortFunc(all, func(a, b Over) int { return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Kind, b.Kind)) })
	return all
}

// evictLocked takes out the oldest deletions of whoever has more than are kept, and
// returns those that the store has too. All nodes keep the same ones, those of the newest
// versions, so that they agree on what they hold. A document whose deletion is gone and
// that somebody still has comes back until its writer hears of it, which then deletes it
// again. k has just been deleted.
func (l *Ledger) evictLocked(k api.Key) (persisted []api.Key) {
	h := l.recordsByNode.nodes[k.Node].kinds[k.Kind.QuotaKind()]
	for excess := len(h.deleted) - k.Kind.Quota().Deleted; excess > 0; excess-- {
		var oldest api.Key
		var lowest api.Version
		for key, v := range h.deleted {
			if lowest == (api.Version{}) || v.Compare(lowest) < 0 {
				oldest, lowest = key, v
			}
		}
		l.unsetLocked(oldest)
		if about(oldest.Kind).Persisted {
			persisted = append(persisted, oldest)
		}
	}
	return persisted
}
