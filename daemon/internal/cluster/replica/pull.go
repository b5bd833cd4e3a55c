package replica

import (
	"encoding/json"
	"slices"

	"fulmen/daemon/api"
)

// pull is documents to be fetched from a neighbour, and what it said with them.
type pull struct {
	keys     []api.Key
	missed   []api.NodeID
	isRepair bool
}

// pullKeys is how many documents are asked for at once.
const pullKeys = 128

// pullResult is api.PeerPullResult with documents as bytes.
type pullResult struct {
	Docs []json.RawMessage `json:"docs"`
	More bool              `json:"more,omitempty"`
}

// pullOffered fetches what is newer than what is held and not on its way from
// another neighbour in that version.
func (r *Replica) pullOffered(from api.NodeID, offer []api.KeyVersion, missed []api.NodeID, isRepair bool) {
	var keys []api.Key
	for _, o := range offer {
		rec, isHeld := r.ledger.Latest(o.Key)
		if !o.Version.Valid() || !r.mayPull(o.Key) || isHeld && rec.Version().Compare(o.Version) >= 0 {
			continue
		}
		if !isHeld && !r.fits(o.Key, from) {
			continue
		}
		r.mu.Lock()
		if r.pulling[o.Key].Compare(o.Version) < 0 && r.peers[from] != nil && len(keys) < outboxKeys {
			r.pulling[o.Key] = o.Version
			keys = append(keys, o.Key)
		}
		r.mu.Unlock()
	}
	if len(keys) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.peers[from]
	if p == nil || p.pending+len(keys) > outboxKeys { // the next comparison finds the rest
		r.forgetPullsLocked(keys)
		return
	}
	p.pending += len(keys)
	p.pulls = append(p.pulls, pull{keys: keys, missed: missed, isRepair: isRepair})
	if !p.isPulling {
		p.isPulling = true
		r.spawnLocked(func() { r.workOff(p) })
	}
}

// mayPull reports whether a document is one that other members have: what is asked
// for takes room here until it comes.
func (r *Replica) mayPull(key api.Key) bool { return moves(key.Kind) && r.roster().IsMember(key.Node) }

// fits reports whether a document that is not held would be kept.
func (r *Replica) fits(key api.Key, from api.NodeID) bool { return r.ledger.Fits(key, from) == nil }

// forgetPullsLocked lets others be asked for keys.
func (r *Replica) forgetPullsLocked(keys []api.Key) {
	for _, key := range keys {
		delete(r.pulling, key)
	}
}

// workOff fetches what is to be fetched from a neighbour.
func (r *Replica) workOff(p *peer) {
	for {
		r.mu.Lock()
		if len(p.pulls) == 0 {
			p.isPulling = false
			r.mu.Unlock()
			return
		}
		next := p.pulls[0]
		p.pulls = p.pulls[1:]
		r.mu.Unlock()
		err := r.fetch(p, next)
		r.mu.Lock()
		r.forgetPullsLocked(next.keys)
		p.pending -= len(next.keys)
		if err != nil {
			// Others who offered the same were not listened to.
			for _, q := range r.peers {
				q.compare.isForced = true
				r.compareSoonLocked(q, r.soonLocked(len(r.peers)))
			}
		}
		r.mu.Unlock()
		if err != nil {
			r.complaints(p.node).Warn("documents could not be pulled", "error", err)
		}
	}
}

// fetch asks until all that is there has come.
func (r *Replica) fetch(p *peer, what pull) error {
	for part := range slices.Chunk(what.keys, pullKeys) {
		part = slices.DeleteFunc(slices.Clone(part), func(k api.Key) bool { // it was filled up meanwhile
			_, isHeld := r.ledger.Latest(k)
			return !isHeld && !r.fits(k, p.node)
		})
		if len(part) == 0 {
			continue
		}
		for isMore := true; isMore; {
			var result pullResult
			if err := r.call(p, methodPull, api.PeerPullParams{Keys: part}, &result); err != nil {
				return err
			}
			n := r.take(p.node, result.Docs)
			r.passOn(p.node, n.taken, what.missed, what.isRepair)
			part = after(part, result.Docs)
			isMore = result.More && len(part) > 0
		}
	}
	return nil
}

// after is the keys that come after the last document given; none where that
// was not asked for.
func after(keys []api.Key, given []json.RawMessage) []api.Key {
	var last api.Key
	if len(given) == 0 || json.Unmarshal(given[len(given)-1], &last) != nil {
		return nil
	}
	i := slices.Index(keys, last)
	if i < 0 {
		return nil
	}
	return keys[i+1:]
}

// handlePull gives documents, in the order in which they were asked for and up
// to the first that does not fit; for those that are not there it gives nothing.
func (r *Replica) handlePull(_ api.NodeID, in api.PeerPullParams) (any, error) {
	out := pullResult{Docs: []json.RawMessage{}}
	room := messageBytes
	for _, key := range in.Keys {
		rec, isHeld := r.ledger.Latest(key)
		if !isHeld || !moves(key.Kind) && !(key.Node == r.self && isLive(key.Kind)) {
			continue
		}
		if room -= rec.SizeBytes(); room < 0 && len(out.Docs) > 0 {
			out.More = true
			break
		}
		raw, err := rec.JSON()
		if err != nil {
			return nil, err
		}
		out.Docs = append(out.Docs, raw)
	}
	return out, nil
}
