package audit

import (
	"cmp"
	"iter"

	"fulmen/daemon/api"
)

// book is the entries in memory, within their bounds.
type book struct {
	most, mostPerCaller int
	callers             map[string]*caller
	n                   int
	seq                 uint64 // of the newest
}

// caller is the entries of one node, or of one account of this Mac.
type caller struct {
	groups map[group][]*held // the oldest first; none is empty
	newest map[Entry]*held   // the newest entry of each call
	n      int
}

// group is what calls have in common that are alike. There are not many: what and why
// are of closed sets.
type group struct {
	what string
	why  api.AuditWhy
}

// held is an entry.
type held struct {
	entry   api.AuditEntry
	stored  bool // in the store, in this form or an older one
	dropped bool
}

func newBook(most, mostPerCaller int) *book {
	return &book{most: most, mostPerCaller: mostPerCaller, callers: map[string]*caller{}}
}

// callerOf is who is held to account for a call. A person whom a node names is that
// node's word alone, and so makes no caller of its own.
func callerOf(e Entry) string {
	if e.Node != "" {
		return "node " + string(e.Node)
	}
	return "user " + e.By.User
}

// add takes a call. What it returns beside the entry has to be written.
func (b *book) add(e Entry, at api.Time) (api.AuditEntry, []*held) {
	if c := b.callers[callerOf(e)]; c != nil {
		if h := c.newest[e]; h != nil && at.Sub(h.entry.Last.Time).Abs() <= api.AuditRepeat {
			h.entry.Count++
			if at.After(h.entry.Last.Time) {
				h.entry.Last = at
			}
			return h.entry, []*held{h}
		}
	}
	b.seq++
	h := &held{entry: api.AuditEntry{Seq: b.seq, AuditCall: e, First: at, Last: at, Count: 1}}
	b.put(h)
	return h.entry, append(b.makeRoom(callerOf(e)), h)
}

// restore takes an entry that is stored, after all older ones, and gives those that
// have to be written.
func (b *book) restore(e api.AuditEntry) []*held {
	b.seq = max(b.seq, e.Seq)
	b.put(&held{entry: e, stored: true})
	return b.makeRoom(callerOf(e.AuditCall))
}

func (b *book) put(h *held) {
	e := h.entry.AuditCall
	c := b.callers[callerOf(e)]
	if c == nil {
		c = &caller{groups: map[group][]*held{}, newest: map[Entry]*held{}}
		b.callers[callerOf(e)] = c
	}
	g := group{e.What, e.Why}
	c.groups[g] = append(c.groups[g], h)
	c.newest[e] = h
	c.n++
	b.n++
}

// makeRoom keeps the bounds after a caller has got one more entry.
func (b *book) makeRoom(of string) (changed []*held) {
	if b.callers[of].n > b.mostPerCaller {
		changed = b.evict(of)
	}
	if b.n > b.most {
		changed = append(changed, b.evict(b.fullest())...)
	}
	return changed
}

// fullest is the caller with the most entries; of several the one with the oldest.
func (b *book) fullest() string {
	full, most, oldest := "", 0, uint64(0)
	for name, c := range b.callers {
		if c.n < most {
			continue
		}
		if first := c.oldest(nil).entry.Seq; c.n > most || first < oldest {
			full, most, oldest = name, c.n, first
		}
	}
	return full
}

// evict drops one entry of a caller: the oldest of the most that are alike. Where none
// are, the oldest that is not the newest of its outcome. What is dropped is counted
// with the oldest of those that remain.
func (b *book) evict(of string) (changed []*held) {
	c := b.callers[of]
	var victim *held
	size := 1
	for _, held := range c.groups {
		if n := len(held); n > size || n == size && n > 1 && held[0].entry.Seq < victim.entry.Seq {
			victim, size = held[0], n
		}
	}
	if victim == nil {
		newest := map[api.AuditWhy]uint64{}
		for g, held := range c.groups {
			newest[g.why] = max(newest[g.why], held[0].entry.Seq)
		}
		victim = c.oldest(func(h *held) bool { return newest[h.entry.Why] != h.entry.Seq })
	}
	victim = cmp.Or(victim, c.oldest(nil))
	b.drop(of, victim)
	heirs := c.groups[group{victim.entry.What, victim.entry.Why}]
	var heir *held
	if len(heirs) > 0 {
		heir = heirs[0]
	} else if heir = c.oldest(nil); heir == nil {
		return []*held{victim}
	}
	heir.entry.Dropped += victim.entry.Count + victim.entry.Dropped
	return []*held{victim, heir}
}

// oldest is the caller's oldest entry of those at the heads of their groups that keep
// is true of; nil = of all. It is nil where there is none.
func (c *caller) oldest(keep func(*held) bool) (first *held) {
	for _, all := range c.groups {
		if h := all[0]; (first == nil || h.entry.Seq < first.entry.Seq) && (keep == nil || keep(h)) {
			first = h
		}
	}
	return first
}

// drop takes an entry out.
func (b *book) drop(of string, h *held) {
	c, g := b.callers[of], group{h.entry.What, h.entry.Why}
	at := 0
	for c.groups[g][at] != h {
		at++
	}
	if at == 0 {
		c.groups[g] = c.groups[g][1:]
	} else {
		c.groups[g] = append(c.groups[g][:at], c.groups[g][at+1:]...)
	}
	if len(c.groups[g]) == 0 {
		delete(c.groups, g)
	}
	if c.newest[h.entry.AuditCall] == h {
		delete(c.newest, h.entry.AuditCall)
	}
	if c.n--; c.n == 0 {
		delete(b.callers, of)
	}
	b.n--
	h.dropped = true
}

// expire drops the entries whose last call was before a time, and gives them.
func (b *book) expire(before api.Time) (old []*held) {
	for h := range b.all() {
		if h.entry.Last.Before(before.Time) {
			old = append(old, h)
		}
	}
	for _, h := range old {
		b.drop(callerOf(h.entry.AuditCall), h)
	}
	return old
}

// all are the entries, in no order.
func (b *book) all() iter.Seq[*held] {
	return func(yield func(*held) bool) {
		for _, c := range b.callers {
			for _, group := range c.groups {
				for _, h := range group {
					if !yield(h) {
						return
					}
				}
			}
		}
	}
}
