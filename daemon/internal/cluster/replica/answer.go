package replica

import (
	"context"
	"encoding/json"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
)

// handleDigest tells a neighbour what it lacks.
func (r *Replica) handleDigest(_ context.Context, from api.NodeID, params json.RawMessage) (any, error) {
	var in api.PeerDigestParams
	if err := decode(params, &in); err != nil {
		return nil, err
	}
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
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.peers[from]; p != nil {
		c := &p.compare
		// The caller sees to what differs: whoever came up together with it need
		// not ask too.
		c.isForced = c.isForced && p.isBehind
		if out.Same && in.RosterSHA256 == head {
			c.agreed, c.agreedRoster = mine.sum, head
		}
	}
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
