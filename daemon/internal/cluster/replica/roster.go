package replica

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/native"
)

// RosterChanged says that the roster is another one, because of what somebody
// did on this node. Every neighbour is told at once.
func (r *Replica) RosterChanged() { r.rosterUpdates("") }

// rosterUpdates tells of new entries: after a change by this node every neighbour,
// after one that came from another node a few of the others, who do the same;
// with the rest digests are compared, which go with the roster's hash, unless they
// have a path to who is new. That also brings the documents of new members, which
// were refused until now.
func (r *Replica) rosterUpdates(from api.NodeID) {
	now := r.roster()
	r.mu.Lock()
	defer r.mu.Unlock()
	fresh := now.Missing(r.known.Heads())
	added := slices.DeleteFunc(now.Current(), r.known.IsMember)
	r.known = now
	if len(fresh) == 0 {
		return
	}
	r.rosterHints.Wake()
	near := r.neighboursLocked(func(p *peer) bool { return p.node != from })
	for i, p := range near {
		if from == "" || i < relays {
			r.queueLocked(p, func(o *outbox) bool { return o.roster(fresh) })
		}
	}
	few := 0
	if len(added) != len(fresh) { // it is not only about these
		few, added = relays, nil
	}
	r.compareLaterLocked(r.neighboursLocked(func(*peer) bool { return true }), few, added...)
}

// followRoster acts on removals. Documents of a removed node go, and none of
// its come in again, because the ledger asks the same roster.
func (r *Replica) followRoster() {
	for node := range r.removed { // what a former process had no time to drop
		r.drop(node)
	}
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-r.rosterHints:
		}
		roster := r.roster()
		for _, m := range roster.Members() {
			if r.removed[m.Node] || !roster.IsRemoved(m.Node) {
				continue
			}
			r.removed[m.Node] = true
			r.drop(m.Node)
			r.mu.Lock()
			r.spawnLocked(func() { r.partFrom(m.Node) })
			r.mu.Unlock()
		}
	}
}

// drop drops what a removed node wrote, unless it is this one.
func (r *Replica) drop(node api.NodeID) {
	if node == r.self {
		return
	}
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
		ctx, cancel := native.WithTimeout(p.ctx, r.clock, removalGrace, "a removed node")
		entries, _ := EncodeEntries(r.roster().Log())
		// Whether it heard makes no difference here.
		_ = r.options.Calls.Call(ctx, node, methodRoster, api.PeerRosterParams{Have: []string{}, Entries: entries}, &api.PeerRosterResult{})
		cancel()
	}
	r.PeerDown(node)
	if r.options.OnRemoved != nil {
		r.options.OnRemoved(node)
	}
}

// removalGrace is how long a removed node has to hear of it.
const removalGrace = time.Second

// exchangeRoster brings a neighbour entries and takes those that this node
// lacks. What the neighbour lacks beyond that it asks for itself.
func (r *Replica) exchangeRoster(p *peer, entries []cluster.SignedEntry) error {
	for isMore := true; isMore; {
		params := api.PeerRosterParams{Have: cluster.HashTexts(r.roster().Sample())}
		params.Entries, entries = EncodeEntries(entries)
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
func (r *Replica) handleRoster(from api.NodeID, in api.PeerRosterParams) (any, error) {
	if _, err := r.mergeRoster(from, in.Entries); err != nil && !errors.Is(err, cluster.ErrGap) {
		r.complaints(from).Warn("entries of the roster were refused", "error", err)
	}
	roster := r.roster()
	have := cluster.HashesOf(in.Have)
	if slices.ContainsFunc(have, func(h cluster.EntryHash) bool { return !roster.Holds(h) }) {
		r.with(from, func(p *peer) { r.queueLocked(p, func(o *outbox) bool { return o.roster(nil) }) })
	}
	entries, rest := EncodeEntries(roster.Missing(have))
	return api.PeerRosterResult{Entries: entries, More: len(rest) > 0}, nil
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
		r.rosterUpdates(from)
	}
	return fresh, err
}

// EncodeEntries is as many entries as fit a message, and the rest.
func EncodeEntries(entries []cluster.SignedEntry) (raws []json.RawMessage, rest []cluster.SignedEntry) {
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
