package output

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"sync"

	"fulmen/daemon/api"
)

const (
	// LastLines is how many of the last lines of a standard error are kept.
	LastLines = 20
	// lastBytes bounds them.
	lastBytes = 16 << 10
)

// Rest knows of each rank whether all that it printed has come, and the end of its
// standard error. The zero value has seen nothing. It may be used by several
// goroutines.
type Rest struct {
	// Together says that both streams end up on one screen.
	Together bool

	mu    sync.Mutex
	ranks map[RankOf]*rest
	by    source // whose lines are the last ones on the screen of standard error
	lines int    // how many of these there are
}

// RankOf is a rank of an attempt.
type RankOf struct{ Attempt, Rank int }

type rest struct {
	whole  bool
	notice *api.Cause
	last   []byte // of standard error
}

// Take takes a piece in.
func (r *Rest) Take(p api.OutputPiece) {
	if p.Rank < 0 || p.Attempt <= 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	of := RankOf{p.Attempt, p.Rank}
	if r.ranks == nil {
		r.ranks = map[RankOf]*rest{}
	}
	at := r.ranks[of]
	if at == nil {
		at = &rest{}
		r.ranks[of] = at
	}
	switch {
	case p.Complete:
		at.whole, at.notice = true, nil
	case p.Notice != nil:
		at.notice = p.Notice
	case len(p.Data) > 0:
		r.printed(source{p.Attempt, p.Rank, p.Stream}, at, p.Data)
	}
}

func (r *Rest) printed(s source, at *rest, data []byte) {
	if s.stream == api.StreamErr {
		at.last = lastOf(append(at.last, data...))
	}
	if s.stream != api.StreamErr && !r.Together {
		return
	}
	if r.by != s {
		r.by, r.lines = s, 0
	}
	r.lines += bytes.Count(data, []byte{'\n'})
}

// lastOf are the last lines of what was printed.
func lastOf(text []byte) []byte {
	if over := len(text) - lastBytes; over > 0 {
		text = text[over:]
	}
	at := len(bytes.TrimSuffix(text, []byte{'\n'}))
	for range LastLines {
		if at = bytes.LastIndexByte(text[:max(at, 0)], '\n'); at < 0 {
			return slices.Clone(text)
		}
	}
	return slices.Clone(text[at+1:])
}

// Last is the end of a rank's standard error; empty where that is what the screen
// ends with.
func (r *Rest) Last(of RankOf) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.ranks[of]
	if at == nil || r.by == (source{of.Attempt, of.Rank, api.StreamErr}) && r.lines >= bytes.Count(at.last, []byte{'\n'}) {
		return nil
	}
	return at.last
}

// Missing are the ranks of which a part has not come, each with why where that was
// said: those that were given a notice, and of those named the ones of which not all
// has come.
func (r *Rest) Missing(named []RankOf) map[RankOf]*api.Cause {
	r.mu.Lock()
	defer r.mu.Unlock()
	missing := map[RankOf]*api.Cause{}
	for _, of := range named {
		if at := r.ranks[of]; at == nil || !at.whole {
			missing[of] = nil
		}
	}
	for of, at := range r.ranks {
		if at.notice != nil {
			missing[of] = at.notice
		}
	}
	return missing
}

// Sorted are ranks in their order.
func Sorted(ranks map[RankOf]*api.Cause) []RankOf {
	return slices.SortedFunc(maps.Keys(ranks), func(a, b RankOf) int {
		return cmp.Or(cmp.Compare(a.Attempt, b.Attempt), cmp.Compare(a.Rank, b.Rank))
	})
}

// Offsets remembers how far each stream was taken, so that output which is sent
// again, after a connection was lost, is written once. The zero value has taken
// nothing.
type Offsets struct {
	next map[source]int64
}

// Take leaves away of a piece what was taken before; fresh says whether anything
// is left.
func (o *Offsets) Take(p api.OutputPiece) (left api.OutputPiece, fresh bool) {
	if p.Notice != nil || p.Complete {
		return p, true // it stands in place of a piece, at no place of a stream
	}
	s := source{p.Attempt, p.Rank, p.Stream}
	if o.next == nil {
		o.next = map[source]int64{}
	}
	next := o.next[s]
	p.SkippedBytes = max(0, min(p.SkippedBytes, p.OffsetBytes-next))
	if before := next - p.OffsetBytes; before > 0 {
		if before >= int64(len(p.Data)) {
			return api.OutputPiece{}, false
		}
		p.Data, p.OffsetBytes = p.Data[before:], next
	}
	o.next[s] = p.OffsetBytes + int64(len(p.Data))
	return p, len(p.Data) > 0 || p.SkippedBytes > 0
}
