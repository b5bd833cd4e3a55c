package sidechannel

import "slices"

// gather follows the all-gathers of one rank by their bytes. In each the rank sends
// a number of bytes, the same as every other, and gets those of all ranks back;
// only then does it send again. JACCL exchanges lengths, which are never 0, and
// descriptions of queue pairs, which are longer than a number, and at last waits for
// the others by gathering the number 0: once that came back, every rank has made
// its queue pairs ready.
type gather struct {
	size     int // ranks
	up, down int // bytes of the all-gather that is on
	zeros    bool
	data     bool // one was of more than a number
	waited   bool // and the last one of no more, as a wait is
	joined   bool
	unknown  bool // what was seen is not made of all-gathers
}

const numberBytes = 4 // of JACCL's ints

// sent takes what the rank sent, after its number.
func (g *gather) sent(p []byte) {
	if g.up == 0 && g.down == 0 {
		g.zeros = true
	}
	g.unknown = g.unknown || g.down > 0
	g.up += len(p)
	g.zeros = g.zeros && isZero(p)
}

// got takes what came back.
func (g *gather) got(p []byte) {
	g.down += len(p)
	g.zeros = g.zeros && isZero(p)
	switch whole := g.size * g.up; {
	case g.down > whole:
		g.unknown = true
	case g.down == whole:
		g.waited = g.data && g.up <= numberBytes
		g.data = g.data || g.up > numberBytes
		g.joined = g.joined || !g.unknown && g.data && g.up == numberBytes && g.zeros
		g.up, g.down = 0, 0
	}
}

// rests reports whether the rank may be through with a handshake that does not end
// as JACCL's does: it waits for nothing. One that makes its queue pairs ready, which
// may take long, does so right after it has got the descriptions.
func (g *gather) rests() bool { return g.unknown || g.waited && g.up == 0 && g.down == 0 }

func isZero(p []byte) bool { return !slices.ContainsFunc(p, func(b byte) bool { return b != 0 }) }
