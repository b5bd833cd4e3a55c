package cluster

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"fulmen/daemon/api"
)

// MaxEntries is how many entries a roster holds: several lives of a cluster of
// 32 nodes. It bounds what a member gone mad can make others store. As many
// again may be removals, so that such a one can still be removed.
const MaxEntries = 2048

// Roster is who belongs to the cluster: a log of signed entries, each after
// those that its signer had seen, and what follows from it. It does not change;
// what adds to it gives another one.
//
// An entry counts if its signer was a member in its past. A removal is final,
// and undoes what the removed node added without having been seen to by whoever
// removed it: those additions are concurrent with the removal. Whoever holds the
// same entries so finds the same members, in whatever order they came.
type Roster struct {
	history history
	cluster api.ClusterID
	members []api.Member
	keys    map[api.NodeID]ed25519.PublicKey // of current members
}

// FoundRoster begins a cluster of one.
func FoundRoster(by Identity, now time.Time) (*Roster, error) {
	nonce := make([]byte, NonceSize)
	rand.Read(nonce) // never fails: it ends the process where the system has no randomness
	return foundRoster(by, now, nonce)
}

func foundRoster(by Identity, now time.Time, nonce []byte) (*Roster, error) {
	first, err := SignEntry(Entry{Type: EntryFound, After: []EntryHash{}, By: by.Node, At: api.TimeOf(now),
		Node: by.Node, PublicKey: by.Public(), Nonce: nonce}, by)
	if err != nil {
		return nil, err
	}
	return ReadRoster([]SignedEntry{first})
}

// ReadRoster checks a log, its first entry first and none before what it is
// after: form, links and signatures. One bad entry makes the whole log bad.
func ReadRoster(log []SignedEntry) (*Roster, error) {
	if len(log) == 0 {
		return nil, malformedEntry("is missing: the log is empty")
	}
	h, err := beginHistory(log[0])
	if err != nil {
		return nil, err
	}
	for _, entry := range log[1:] {
		if err := h.add(entry); err != nil {
			return nil, err
		}
	}
	return judged(h), nil
}

// judged finds out who is a member by a history.
func judged(h history) *Roster {
	r := &Roster{history: h, cluster: api.ClusterIDFromEntry(h.steps[0].signed.Raw), keys: map[api.NodeID]ed25519.PublicKey{}}
	h.sort()
	r.members = h.members()
	for _, m := range r.members {
		if m.RemovedBy == "" {
			r.keys[m.Node] = h.keys[m.Node]
		}
	}
	return r
}

// Cluster is its id.
func (r *Roster) Cluster() api.ClusterID { return r.cluster }

// Log is the signed entries, none before what it is after, alike on every node
// that has the same ones.
func (r *Roster) Log() []SignedEntry {
	log := make([]SignedEntry, len(r.history.steps))
	for i, s := range r.history.steps {
		log[i] = s.signed
	}
	return log
}

// Heads are the entries that no other is after yet, in ascending order: several
// where halves of the cluster have just met again.
func (r *Roster) Heads() []EntryHash { return r.history.heads() }

// Head names all that the roster holds in one hash: that of its last entry
// where it has one head, else that of its heads.
func (r *Roster) Head() EntryHash {
	heads := r.Heads()
	if len(heads) == 1 {
		return heads[0]
	}
	var all []byte
	for _, h := range heads {
		all = append(all, h...)
	}
	return HashEntry(all)
}

// Members are all who ever were, ordered by when they were added, without the
// short names, which their identity documents have.
func (r *Roster) Members() []api.Member { return slices.Clone(r.members) }

// Current are those who are members now, ordered by id.
func (r *Roster) Current() []api.NodeID {
	var all []api.NodeID
	for node := range r.keys {
		all = append(all, node)
	}
	slices.Sort(all)
	return all
}

// IsMember reports whether a node is one now.
func (r *Roster) IsMember(node api.NodeID) bool {
	_, ok := r.keys[node]
	return ok
}

