package replica

import (
	"context"
	"encoding/json"
	"errors"
	"hash/fnv"
	"log/slog"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
)

// admitted refuses calls of whoever is no member, and acts on a long absence
// before anything is taken or given.
func admitted[P any](r *Replica, h func(from api.NodeID, in P) (any, error)) CallHandler {
	return func(_ context.Context, from api.NodeID, params json.RawMessage) (any, error) {
		if r.ctx.Err() != nil {
			return nil, api.NewError(api.ReasonCancelled, r.self.Display())
		}
		if from == r.self || !r.roster().IsMember(from) {
			return nil, api.NewError(api.ReasonNotAMember, from.Display())
		}
		r.meet()
		var in P
		var result any
		err := decode(params, &in)
		if err == nil {
			result, err = h(from, in)
		}
		if err != nil {
			r.complaints(from).Warn("a member's call was refused", "error", err)
		}
		return result, err
	}
}

// decode reads a call's parameters.
func decode(params json.RawMessage, into any) error {
	if len(params) > api.MaxMessageBytes {
		return api.Errorf(api.ReasonMalformedMessage, "", "the message is larger than 1 MiB")
	}
	if err := json.Unmarshal(params, into); err != nil {
		return api.Errorf(api.ReasonMalformedMessage, "", "the parameters are not those of the method").From(err)
	}
	return nil
}

// updates is what a message brought.
type updates struct {
	taken   []*ledger.Record
	refused []api.Cause
	// isFull says that some of it was beyond a quota.
	isFull bool
}

func (n *updates) refuse(err error) {
	n.isFull = n.isFull || errors.Is(err, api.ReasonTooManyDocuments)
	if len(n.refused) < maxCauses {
		n.refused = append(n.refused, api.AsError(err).Cause())
	}
}

// handlePut takes documents over and passes them on.
func (r *Replica) handlePut(from api.NodeID, in putParams) (any, error) {
	if slices.Contains(in.Missed, from) { // it has what this node lacks
		r.with(from, func(p *peer) {
			p.compare.isHinted, p.compare.isForced = true, true
			r.compareSoonLocked(p, r.timing.Stagger)
		})
	}
	n := r.take(from, in.Docs)
	r.passOn(from, n.taken, in.Missed, in.Repair)
	r.pullOffered(from, in.Offer, in.Missed, in.Repair)
	isWatched := slices.ContainsFunc(n.taken, func(rec *ledger.Record) bool { return r.ledger.Watched(rec.Key()) })
	return api.PeerPutResult{Refused: n.refused, Watched: isWatched}, nil
}

// take takes documents over, each for itself.
func (r *Replica) take(from api.NodeID, raws []json.RawMessage) updates {
	var n updates
	for _, raw := range raws {
		var d api.Document
		if err := json.Unmarshal(raw, &d); err != nil {
			n.refuse(api.Errorf(api.ReasonMalformedDocument, "", "a document is not in the form of this version").From(err))
			continue
		}
		r.takeOne(from, raw, d, &n)
	}
	if len(n.refused) > 0 {
		r.complaints(from).Warn("documents were refused", "error", &api.Error{Message: n.refused[0].Message, Data: api.ErrorData{Causes: n.refused}})
	}
	return n
}

func (r *Replica) takeOne(from api.NodeID, raw json.RawMessage, d api.Document, n *updates) {
	key, version := d.Key(), d.Version()
	outcome, err := r.ledger.PutForeign(d)
	if errors.Is(err, api.ReasonDuplicateIdentity) {
		r.confront(from, key, raw)
	}
	switch {
	case outcome == ledger.Refused:
		n.refuse(err)
		return
	case err != nil: // held, and not saved
		r.log.Error("a document could not be saved", "document", key.String(), "error", err)
	}
	held, isHeld := r.ledger.Latest(key)
	switch {
	case outcome == ledger.Taken && isHeld && moves(key.Kind):
		n.taken = append(n.taken, held)
	case outcome == ledger.Orphan:
		r.noteOrphan(key)
	case outcome == ledger.Known && isHeld && held.Version().Compare(version) > 0 && (from == key.Node || held.Deleted()):
		// The writer has forgotten what it wrote, as after it lost its state, or
		// somebody missed a deletion.
		r.with(from, func(p *peer) {
			r.queueLocked(p, func(o *outbox) bool { return o.add(parcel{rec: held, isRepair: true}) })
		})
	}
}

