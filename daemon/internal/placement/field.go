package placement

import (
	"cmp"
	"math/bits"
	"slices"

	"fulmen/daemon/api"
)

// set is a set of a field's nodes, a bit each. The lowest bit is the lowest id.
type set uint64

// maxField is the most nodes that a field has: the bits of a set.
const maxField = 64

func (x set) size() int        { return bits.OnesCount64(uint64(x)) }
func (x set) lowest() int      { return bits.TrailingZeros64(uint64(x)) }
func (x set) has(i int) bool   { return x>>i&1 == 1 }
func (x set) holds(y set) bool { return x&y == y }

// compare orders sets alike in size by the ids of their nodes.
func (x set) compare(y set) int {
	return cmp.Compare(bits.Reverse64(uint64(y)), bits.Reverse64(uint64(x)))
}

func (x set) members() []int {
	out := make([]int, 0, x.size())
	for ; x != 0; x &= x - 1 {
		out = append(out, x.lowest())
	}
	return out
}

// field is a tier's search: the nodes that qualify, and the class of what joins
// each two of them, for one number of connections.
type field struct {
	// nodes are places in the state, by bit.
	nodes    []int
	required set
	gpu      []float64
	free     []int64
	// whole is how much memory all of a set need together; 0 = that does not matter.
	whole int64
	// classes are those of each pair; -1 where they are not joined.
	classes [][]int
	// bottlenecks are the devices that keep some of the nodes from being in a mesh together.
	bottlenecks []bottleneck
}

// score is what makes one set better than another with as many nodes.
type score struct {
	class int
	gpu   float64
	free  int64
}

func (a score) compare(b score) int {
	return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.gpu, b.gpu), cmp.Compare(a.free, b.free))
}

// found is a set with its score.
type found struct {
	set   set
	score score
	// around is the ring, where the search that found the set has walked it.
	around []int
}

// better reports whether it is to be preferred to another with as many nodes.
func (a found) better(b found) bool {
	return cmp.Or(a.score.compare(b.score), b.set.compare(a.set)) > 0
}

// newField makes a field of nodes, given by place in ascending order.
func (s *state) newField(nodes []int) *field {
	f := &field{nodes: nodes, whole: s.demand.whole}
	for bit, i := range nodes {
		f.gpu = append(f.gpu, s.nodes[i].tflops())
		f.free = append(f.free, s.nodes[i].free())
		if slices.Contains(s.required, i) {
			f.required |= 1 << bit
		}
	}
	return f
}

// places are the places in the state of a set's nodes, ascending.
func (f *field) places(x set) []int {
	out := x.members()
	for i, bit := range out {
		out[i] = f.nodes[bit]
	}
	return out
}

// join fills in the classes for one number of connections, and reports whether
// any two are joined.
func (f *field) join(s *state, t tier, width int) bool {
	m, joined := len(f.nodes), false
	f.classes = make([][]int, m)
	for i := range f.classes {
		f.classes[i] = slices.Repeat([]int{-1}, m)
	}
	for i := range m {
		for j := i + 1; j < m; j++ {
			if all, is := s.edge(pairOf(f.nodes[i], f.nodes[j]), t, width); is {
				class := classOf(throughput(all))
				f.classes[i][j], f.classes[j][i] = class, class
				joined = true
			}
		}
	}
	if t.shape == api.ShapeMesh {
		f.bottlenecks = s.bottlenecks(f, t, width)
	}
	return joined
}

// adjacent are, for each node, those that it is joined to by a class or better.
func (f *field) adjacent(class int) []set {
	out := make([]set, len(f.nodes))
	for i, row := range f.classes {
		for j, c := range row {
			if c >= class && c >= 0 {
				out[i] |= 1 << j
			}
		}
	}
	return out
}

// levels are the classes that occur, ascending.
func (f *field) levels() []int {
	var all []int
	for i, row := range f.classes {
		for _, c := range row[i+1:] {
			if c >= 0 {
				all = append(all, c)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// rate is the score of a set whose slowest link has the class.
func (f *field) rate(x set, class int) score {
	first := x.lowest()
	r := score{class: class, gpu: f.gpu[first], free: f.free[first]}
	for y := x; y != 0; y &= y - 1 {
		i := y.lowest()
		r.gpu, r.free = min(r.gpu, f.gpu[i]), min(r.free, f.free[i])
	}
	return r
}

// exact reports whether the field is small enough to be searched to the end.
func (f *field) exact() bool { return len(f.nodes) <= api.MaxExactNodes }
