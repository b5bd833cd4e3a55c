package cluster

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"time"

	"fulmen/daemon/api"
)

// Roster is who belongs to the cluster: the log, and what follows from it. It
// does not change.
type Roster struct {
	log     []SignedEntry
	cluster api.ClusterID
	members []api.Member
	keys    map[api.NodeID]ed25519.PublicKey
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

// ReadRoster checks a log, its first entry first: form, links and signatures.
// This version knows clusters of one; a log that goes on is refused, not cut.
func ReadRoster(log []SignedEntry) (*Roster, error) {
	if len(log) == 0 {
		return nil, malformedEntry("is missing: the log is empty")
	}
	first, err := log[0].Entry()
	if err != nil {
		return nil, err
	}
	if first.Type != EntryFound {
		return nil, malformedEntry("begins the log and no cluster")
	}
	if err := log[0].Verify(first.PublicKey); err != nil {
		return nil, err
	}
	if len(log) > 1 {
		return nil, api.Errorf(api.ReasonVersionSkew, "roster", "The roster has %d entries, and this version of Fulmen reads the first only.", len(log))
	}
	return &Roster{
		log:     append([]SignedEntry(nil), log...),
		cluster: api.ClusterIDFromEntry(log[0].Raw),
		members: []api.Member{{Node: first.Node, AddedBy: first.By, AddedAt: first.At}},
		keys:    map[api.NodeID]ed25519.PublicKey{first.Node: first.PublicKey},
	}, nil
}

// Cluster is its id.
func (r *Roster) Cluster() api.ClusterID { return r.cluster }

// Log is the signed entries, the first one first.
func (r *Roster) Log() []SignedEntry { return append([]SignedEntry(nil), r.log...) }

// Head is the hash of the last entry.
func (r *Roster) Head() EntryHash { return r.log[len(r.log)-1].Hash() }

// Members are all who ever were, ordered by when they were added, without the
// short names, which their identity documents have.
func (r *Roster) Members() []api.Member { return append([]api.Member(nil), r.members...) }

// PublicKey is a member's key; false for whoever is none.
func (r *Roster) PublicKey(node api.NodeID) ([]byte, bool) {
	key, ok := r.keys[node]
	return key, ok
}

// MarshalJSON writes the log.
func (r *Roster) MarshalJSON() ([]byte, error) { return json.Marshal(r.log) }

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