// passOn tells others what somebody brought. Those whom the sender cannot tell
// hear of it from those whose turn it is: some in full, and with the rest digests are
// compared when the others have had time to. What answered a digest nobody else was told.
func (r *Replica) passOn(from api.NodeID, taken []*ledger.Record, missed []api.NodeID, isRepair bool) {
	if len(taken) == 0 && len(missed) == 0 {
		return
	}
	isMissed := make(map[api.NodeID]bool, len(missed))
	for _, m := range missed {
		isMissed[m] = true
	}
	var othersTurns map[api.NodeID]bool
	if len(taken) > 0 && !isRepair {
		othersTurns = r.othersTurns(from, isMissed)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	reached := r.neighboursLocked(func(p *peer) bool {
		return p.node != from && (isRepair && len(taken) > 0 || isMissed[p.node])
	})
	few := relays
	if !isRepair {
		var mine, others []*peer
		for _, p := range reached {
			if othersTurns[p.node] {
				others = append(others, p)
			} else {
				mine = append(mine, p)
			}
		}
		reached, few = append(mine, others...), len(mine)
	}
	if len(taken) > 0 && !isRepair {
		for _, p := range reached {
			delete(isMissed, p.node)
		}
		var rest []api.NodeID
		for _, m := range missed {
			if isMissed[m] && m != r.self {
				rest = append(rest, m)
			}
		}
		n := min(relays, few)
		for _, p := range reached[:n] {
			for _, rec := range taken {
				if rec.Key().Node != p.node {
					r.queueLocked(p, func(o *outbox) bool { return o.add(parcel{rec: rec, missed: rest}) })
				}
			}
		}
		reached, few = reached[n:], few-n
	}
	var writers []api.NodeID
	for _, rec := range taken {
		if node := rec.Key().Node; !slices.Contains(writers, node) {
			writers = append(writers, node)
		}
	}
	r.compareLaterLocked(reached, few, writers...)
}

// othersTurns are those of the members that one cannot tell who hear of it from others: from
// the first few, in an order that is another for each, of those that it told and that have a
// path there.
func (r *Replica) othersTurns(from api.NodeID, isMissed map[api.NodeID]bool) map[api.NodeID]bool {
	all := map[api.NodeID]bool{}
	members := r.roster().Current()
	for _, missed := range members {
		if !isMissed[missed] {
			continue
		}
		own, before := turn(missed, r.self), 0
		for _, node := range members {
			if node == from || isMissed[node] || turn(missed, node) >= own || !r.joined(node, missed) {
				continue
			}
			if before++; before == relays {
				all[missed] = true
				break
			}
		}
	}
	return all
}

// turn is when it is a node's turn to tell another one.
func turn(to, node api.NodeID) uint64 {
	sum := fnv.New64a()
	sum.Write([]byte(to))
	sum.Write([]byte(node))
	return sum.Sum64()
}

// complaint is when something about a member was logged last, and how often
// nothing was since.
type complaint struct {
	at      time.Duration
	skipped int
}

// complaintPeriod is how often one member fills the log at most.
const complaintPeriod = time.Minute

// complaints is where to log what is wrong with a member: the log, once a minute, else
// nowhere.
func (r *Replica) complaints(node api.NodeID) *slog.Logger {
	now := r.clock.Boot()
	r.mu.Lock()
	defer r.mu.Unlock()
	last, wasReported := r.reported[node]
	if wasReported && now-last.at < complaintPeriod {
		last.skipped++
		r.reported[node] = last
		return slog.New(slog.DiscardHandler)
	}
	r.reported[node] = complaint{at: now}
	if r.ctx.Err() != nil {
		return slog.New(slog.DiscardHandler)
	}
	return r.log.With("node", node.Display(), "more", last.skipped)
}
