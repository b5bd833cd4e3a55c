package sidechannel

import (
	"encoding/binary"
	"slices"
)

// gather follows the all-gathers of one rank by their bytes. In each the rank sends
// a number of bytes, the same as every other, and gets those of all ranks back;
// only then does it send again. JACCL exchanges lengths, which are never 0, and
// descriptions of queue pairs, which are longer than a number, and at last waits for
// the others by gathering the number 0, twice: once that came back, every rank has made
// its queue pairs ready, and knows it of all others. Versions before wait once.
type gather struct {
	size     int  // ranks
	done     int  // all-gathers that are over
	last     int  // bytes that the rank sent in the last of them
	up, down int  // bytes of the all-gather that is on
	nonzero  bool // and not of zeros alone
	data     bool // one was of more than a number
	waited   bool // and the last one of no more, as a wait is
	waits    int  // of zeros, one after the other, once there was one of more
	joined   bool
	unknown  bool // what was seen is not made of all-gathers
}

const numberBytes = 4 // of JACCL's ints

// numberOf reads the number with which a rank begins; false where that is cut off.
func numberOf(data []byte) (rank int, whole bool) {
	if len(data) < numberBytes {
		return 0, false
	}
	return int(int32(binary.LittleEndian.Uint32(data))), true
}

// sent takes what the rank sent, after its number.
func (g *gather) sent(p []byte) {
	g.unknown = g.unknown || g.down > 0
	g.up += len(p)
	g.nonzero = g.nonzero || !isZero(p)
}

// got takes what came back.
func (g *gather) got(p []byte) {
	g.down += len(p)
	g.nonzero = g.nonzero || !isZero(p)
	switch whole := g.size * g.up; {
	case g.down > whole:
		g.unknown = true
	case g.down == whole:
		g.waited = g.data && g.up <= numberBytes
		g.data = g.data || g.up > numberBytes
		if g.waits++; g.unknown || !g.data || g.up != numberBytes || g.nonzero {
			g.waits = 0
		}
		g.joined = g.joined || g.waits > 1
		g.last, g.up, g.down, g.nonzero = g.up, 0, 0, false
		g.done++
	}
}

// rests reports whether the rank may be through with a handshake that does not end
// as JACCL's does: it waits for nothing. One that makes its queue pairs ready, which
// may take long, does so right after it has got the descriptions.
func (g *gather) rests() bool { return g.unknown || g.waited && g.up == 0 && g.down == 0 }

func isZero(p []byte) bool { return !slices.ContainsFunc(p, func(b byte) bool { return b != 0 }) }

// owing are the ranks that hold the others up, of the flows of those from 1 on; none
// where what they exchange is no gathers. In each every rank sends as much as every
// other, and gets all of it from rank 0. Of those in the first that is not over, who has
// sent less than others have is waited for; where nobody has, rank 0 is.
func owing(flows []gather) (ranks []int) {
	if slices.ContainsFunc(flows, func(g gather) bool { return g.unknown }) {
		return nil
	}
	first := slices.MinFunc(flows, func(a, b gather) int { return a.done - b.done }).done
	due := 0
	for _, g := range flows {
		switch g.done {
		case first:
			due = max(due, g.up)
		case first + 1:
			due = max(due, g.last)
		}
	}
	for i, g := range flows {
		if g.done == first && (g.up < due || due == 0) {
			ranks = append(ranks, i+1)
		}
	}
	if len(ranks) == 0 {
		return []int{0}
	}
	return ranks
}
