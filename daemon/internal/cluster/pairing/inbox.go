package pairing

import (
	"cmp"
	"math"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

const (
	// MaxInbox is how many Macs are in the inbox at once.
	MaxInbox = 32
	// InboxGap is the least time between two new ones.
	InboxGap = time.Minute
	// InboxRefresh is the least time between two changes by one Mac.
	InboxRefresh = 5 * time.Second
	// InboxMemory is how long one that was ignored or put off is remembered
	// after it was last heard.
	InboxMemory = 24 * time.Hour
)

// Moment is now on both clocks.
type Moment struct {
	// Boot is the time that counts.
	Boot time.Duration
	// Wall is the time for people.
	Wall time.Time
}

// MomentOf reads a clock.
func MomentOf(c native.Clock) Moment { return Moment{Boot: c.Boot(), Wall: c.Now()} }

// Inbox is the Macs that ask to be let in, for a person to look at. Being in it
// proves and allows nothing. It does no I/O and is not safe for concurrent use.
type Inbox struct {
	entries map[api.NodeID]*entry
	gone    []api.NodeID // since Expire told of those before
	lastNew time.Duration
	hadAny  bool
}

type entry struct {
	pending  api.Pending
	received time.Duration
	expires  time.Duration // when the code stops to count
}

// NewInbox makes an empty inbox.
func NewInbox() *Inbox { return &Inbox{entries: map[api.NodeID]*entry{}} }

// Receive takes up a Mac that asks, and reports whether List has changed. New ones
// that come too fast, or are too many, are left out; they may ask again.
func (b *Inbox) Receive(at Moment, a Asking) bool {
	b.expire(at)
	e := b.entries[a.Node]
	switch {
	case e == nil && !b.hasRoom(at):
		return false
	case e == nil:
		e = &entry{pending: api.Pending{Peer: a.Node, State: api.PendingAsking, Since: api.TimeOf(at.Wall)}}
		b.entries[a.Node] = e
		b.lastNew, b.hadAny = at.Boot, true
	case at.Boot < e.received+InboxRefresh:
		return false
	}
	valid := min(time.Duration(a.ValidMS)*time.Millisecond, api.CodeTTL)
	e.received, e.expires = at.Boot, at.Boot+valid
	e.pending.Name, e.pending.ModelName = a.Name, a.ModelName
	e.pending.Address, e.pending.Interface = a.Address, a.Interface
	e.pending.ExpiresAt, e.pending.TriesLeft = api.TimeOf(at.Wall.Add(valid)), a.TriesLeft
	return true
}

// hasRoom makes room for a new entry where it may: of those that were ignored the
// one that was not heard for longest gives way.
func (b *Inbox) hasRoom(at Moment) bool {
	if b.hadAny && at.Boot < b.lastNew+InboxGap {
		return false
	}
	if len(b.entries) < MaxInbox {
		return true
	}
	var oldest *entry
	for _, e := range b.entries {
		if e.pending.State == api.PendingIgnored && (oldest == nil || e.received < oldest.received) {
			oldest = e
		}
	}
	if oldest == nil {
		return false
	}
	b.drop(oldest.pending.Peer)
	return true
}

// Set is what a person did with an entry, or that its code is being proved.
func (b *Inbox) Set(at Moment, node api.NodeID, state api.PendingState) error {
	b.expire(at)
	e := b.entries[node]
	if e == nil {
		return api.Errorf(api.ReasonNoSuchNode, node.Display(), "No Mac with this id is asking to join.")
	}
	if !state.Valid() {
		return api.NewError(api.ReasonBadValue, "state")
	}
	e.pending.State = state
	return nil
}

// Remove takes out a Mac that was let in.
func (b *Inbox) Remove(node api.NodeID) { delete(b.entries, node) }

// List is the entries, the oldest first. Those that were put off or ignored stay
// in it after their code has expired.
func (b *Inbox) List() []api.Pending {
	var all []api.Pending
	for _, e := range b.entries {
		all = append(all, e.pending)
	}
	slices.SortFunc(all, func(x, y api.Pending) int {
		return cmp.Or(x.Since.Compare(y.Since.Time), cmp.Compare(x.Peer, y.Peer))
	})
	return all
}

// Expire takes out those whose time is over. It gives all that went by themselves since
// it was called last, in order.
func (b *Inbox) Expire(at Moment) []api.NodeID {
	b.expire(at)
	gone := b.gone
	b.gone = nil
	slices.Sort(gone)
	return gone
}

func (b *Inbox) expire(at Moment) {
	for node, e := range b.entries {
		if at.Boot >= e.end() {
			b.drop(node)
		}
	}
}

func (b *Inbox) drop(node api.NodeID) {
	delete(b.entries, node)
	b.gone = append(b.gone, node)
}

// Next is when, on the boot clock, Expire has something to do; false for never.
func (b *Inbox) Next() (time.Duration, bool) {
	next := time.Duration(math.MaxInt64)
	for _, e := range b.entries {
		next = min(next, e.end())
	}
	return next, len(b.entries) > 0
}

// end is when an entry goes by itself.
func (e *entry) end() time.Duration {
	switch e.pending.State {
	case api.PendingIgnored, api.PendingLater:
		return e.received + InboxMemory
	case api.PendingProving: // the proof has its own deadline
		return e.expires + ExchangeDeadline
	}
	return e.expires
}
