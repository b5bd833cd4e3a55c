package replica

import (
	"encoding/json"
	"errors"

	"fulmen/daemon/api"
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

// tellOwn tells the neighbours what this node writes.
func (r *Replica) tellOwn() {
	for r.ctx.Err() == nil {
		_, w := r.ledger.Watch(ledger.WatchOptions{Name: "replication", Passive: true,
			Filter: ledger.Filter{Nodes: []api.NodeID{r.self}, Deleted: true}})
		for {
			change, err := w.Next(r.ctx)
			if err != nil {
				break
			}
			r.tellAll(change.Put)
		}
		w.Close()
		// It lagged, or ends: what was dropped a comparison finds.
		r.mu.Lock()
		for _, p := range r.peers {
			r.compareSoon(p, 0)
		}
		r.mu.Unlock()
	}
}

// tellAll queues own documents for every neighbour, and says whom that misses.
func (r *Replica) tellAll(recs []*ledger.Record) {
	members := r.roster().Current()
	r.mu.Lock()
	defer r.mu.Unlock()
	var missed []api.NodeID
	for _, m := range members {
		if p := r.peers[m]; m != r.self && (p == nil || p.isBehind) {
			missed = append(missed, m)
		}
	}
	for _, rec := range recs {
		if !moves(rec.Key().Kind) {
			continue
		}
		for _, p := range r.peers {
			r.queue(p, func(o *outbox) bool { return o.add(parcel{rec: rec, missed: missed}) })
		}
	}
}

// queue puts something into a neighbour's outbox and sees to its being sent; the
// caller holds mu.
func (r *Replica) queue(p *peer, add func(*outbox) bool) {
	if p.isBehind || p.isGone() {
		return
	}
	if !add(&p.out) {
		r.fallBehind(p)
		return
	}
	if !p.isSending {
		p.isSending = true
		r.spawn(func() { r.send(p) })
	}
}

// fallBehind drops what waits for a neighbour, to be found by a comparison; the
// caller holds mu.
func (r *Replica) fallBehind(p *peer) {
	p.out.clear()
	p.isBehind = true
	p.compare.isUrgent, p.compare.isForced = true, true
	pause := r.timing.Retry << min(p.failures, 10)
	p.failures++
	r.compareSoon(p, min(pause, r.timing.Period))
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
		docs, missed, isRepair := p.out.take()
		r.mu.Unlock()
		var err error
		if isRoster {
			err = r.exchangeRoster(p, entries)
		}
		if err == nil && len(docs)+len(missed) > 0 {
			err = r.put(p, docs, missed, isRepair)
		}
		r.mu.Lock()
		if err != nil && !p.isGone() {
			p.isSending = false
			r.fallBehind(p)
			r.mu.Unlock()
			r.complain(p.node, "a neighbour could not be told", err)
			return
		}
		p.failures = 0
		r.mu.Unlock()
	}
}

// put sends one message.
func (r *Replica) put(p *peer, docs []*ledger.Record, missed []api.NodeID, isRepair bool) error {
	params := putParams{Docs: []json.RawMessage{}, Missed: missed, Repair: isRepair}
	for _, rec := range docs {
		if rec.SizeBytes() > bigBytes {
			params.Offer = append(params.Offer, api.KeyVersion{Key: rec.Key(), Version: rec.Version()})
			continue
		}
		raw, err := rec.JSON()
		if err != nil { // it was encoded before it was signed
			return err
		}
		params.Docs = append(params.Docs, raw)
	}
	var result api.PeerPutResult
	if err := r.call(p, methodPut, params, &result); err != nil {
		return err
	}
	for _, cause := range result.Refused {
		r.complain(p.node, "a neighbour refused a document", errors.New(cause.Message))
	}
	return nil
}