// IsRemoved reports whether a node was a member and is none for good.
func (r *Roster) IsRemoved(node api.NodeID) bool {
	return slices.ContainsFunc(r.members, func(m api.Member) bool { return m.Node == node && m.RemovedBy != "" })
}

// InvitedBy are the members whom a node has added, to be looked at when it is
// removed.
func (r *Roster) InvitedBy(node api.NodeID) []api.NodeID {
	var all []api.NodeID
	for _, m := range r.members {
		if m.AddedBy == node && m.Node != node && m.RemovedBy == "" {
			all = append(all, m.Node)
		}
	}
	return all
}

// PublicKey is a member's key; false for whoever is none, or none any more.
func (r *Roster) PublicKey(node api.NodeID) (ed25519.PublicKey, bool) {
	key, ok := r.keys[node]
	return key, ok
}

// SignerKey is the key of whoever is a member or was one.
func (r *Roster) SignerKey(node api.NodeID) (ed25519.PublicKey, bool) {
	if !slices.ContainsFunc(r.members, func(m api.Member) bool { return m.Node == node }) {
		return nil, false
	}
	return r.history.keys[node], true
}

// MarshalJSON writes the log.
func (r *Roster) MarshalJSON() ([]byte, error) { return json.Marshal(r.Log()) }

// UnmarshalJSON reads and checks a log.
func (r *Roster) UnmarshalJSON(raw []byte) error {
	var log []SignedEntry
	if err := json.Unmarshal(raw, &log); err != nil {
		return malformedEntry(err.Error())
	}
	read, err := ReadRoster(log)
	if err != nil {
		return err
	}
	*r = *read
	return nil
}

// RosterStore keeps the roster over a restart.
type RosterStore interface {
	// LoadRoster gives what was saved last, of whichever cluster; nil if nothing was.
	LoadRoster() (json.RawMessage, error)
	// SaveRoster keeps a roster instead of an earlier one of its cluster, and
	// beside those of others. It is on disk when it returns.
	SaveRoster(api.ClusterID, json.RawMessage) error
}

// OpenRoster loads the roster, or begins a cluster of one where there is none or
// the node's key is no member, as after a key of another machine was set aside.
// The earlier roster stays in the store. A roster that cannot be read is an error
// and is not replaced.
func OpenRoster(store RosterStore, self Identity, now time.Time) (*Roster, error) {
	raw, err := store.LoadRoster()
	if err != nil {
		return nil, fmt.Errorf("load the roster: %w", err)
	}
	r := new(Roster)
	if raw != nil {
		if err := r.UnmarshalJSON(raw); err != nil {
			return nil, fmt.Errorf("load the roster: %w", err)
		}
		if _, isMember := r.PublicKey(self.Node); isMember {
			return r, nil
		}
	}
	if r, err = FoundRoster(self, now); err != nil {
		return nil, err
	}
	if raw, err = r.MarshalJSON(); err != nil {
		return nil, err
	}
	if err := store.SaveRoster(r.Cluster(), raw); err != nil {
		return nil, fmt.Errorf("save the roster: %w", err)
	}
	return r, nil
}

// At is the roster as it was at some of its heads: the entries that these are after,
// and themselves. False where one of them is not there.
func (r *Roster) At(heads []EntryHash) (*Roster, bool) {
	var all set
	for _, hash := range heads {
		s := r.history.index[hash]
		if s == nil {
			return nil, false
		}
		all.add(s)
		all.join(&s.past)
	}
	var log []SignedEntry
	for _, s := range r.history.steps { // none before what it is after
		if all.has(s) {
			log = append(log, s.signed)
		}
	}
	past, err := ReadRoster(log)
	return past, err == nil
}

// VotersAt are the members at some of the roster's heads, ordered by id. Who was
// removed since stays one; who came later is none.
func (r *Roster) VotersAt(heads []string) ([]api.NodeID, bool) {
	hashes := HashesOf(heads)
	if current := r.Heads(); slices.Equal(current, hashes) {
		return r.Current(), true
	}
	past, known := r.At(hashes)
	if !known {
		return nil, false
	}
	return past.Current(), true
}
