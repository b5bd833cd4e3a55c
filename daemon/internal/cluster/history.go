package cluster

import (
	"cmp"
	"crypto/ed25519"
	"errors"
	"maps"
	"math/big"
	"slices"

	"fulmen/daemon/api"
)

// ErrGap is an entry that is after one that is not there. It is not bad: what
// is missing may come.
var ErrGap = errors.New("the roster lacks an earlier entry that an entry names")

// history is entries with their order. Once it belongs to a Roster it does not
// change; who adds to it copies it first.
type history struct {
	steps []*step
	index map[EntryHash]*step
	// keys are those of all who were ever added, by whomever: the id says which
	// key it is.
	keys map[api.NodeID]ed25519.PublicKey
}

// step is one entry in its place.
type step struct {
	signed SignedEntry
	entry  Entry
	hash   EntryHash
	number int // in the order of coming
	depth  int // the longest way from the first entry
	past   set // all that it is after, however far
}

// beginHistory checks the first entry.
func beginHistory(first SignedEntry) (history, error) {
	e, err := first.Entry()
	if err != nil {
		return history{}, err
	}
	if e.Type != EntryFound {
		return history{}, malformedEntry("is the first, but does not begin a cluster")
	}
	if err := first.Verify(e.PublicKey); err != nil {
		return history{}, err
	}
	s := &step{signed: first, entry: e, hash: first.Hash()}
	return history{
		steps: []*step{s}, index: map[EntryHash]*step{s.hash: s},
		keys: map[api.NodeID]ed25519.PublicKey{e.Node: e.PublicKey},
	}, nil
}

// copied is a history that can be added to.
func (h *history) copied() history {
	return history{steps: slices.Clone(h.steps), index: maps.Clone(h.index), keys: maps.Clone(h.keys)}
}

// add takes an entry whose past is there. Whether it counts is found out later:
// that can change with entries that are not there yet. One whose signer was
// never added by anybody in its past is refused, so that strangers cannot fill
// the log.
func (h *history) add(signed SignedEntry) error {
	hash := signed.Hash()
	if h.index[hash] != nil {
		return nil
	}
	e, err := signed.Entry()
	if err != nil {
		return err
	}
	switch {
	case e.Type == EntryFound:
		return malformedEntry("begins another cluster")
	case len(h.steps) >= MaxEntries && (e.Type != EntryRemove || len(h.steps) >= 2*MaxEntries):
		return api.Errorf(api.ReasonRosterConflict, "roster", "The roster is full: it can hold %d entries.", MaxEntries)
	}
	s := &step{signed: signed, entry: e, hash: hash, number: len(h.steps)}
	for _, after := range e.After {
		parent := h.index[after]
		if parent == nil {
			return ErrGap
		}
		s.past.add(parent)
		s.past.join(&parent.past)
		s.depth = max(s.depth, parent.depth+1)
	}
	if !h.hasAddition(e.By, s) {
		return api.Errorf(api.ReasonNotAMember, e.By.Display(), "An entry of the roster is signed by %s, which was not a member when it was made.", e.By.Display())
	}
	if err := signed.Verify(h.keys[e.By]); err != nil {
		return err
	}
	if e.Type == EntryAdd {
		h.keys[e.Node] = e.PublicKey
	}
	h.steps = append(h.steps, s)
	h.index[hash] = s
	return nil
}

// hasAddition reports whether somebody added a node in an entry's past.
func (h *history) hasAddition(node api.NodeID, at *step) bool {
	return slices.ContainsFunc(h.steps, func(p *step) bool {
		return p.entry.Node == node && p.adds() && at.past.has(p)
	})
}

// adds reports whether the entry makes a member, if it counts.
func (s *step) adds() bool { return s.entry.Type == EntryAdd || s.entry.Type == EntryFound }

// sort puts the entries into the one order that everybody finds.
func (h *history) sort() {
	slices.SortFunc(h.steps, func(a, b *step) int {
		return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.hash, b.hash))
	})
}

func (h *history) heads() []EntryHash {
	open := maps.Clone(h.index)
	for _, s := range h.steps {
		for _, after := range s.entry.After {
			delete(open, after)
		}
	}
	return slices.Sorted(maps.Keys(open))
}

// set is steps of one history, a bit each by their number.
type set struct{ bits big.Int }

func (s *set) add(e *step) { s.bits.SetBit(&s.bits, e.number, 1) }

func (s *set) has(e *step) bool { return s.bits.Bit(e.number) == 1 }

// join adds all of another set.
func (s *set) join(other *set) { s.bits.Or(&s.bits, &other.bits) }
