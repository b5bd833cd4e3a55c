package replica

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
)

// service is a neighbour's subscription to this node's documents of live kinds.
type service struct {
	sub     api.Subscription
	watcher *ledger.Watcher
	cancel  context.CancelFunc
}

// maxServices is how many a neighbour has at most: one, and one that replaces it.
const maxServices = 2

// handleWatch begins a subscription. While there is one these documents move.
func (r *Replica) handleWatch(from api.NodeID, in api.PeerWatchParams) (any, error) {
	for _, k := range in.Kinds {
		if info, _ := api.LookupKind(k); !info.Live && !info.Fresh {
			return nil, api.Errorf(api.ReasonBadValue, "kinds", "%q is not a kind that moves only while watched", string(k))
		}
	}
	if len(in.Kinds) == 0 {
		return nil, api.Errorf(api.ReasonBadValue, "kinds", "no kind is named")
	}
	recs, w := r.ledger.Watch(ledger.WatchOptions{Name: "member " + from.Display(), BatchBytes: messageBytes,
		Filter: ledger.Filter{Kinds: in.Kinds, Nodes: []api.NodeID{r.self}, Deleted: true}})
	docs, err := encoded(recs)
	if err != nil {
		w.Close()
		return nil, err
	}
	ctx, cancel := context.WithCancel(r.ctx)
	r.mu.Lock()
	r.lastSub++
	s := &service{sub: api.Subscription(fmt.Sprintf("p%d", r.lastSub)), watcher: w, cancel: cancel}
	r.serving[from] = append(r.serving[from], s)
	for len(r.serving[from]) > maxServices {
		r.endServicesLocked(from, r.serving[from][0])
	}
	if r.closed {
		w.Close()
	}
	r.spawnLocked(func() { r.serve(ctx, from, s) })
	r.mu.Unlock()
	return watchResult{Sub: s.sub, Docs: docs}, nil
}

// serve notifies until the subscription ends. The neighbour counts the
// notifications, so one that is lost makes it subscribe again.
func (r *Replica) serve(ctx context.Context, to api.NodeID, s *service) {
	defer s.watcher.Close()
	for {
		change, err := s.watcher.Next(ctx)
		out := stateChanged{Sub: s.sub, N: change.N}
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			out.Lagged = true
		default:
			if out.Put, err = encoded(change.Put); err != nil {
				r.log.Error("documents could not be encoded", "error", err)
			}
		}
		if r.options.Calls.Notify(to, noticeChanged, out) != nil || err != nil {
			r.mu.Lock()
			r.endServicesLocked(to, s)
			r.mu.Unlock()
			return
		}
	}
}

// handleUnwatch ends a subscription of the caller.
func (r *Replica) handleUnwatch(from api.NodeID, in api.PeerUnwatch) (any, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.serving[from] {
		if s.sub == in.Sub {
			r.endServicesLocked(from, s)
			break
		}
	}
	return api.Empty{}, nil // one that is over already has ended as asked
}

// endServicesLocked ends a subscription of a neighbour, or with nil all.
func (r *Replica) endServicesLocked(of api.NodeID, only *service) {
	r.serving[of] = slices.DeleteFunc(r.serving[of], func(s *service) bool {
		if only != nil && s != only {
			return false
		}
		s.cancel()
		return true
	})
	if len(r.serving[of]) == 0 {
		delete(r.serving, of)
	}
}

// encoded is records of live kinds as they go over the wire. Of fresh kinds a
// subscription only says that somebody watches: their documents go to everybody.
func encoded(recs []*ledger.Record) ([]json.RawMessage, error) {
	raws := make([]json.RawMessage, 0, len(recs))
	for _, rec := range recs {
		if info, isKnown := api.LookupKind(rec.Key().Kind); isKnown && info.Fresh {
			continue
		}
		raw, err := rec.JSON()
		if err != nil {
			return nil, err
		}
		raws = append(raws, raw)
	}
	return raws, nil
}

// handleDigest tells a neighbour what it lacks.
func (r *Replica) handleDigest(from api.NodeID, in api.PeerDigestParams) (any, error) {
	mine := r.inventory()
	if in.SHA256 != "" {
		return r.answerFirst(from, &in, &mine), nil
	}
	return r.answerKeys(from, &in, &mine), nil
}

// answerFirst answers the question whether all is the same.
func (r *Replica) answerFirst(from api.NodeID, in *api.PeerDigestParams, mine *inventory) digestResult {
	head := string(r.roster().Head())
	out := digestResult{Same: in.SHA256 == mine.sum, RosterSHA256: head}
	if !out.Same {
		out.Have = mine.versions()
	}
	r.with(from, func(p *peer) {
		c := &p.compare
		// The caller sees to what differs: whoever came up together with it need
		// not ask too.
		if !p.isBehind && !c.isHinted {
			c.wanted = wanted{}
		}
		if out.Same && in.RosterSHA256 == head {
			c.agreed, c.agreedRoster, c.differs = mine.sum, head, nil
		}
	})
	return out
}

// answerKeys answers the question which documents are newer where.
func (r *Replica) answerKeys(from api.NodeID, in *api.PeerDigestParams, mine *inventory) digestResult {
	theirs := make(map[api.Key]api.HeldVersion, len(in.Versions))
	for _, v := range in.Versions {
		theirs[v.Key] = v
	}
	a := answer{docs: messageBytes / 2, keys: messageBytes / 4}
	for _, have := range in.Have {
		for _, rec := range mine.of(have.Node).recs {
			key := rec.Key()
			if in.After != nil && key.Compare(*in.After) <= 0 || in.Upto != nil && key.Compare(*in.Upto) > 0 {
				continue
			}
			if order := rec.Version().Compare(theirs[key].Version); order > 0 || order == 0 && held(rec) != theirs[key] {
				a.give(rec)
			}
		}
	}
	roster := r.roster()
	for _, v := range in.Versions {
		if !moves(v.Kind) || !roster.IsMember(v.Node) {
			continue
		}
		rec, isHeld := r.ledger.Latest(v.Key)
		switch {
		case !isHeld && !r.fits(v.Key, from):
		case !isHeld || rec.Version().Compare(v.Version) < 0 || rec.Version() == v.Version && held(rec) != v:
			a.want(v.Key)
		case rec.Deleted() && rec.Version().Compare(v.Version) > 0:
			a.give(rec) // also one that is too old to be told unasked
		}
	}
	return a.digestResult
}

// answer is filled while there is room.
type answer struct {
	digestResult
	docs, keys int
	given      map[api.Key]bool
}

func (a *answer) give(rec *ledger.Record) {
	key := rec.Key()
	if a.given[key] {
		return
	}
	if a.given == nil {
		a.given = map[api.Key]bool{}
	}
	a.given[key] = true
	if n := rec.SizeBytes(); n <= bigBytes && n <= a.docs {
		if raw, err := rec.JSON(); err == nil {
			a.docs -= n
			a.Docs = append(a.Docs, raw)
			return
		}
	}
	if a.hasRoom(key) {
		a.Offer = append(a.Offer, api.KeyVersion{Key: key, Version: rec.Version()})
	}
}

func (a *answer) want(key api.Key) {
	if a.hasRoom(key) {
		a.Want = append(a.Want, key)
	}
}

// hasRoom takes room for a key, or says that there is more.
func (a *answer) hasRoom(key api.Key) bool {
	if n := offerBytes(key); n <= a.keys {
		a.keys -= n
		return true
	}
	a.More = true
	return false
}
