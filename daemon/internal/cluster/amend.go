package cluster

import (
	"crypto/ed25519"
	"errors"
	"slices"
	"time"

	"fulmen/daemon/api"
)

// Add makes a node a member. A node that was removed stays so: it comes back
// with another key.
func (r *Roster) Add(by Identity, key ed25519.PublicKey, now time.Time) (*Roster, error) {
	node := api.NodeIDFromKey(key)
	switch {
	case r.IsRemoved(node):
		return nil, api.NewError(api.ReasonRemoved, node.Display())
	case r.IsMember(node):
		return nil, api.NewError(api.ReasonAlreadyMember, node.Display())
	}
	return r.append(by, now, Entry{Type: EntryAdd, Node: node, PublicKey: key})
}

// Remove ends memberships for good, in one step. A node may remove itself: it
// leaves.
func (r *Roster) Remove(by Identity, now time.Time, nodes ...api.NodeID) (*Roster, error) {
	var entries []Entry
	for _, node := range nodes {
		if !r.IsMember(node) {
			return nil, api.NewError(api.ReasonNotAMember, node.Display())
		}
		entries = append(entries, Entry{Type: EntryRemove, Node: node})
	}
	// Whoever removes itself does so last, while it still may.
	slices.SortStableFunc(entries, func(a, b Entry) int {
		if (a.Node == by.Node) == (b.Node == by.Node) {
			return 0
		}
		if b.Node == by.Node {
			return -1
		}
		return 1
	})
	return r.append(by, now, entries...)
}

// append signs entries after all that is there, each after the one before.
func (r *Roster) append(by Identity, now time.Time, entries ...Entry) (*Roster, error) {
	if !r.IsMember(by.Node) {
		return nil, api.NewError(api.ReasonNotAMember, by.Node.Display())
	}
	h := r.history.copied()
	for _, e := range entries {
		e.After, e.By, e.At = h.heads(), by.Node, api.TimeOf(now)
		signed, err := SignEntry(e, by)
		if err != nil {
			return nil, err
		}
		if err := h.add(signed); err != nil {
			return nil, err
		}
	}
	return judged(h), nil
}

// Merge takes entries that another node brought, in any order. fresh are those
// that were not there; with none, the roster itself is given. The error is what
// is wrong with entries that were left out, ErrGap among them if what some are
// after is missing; the good ones are taken all the same.
func (r *Roster) Merge(entries []SignedEntry) (next *Roster, fresh []SignedEntry, err error) {
	h := r.history.copied()
	var problems []error
	for waiting := entries; len(waiting) > 0; {
		var gaps []SignedEntry
		before := len(h.steps)
		for _, e := range waiting {
			known := h.index[e.Hash()] != nil
			switch err := h.add(e); {
			case errors.Is(err, ErrGap):
				gaps = append(gaps, e)
			case err != nil:
				problems = append(problems, err)
			case !known:
				fresh = append(fresh, e)
			}
		}
		if waiting = gaps; len(h.steps) == before && len(gaps) > 0 {
			problems = append(problems, ErrGap)
			break
		}
	}
	if len(fresh) == 0 {
		return r, nil, errors.Join(problems...)
	}
	return judged(h), fresh, errors.Join(problems...)
}

// Holds reports whether an entry is there.
func (r *Roster) Holds(hash EntryHash) bool { return r.history.index[hash] != nil }

// Sample is some of the entries' hashes, the newest first and thinning out
// towards the oldest, by which another node finds out what this one lacks.
func (r *Roster) Sample() []EntryHash {
	all := r.Heads()
	for i, gap := len(r.history.steps)-1, 1; i > 0; i, gap = i-gap, gap+gap/4+1 {
		all = append(all, r.history.steps[i].hash)
	}
	return append(all, r.history.steps[0].hash)
}

// Missing is what a node lacks that has these entries and all that they are
// after, none before what it is after itself. Hashes that are not known say
// nothing.
func (r *Roster) Missing(have []EntryHash) []SignedEntry {
	var known set
	for _, hash := range have {
		if s := r.history.index[hash]; s != nil {
			known.add(s)
			known.join(&s.past)
		}
	}
	var missing []SignedEntry
	for _, s := range r.history.steps {
		if !known.has(s) {
			missing = append(missing, s.signed)
		}
	}
	return missing
}
