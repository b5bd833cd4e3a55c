package replica

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/ledger"
)

// putParams is api.PeerPutParams with documents as the bytes that the ledger
// has encoded once for all readers.
type putParams struct {
	Docs   []json.RawMessage `json:"docs"`
	Offer  []api.KeyVersion  `json:"offer,omitempty"`
	Missed []api.NodeID      `json:"missed,omitempty"`
	Repair bool              `json:"repair,omitempty"`
}

// moves reports whether documents of the kind go to every member by themselves:
// those of later versions do.
func moves(k api.Kind) bool {
	info, isKnown := api.LookupKind(k)
	return !isKnown || info.Replicated && !info.Live
}

// isLive reports whether documents of the kind move while they are watched only;
// who looks once asks their writer.
func isLive(k api.Kind) bool {
	info, isKnown := api.LookupKind(k)
	return isKnown && info.Replicated && info.Live
}

// notifyOwn tells the neighbours what this node writes.
func (r *Replica) notifyOwn() {
	defer r.own.Close()
	for {
		change, err := r.own.Next(r.ctx)
		switch {
		case err != nil:
			return
		case !change.Whole:
			r.notifyAll(change.Put)
			continue
		}
		r.mu.Lock()
		for _, p := range r.peers { // it lagged: what was dropped a comparison finds
			r.compareSoonLocked(p, 0)
		}
		r.mu.Unlock()
	}
}

// notifyAll queues own documents for every neighbour, and says whom that misses.
// Those where somebody looks come first: telling all takes a while in a large
// cluster.
func (r *Replica) notifyAll(recs []*ledger.Record) {
	recs = slices.DeleteFunc(slices.Clone(recs), func(rec *ledger.Record) bool { return !moves(rec.Key().Kind) })
	if len(recs) == 0 {
		return
	}
	r.notify(recs, func(p *peer) bool { return p.isWatched })
	r.notify(recs, func(p *peer) bool { return !p.isWatched })
}

// notify queues own documents for the neighbours for which is says yes.
func (r *Replica) notify(recs []*ledger.Record, is func(*peer) bool) {
	members := r.roster().Current()
	r.mu.Lock()
	defer r.mu.Unlock()
	missed := r.missedLocked(members)
	for _, p := range r.peers {
		if !is(p) {
			continue
		}
		for _, rec := range recs {
			r.queueLocked(p, func(o *outbox) bool { return o.add(parcel{rec: rec, missed: missed}) })
		}
	}
}

// missedLocked are the members that are not told from here.
func (r *Replica) missedLocked(members []api.NodeID) (missed []api.NodeID) {
	for _, m := range members {
		if p := r.peers[m]; m != r.self && (p == nil || p.isBehind) {
			missed = append(missed, m)
		}
	}
	return missed
}

// queueLocked puts something into a neighbour's outbox and sees to its being sent.
func (r *Replica) queueLocked(p *peer, add func(*outbox) bool) {
	if p.isBehind || p.isGone() {
		return
	}
	if !add(&p.out) {
		r.fallBehindLocked(p)
		return
	}
	if !p.isSending {
		p.isSending = true
		r.spawnLocked(func() { r.send(p) })
	}
}

// fallBehindLocked drops what waits for a neighbour, to be found by a comparison.
func (r *Replica) fallBehindLocked(p *peer) {
	p.out.clear()
	p.isBehind = true
	p.compare.isUrgent, p.compare.isForced = true, true
	pause := r.timing.Retry << min(p.failures, 10)
	p.failures++
	r.compareSoonLocked(p, min(pause, r.timing.Period))
}

// send empties a neighbour's outbox.
func (r *Replica) send(p *peer) {
	for {
		r.mu.Lock()
		if p.out.isEmpty() || p.isGone() {
			p.isSending = false
			r.mu.Unlock()
			return
		}
		entries, isRoster := p.out.takeRoster()
		m := p.out.take()
		r.mu.Unlock()
		var err error
		if isRoster {
			err = r.exchangeRoster(p, entries)
		}
		if err == nil && len(m.docs)+len(m.missed) > 0 {
			err = r.put(p, m)
		}
		r.mu.Lock()
		if err != nil && !p.isGone() {
			p.isSending = false
			r.fallBehindLocked(p)
			r.mu.Unlock()
			r.complaints(p.node).Warn("a neighbour could not be told", "error", err)
			return
		}
		p.failures = 0
		r.mu.Unlock()
	}
}

// put sends one message.
func (r *Replica) put(p *peer, m message) error {
	params, err := r.encoded(m)
	if err != nil { // they were encoded before they were signed
		return err
	}
	var result api.PeerPutResult
	if err := r.call(p, methodPut, params, &result); err != nil {
		return err
	}
	r.mu.Lock()
	p.isWatched = result.Watched
	r.mu.Unlock()
	for _, cause := range result.Refused {
		r.complaints(p.node).Warn("a neighbour refused a document", "error", errors.New(cause.Message))
	}
	return nil
}

