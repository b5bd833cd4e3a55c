package cluster

import (
	"slices"

	"fulmen/daemon/api"
)

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
	hashes := make([]EntryHash, len(heads))
	for i, h := range heads {
		hashes[i] = EntryHash(h)
	}
	if current := r.Heads(); slices.Equal(current, hashes) {
		return r.Current(), true
	}
	past, known := r.At(hashes)
	if !known {
		return nil, false
	}
	return past.Current(), true
}
