package audit

import (
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

// change is what has to be written.
type change struct{ changed, dropped []*held }

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

// add takes a call.
func (b *book) add(e Entry, at api.Time) (api.AuditEntry, change) {
	if c := b.callers[callerOf(e)]; c != nil {
		if h := c.newest[e]; h != nil && at.Sub(h.entry.Last.Time).Abs() <= api.AuditRepeat {
			h.entry.Count++
			if at.After(h.entry.Last.Time) {
				h.entry.Last = at
			}
			return h.entry, change{changed: []*held{h}}
		}
	}
	b.seq++
	h := &held{entry: api.AuditEntry{Seq: b.seq, AuditCall: e, First: at, Last: at, Count: 1}}
	b.put(h)
	var done change
	b.makeRoom(callerOf(e), &done)
	done.changed = append(done.changed, h)
	return h.entry, done
}

// restore takes an entry that is stored, after all older ones.
func (b *book) restore(e api.AuditEntry) (done change) {
	b.seq = max(b.seq, e.Seq)
	b.put(&held{entry: e, stored: true})
	b.makeRoom(callerOf(e.AuditCall), &done)
	return done
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
func (b *book) makeRoom(of string, done *change) {
	if b.callers[of].n > b.mostPerCaller {
		b.evict(of, done)
	}
	if b.n > b.most {
		b.evict(b.fullest(), done)
	}
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
func (b *book) evict(of string, done *change) {
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
	if victim == nil {
		victim = c.oldest(nil)
	}
	b.drop(of, victim, done)
	heirs := c.groups[group{victim.entry.What, victim.entry.Why}]
	var heir *held
	if len(heirs) > 0 {
		heir = heirs[0]
	} else if heir = c.oldest(nil); heir == nil {
		return
	}
	heir.entry.Dropped += victim.entry.Count + victim.entry.Dropped
	done.changed = append(done.changed, heir)
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
func (b *book) drop(of string, h *held, done *change) {
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
	done.dropped = append(done.dropped, h)
}

// expire drops the entries whose last call was before a time.
func (b *book) expire(before api.Time) (done change) {
	var old []*held
	for h := range b.all() {
		if h.entry.Last.Before(before.Time) {
			old = append(old, h)
		}
	}
	for _, h := range old {
		b.drop(callerOf(h.entry.AuditCall), h, &done)
	}
	return done
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