// LastWord tells a neighbour what this node says of itself and of its cables now, and
// what became of jobs and ranks just before, and returns when it has heard that: what is
// queued for it may not have been sent yet when a node sleeps or stops.
func (r *Replica) LastWord(ctx context.Context, node api.NodeID) error {
	docs := r.ledger.List(ledger.Filter{Nodes: []api.NodeID{r.self}, Kinds: []api.Kind{api.KindNodeState, api.KindRDMAChange}})
	just := r.clock.Now().Add(-lastWordsOf)
	recent := slices.DeleteFunc(r.ledger.List(ledger.Filter{Nodes: []api.NodeID{r.self}, Kinds: []api.Kind{api.KindJob, api.KindRank}}),
		func(rec *ledger.Record) bool { return !rec.Since().After(just) })
	slices.SortStableFunc(recent, func(a, b *ledger.Record) int { return b.Since().Compare(a.Since()) })
	docs = append(docs, recent[:min(len(recent), lastWordsMost)]...)
	members := r.roster().Current()
	r.mu.Lock()
	missed := r.missedLocked(members)
	r.mu.Unlock()
	params, err := r.encoded(message{docs: docs, missed: missed})
	if err != nil {
		return err
	}
	var result api.PeerPutResult
	if err := r.options.Calls.Call(ctx, node, methodPut, params, &result); err != nil {
		return err
	}
	for _, cause := range result.Refused {
		return errors.New(cause.Message)
	}
	return nil
}

const (
	// lastWordsOf is for how long before it a last word tells of jobs and ranks: those
	// that end because a Mac sleeps do so within seconds.
	lastWordsOf = 10 * time.Second
	// lastWordsMost bounds it, so that it is one message; the latest count.
	lastWordsMost = 64
)

// message is what peer.put says.
type message struct {
	docs     []*ledger.Record
	missed   []api.NodeID
	isRepair bool
}

func (m message) equal(o message) bool {
	return slices.Equal(m.docs, o.docs) && slices.Equal(m.missed, o.missed) && m.isRepair == o.isRepair
}

// encode gives the parameters of peer.put.
func (m message) encode() (json.RawMessage, error) {
	out := putParams{Docs: []json.RawMessage{}, Missed: m.missed, Repair: m.isRepair}
	for _, rec := range m.docs {
		if rec.SizeBytes() > bigBytes {
			out.Offer = append(out.Offer, api.KeyVersion{Key: rec.Key(), Version: rec.Version()})
			continue
		}
		raw, err := rec.JSON()
		if err != nil {
			return nil, err
		}
		out.Docs = append(out.Docs, raw)
	}
	return json.Marshal(out)
}

// encoded is message.encode, which it does once for all who are told the same.
func (r *Replica) encoded(m message) (json.RawMessage, error) {
	r.encoding.Lock()
	defer r.encoding.Unlock()
	if r.last.raw != nil && r.last.equal(m) {
		return r.last.raw, nil
	}
	raw, err := m.encode()
	r.last.message, r.last.raw = message{}, nil
	if err == nil && len(raw) <= keptBytes {
		r.last.message, r.last.raw = m, raw
	}
	return raw, err
}

// keptBytes is the largest message that is kept for whoever is told it next.
const keptBytes = 16 << 10

// outbox is what waits to be sent to a neighbour: of each key the latest
// version, in the order in which the keys began to wait.
type outbox struct {
	order []api.Key
	items map[api.Key]parcel
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
	return true
}

// hint queues a member to compare with.
func (o *outbox) hint(node api.NodeID) bool {
	if !slices.Contains(o.hints, node) {
		o.hints = append(o.hints, node)
	}
	return true
}

// roster queues entries.
func (o *outbox) roster(entries []cluster.SignedEntry) bool {
	o.isRoster = true
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
func (o *outbox) take() (m message) {
	room, n := messageBytes, 0
	for ; n < len(o.order); n++ {
		a := o.items[o.order[n]]
		if n == 0 {
			m.missed, m.isRepair = a.missed, a.isRepair
		}
		if m.isRepair != a.isRepair || !slices.Equal(m.missed, a.missed) {
			break
		}
		if room -= sentBytes(a.rec); room < 0 && n > 0 {
			break
		}
		m.docs = append(m.docs, a.rec)
		delete(o.items, o.order[n])
	}
	o.order = o.order[n:]
	if len(o.order) == 0 {
		o.order, o.items = nil, nil // a map keeps the room of all that it ever held
	}
	if n == 0 {
		m.missed, o.hints = o.hints, nil
	}
	return m
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
