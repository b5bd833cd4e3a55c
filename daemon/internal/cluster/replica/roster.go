package replica

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/native"
)

// RosterChanged says that the roster is another one, because of what somebody
// did on this node. Every neighbour is told at once.
func (r *Replica) RosterChanged() { r.rosterNews("") }

// rosterNews tells of new entries: after a change by this node every neighbour,
// after one that came from another node a few of the others, who do the same;
// with the rest digests are compared, which go with the roster's hash. That
// also brings the documents of new members, which were refused until now.
func (r *Replica) rosterNews(from api.NodeID) {
	now := r.roster()
	r.mu.Lock()
	defer r.mu.Unlock()
	fresh := now.Missing(r.known.Heads())
	r.known = now
	if len(fresh) == 0 {
		return
	}
	r.rosterHints.Wake()
	near := r.neighbours(func(p *peer) bool { return p.node != from })
	for i, p := range near {
		if from == "" || i < relays {
			r.queue(p, func(o *outbox) bool { return o.roster(fresh) })
		}
	}
	r.compareLater(r.neighbours(func(*peer) bool { return true }))
}

// followRoster acts on removals. Documents of a removed node go, and none of
// its come in again, because the ledger asks the same roster.
func (r *Replica) followRoster() {
	// What a former process had no time to drop.
	for _, m := range r.roster().Members() {
		if r.roster().IsRemoved(m.Node) && m.Node != r.self {
			r.drop(m.Node)
		}
	}
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-r.rosterHints:
		}
		roster := r.roster()
		for _, m := range roster.Members() {
			if !roster.IsRemoved(m.Node) {
				continue
			}
			r.mu.Lock()
			isKnown := r.removed[m.Node]
			r.removed[m.Node] = true
			r.mu.Unlock()
			if isKnown {
				continue
			}
			if m.Node != r.self {
				r.drop(m.Node)
			}
			r.mu.Lock()
			r.spawn(func() { r.partFrom(m.Node) })
			r.mu.Unlock()
		}
	}
}

// drop drops what a removed node wrote.
func (r *Replica) drop(node api.NodeID) {
	if err := r.ledger.Forget(node); err != nil {
		r.log.Error("documents of a removed member could not be dropped", "node", node, "error", err)
	}
}

// partFrom tells a removed node so, if it can be told now: it counts for nothing
// already, and has to know why nobody talks to it any more.
func (r *Replica) partFrom(node api.NodeID) {
	r.mu.Lock()
	p := r.peers[node]
	r.mu.Unlock()
	if p != nil {
		ctx, cancel := native.WithTimeout(p.ctx, r.clock, farewell, "a removed node")
		entries, _ := encodeEntries(r.roster().Log())
		// Whether it heard makes no difference here.
		_ = r.options.Calls.Call(ctx, node, methodRoster, api.PeerRosterParams{Have: []string{}, Entries: entries}, &api.PeerRosterResult{})
		cancel()
	}
	r.PeerDown(node)
	if r.options.OnRemoved != nil {
		r.options.OnRemoved(node)
	}
}

// farewell is how long a removed node has to hear of it.
const farewell = time.Second

// exchangeRoster brings a neighbour entries and takes those that this node
// lacks. What the neighbour lacks beyond that it asks for itself.
func (r *Replica) exchangeRoster(p *peer, entries []cluster.SignedEntry) error {
	for isMore := true; isMore; {
		params := api.PeerRosterParams{Have: hashes(r.roster().Sample())}
		params.Entries, entries = encodeEntries(entries)
		var result api.PeerRosterResult
		if err := r.call(p, methodRoster, params, &result); err != nil {
			return err
		}
		fresh, err := r.mergeRoster(p.node, result.Entries)
		if err != nil {
			r.complaints(p.node).Warn("entries of the roster were refused", "error", err)
		}
		isMore = len(entries) > 0 || result.More && fresh > 0
	}
	return nil
}

// handleRoster takes entries over and gives those that the caller lacks.
func (r *Replica) handleRoster(_ context.Context, from api.NodeID, params json.RawMessage) (any, error) {
	var in api.PeerRosterParams
	if err := decode(params, &in); err != nil {
		return nil, err
	}
	if _, err := r.mergeRoster(from, in.Entries); err != nil && !errors.Is(err, cluster.ErrGap) {
		r.complaints(from).Warn("entries of the roster were refused", "error", err)
	}
	roster := r.roster()
	log := roster.Log()
	held := make(map[cluster.EntryHash]bool, len(log))
	for _, e := range log {
		held[e.Hash()] = true
	}
	have := make([]cluster.EntryHash, len(in.Have))
	lacks := false
	for i, h := range in.Have {
		have[i] = cluster.EntryHash(h)
		lacks = lacks || !held[have[i]]
	}
	if lacks {
		r.mu.Lock()
		if p := r.peers[from]; p != nil {
			r.queue(p, func(o *outbox) bool { return o.roster(nil) })
		}
		r.mu.Unlock()
	}
	out := api.PeerRosterResult{}
	rest := roster.Missing(have)
	out.Entries, rest = encodeEntries(rest)
	out.More = len(rest) > 0
	return out, nil
}

// mergeRoster takes entries over and passes on what is new.
func (r *Replica) mergeRoster(from api.NodeID, raws []json.RawMessage) (fresh int, err error) {
	entries := make([]cluster.SignedEntry, 0, len(raws))
	for _, raw := range raws {
		var e cluster.SignedEntry
		if err = json.Unmarshal(raw, &e); err == nil {
			entries = append(entries, e)
		}
	}
	if len(entries) == 0 {
		return 0, err
	}
	changed, failed := r.options.Roster.Update(func(now *cluster.Roster) (*cluster.Roster, error) {
		next, added, problem := now.Merge(entries)
		fresh, err = len(added), problem
		return next, nil
	})
	if failed != nil {
		return 0, failed
	}
	if changed {
		r.rosterNews(from)
	}
	return fresh, err
}

// encodeEntries is as many entries as fit a message, and the rest.
func encodeEntries(entries []cluster.SignedEntry) (raws []json.RawMessage, rest []cluster.SignedEntry) {
	room := messageBytes
	for i, e := range entries {
		raw, err := json.Marshal(e)
		if err != nil { // it is JSON already
			continue
		}
		if room -= len(raw); room < 0 {
			return raws, entries[i:]
		}
		raws = append(raws, raw)
	}
	return raws, nil
}

func hashes(all []cluster.EntryHash) []string {
	out := make([]string, len(all))
	for i, h := range all {
		out[i] = string(h)
	}
	return out
}
