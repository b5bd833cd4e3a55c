package replica

import (
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/ledger"
)

// outbox is what waits to be sent to a neighbour: of each key the latest
// version, in the order in which the keys began to wait.
type outbox struct {
	order []api.Key
	items map[api.Key]parcel
	// isDue says that something in it must not wait for more.
	isDue bool
	// hints are members whom the neighbour should compare with.
	hints []api.NodeID
	// entries are of the roster; isRoster says to send even none.
	entries  []cluster.SignedEntry
	isRoster bool
}

// parcel is a document and what is said with it. missed is shared and never changed.
type parcel struct {
	rec      *ledger.Record
	missed   []api.NodeID
	isRepair bool
	mayWait  bool
}

func (o *outbox) isEmpty() bool { return len(o.items) == 0 && len(o.hints) == 0 && !o.isRoster }

func (o *outbox) clear() { *o = outbox{} }

// add queues a document; false when there are too many.
func (o *outbox) add(a parcel) bool {
	key := a.rec.Key()
	held, isThere := o.items[key]
	switch {
	case isThere && held.rec.Version().Compare(a.rec.Version()) > 0:
		return true
	case !isThere && len(o.items) >= outboxKeys:
		return false
	case !isThere:
		o.order = append(o.order, key)
	}
	if o.items == nil {
		o.items = map[api.Key]parcel{}
	}
	o.items[key] = a
	o.isDue = o.isDue || !a.mayWait
	return true
}

// hint queues a member to compare with.
func (o *outbox) hint(node api.NodeID) bool {
	if !slices.Contains(o.hints, node) {
		o.hints = append(o.hints, node)
	}
	o.isDue = true
	return true
}

// roster queues entries.
func (o *outbox) roster(entries []cluster.SignedEntry) bool {
	o.isRoster, o.isDue = true, true
	o.entries = append(o.entries, entries...)
	return len(o.entries) <= cluster.MaxEntries
}

// takeRoster takes the entries out; false if the roster is not to be sent.
func (o *outbox) takeRoster() ([]cluster.SignedEntry, bool) {
	entries, is := o.entries, o.isRoster
	o.entries, o.isRoster = nil, false
	return entries, is
}

// take takes a message's worth out: the first documents with which the same is
// said. It has nothing in it when the outbox is empty.
func (o *outbox) take() (docs []*ledger.Record, missed []api.NodeID, isRepair bool) {
	room, n := messageBytes, 0
	for ; n < len(o.order); n++ {
		a := o.items[o.order[n]]
		if n == 0 {
			missed, isRepair = a.missed, a.isRepair
		}
		if isRepair != a.isRepair || !slices.Equal(missed, a.missed) {
			break
		}
		if room -= sentBytes(a.rec); room < 0 && n > 0 {
			break
		}
		docs = append(docs, a.rec)
		delete(o.items, o.order[n])
	}
	o.order = o.order[n:]
	if len(o.order) == 0 {
		o.order, o.items = nil, nil // a map keeps the room of all that it ever held
	}
	if n == 0 {
		missed = o.hints
		o.hints = nil
	}
	o.isDue = !o.isEmpty() // the rest of what was due
	return docs, missed, isRepair
}

// sentBytes bounds what a document takes of a message; a large one is only offered.
func sentBytes(rec *ledger.Record) int {
	if n := rec.SizeBytes(); n <= bigBytes {
		return n
	}
	return offerBytes(rec.Key())
}

// offerBytes bounds the JSON of a key with its version: every byte of the name
// may be a \u escape of six.
func offerBytes(k api.Key) int { return 128 + len(k.Kind) + 6*len(k.Name) }
