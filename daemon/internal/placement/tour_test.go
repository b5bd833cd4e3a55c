package placement

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/matryer/is"

	"fulmen/native/nativetest/testkit"
)

// graph is a field of its own: nodes that are joined at random, at one of three classes.
func graph(r *rand.Rand, nodes int) *field {
	f := &field{nodes: make([]int, nodes), gpu: make([]float64, nodes), free: make([]int64, nodes), classes: make([][]int, nodes)}
	density := 1 + r.IntN(4)
	for i := range nodes {
		f.nodes[i] = i
		f.classes[i] = slices.Repeat([]int{-1}, nodes)
		for j := range i {
			if r.IntN(5) < density {
				class := r.IntN(3)
				f.classes[i][j], f.classes[j][i] = class, class
			}
		}
	}
	for range r.IntN(3) {
		f.required |= 1 << r.IntN(nodes)
	}
	return f
}

// ways are all rings of n nodes that begin at a node and go through the required ones,
// in order, with the class of the slowest link of each.
func (f *field) ways(n, first int) (rings [][]int, classes []int) {
	var walk func(path []int, class int)
	walk = func(path []int, class int) {
		last := path[len(path)-1]
		if len(path) == n {
			x := set(0)
			for _, i := range path {
				x |= 1 << i
			}
			if class = min(class, f.classes[last][first]); class >= 0 && x.holds(f.required) {
				rings, classes = append(rings, slices.Clone(path)), append(classes, class)
			}
			return
		}
		for i := range f.nodes {
			if c := f.classes[last][i]; c >= 0 && !slices.Contains(path, i) {
				walk(append(path, i), min(class, c))
			}
		}
	}
	walk([]int{first}, noClass)
	return rings, classes
}

// bestWay is the fewest nodes of least to most of which there is a ring, and the
// highest class of such a ring.
func (f *field) bestWay(least, most int) (n, class int, is bool) {
	for n := least; n <= most; n++ {
		class := -1
		for first := range f.nodes {
			if _, classes := f.ways(n, first); len(classes) > 0 {
				class = max(class, slices.Max(classes))
			}
		}
		if class >= 0 {
			return n, class, true
		}
	}
	return 0, 0, false
}

// The search of many nodes finds on few ones what trying everything finds, and a ring
// is walked from any of its nodes by the way that comes first.
func TestRingsAgainstAllWays(t *testing.T) {
	found := 0
	for seed := range testkit.Upto(t, 250) {
		r := seed.Source(14)
		nodes := 2 + r.IntN(5)
		f := graph(r, nodes)
		least := max(2, f.required.size())
		most := least + r.IntN(nodes-least+1)
		n, class, want := f.bestWay(least, most)
		exact, is := f.ring(least, most)
		some, also := f.someRing(least, most)
		if is != want || also != want {
			t.Fatalf("seed %d: a ring of %d to %d of %d nodes, required %b: %t, bounded %t, want %t", seed, least, most, nodes, f.required, is, also, want)
		}
		if !want {
			continue
		}
		found++
		for _, got := range []searched{{"exact", exact}, {"bounded", some}} {
			if got.set.size() != n || got.score.class != class || !got.set.holds(f.required) {
				t.Fatalf("seed %d: the %s search has %b of class %d, want %d nodes of class %d", seed, got.by, got.set, got.score.class, n, class)
			}
			for _, first := range got.set.members() {
				order := f.order(got.found, first)
				rings, classes := f.ways(n, first)
				at := slices.IndexFunc(rings, func(way []int) bool { return slices.Equal(way, order) })
				if at < 0 || classes[at] < class || order[len(order)-1] < order[1] {
					t.Fatalf("seed %d: from %d on, %v is walked by the %s search", seed, first, order, got.by)
				}
				if got.around != nil {
					continue
				}
				for k, way := range rings[:at] { // in order
					if classes[k] >= class && setOf(way) == got.set {
						t.Fatalf("seed %d: %v comes before %v", seed, way, order)
					}
				}
			}
		}
	}
	if found < 50 {
		t.Errorf("only %d rings", found)
	}
}

type searched struct {
	by string
	found
}

func setOf(all []int) (x set) {
	for _, i := range all {
		x |= 1 << i
	}
	return x
}

// complete is a field of which every two nodes are joined.
func complete(nodes int) *field {
	f := graph(testkit.Seed(1).Source(15), nodes)
	f.required = 0
	for i := range nodes {
		for j := range nodes {
			f.classes[i][j] = 1
		}
		f.classes[i][i] = -1
	}
	return f
}

// A search that is too long ends without an answer, and takes no more of its budget
// than it has used.
func TestBoundedSearches(t *testing.T) {
	is := is.New(t)
	f := complete(20)
	for _, c := range []struct {
		budget, left int
		found        bool
	}{{100, 81, true}, {19, 0, true}, {18, 0, false}, {0, 0, false}} { // the last of twenty steps only looks
		budget := c.budget
		_, around := f.tour(20, f.adjacent(1), &budget)
		is.Equal(around != nil, c.found)
		is.Equal(budget, c.left)
	}
	apart := f.adjacent(1)
	for i := range apart { // halves that are not joined: from nowhere is there a ring of all
		apart[i] &= []set{1<<10 - 1, (1<<10 - 1) << 10}[i/10]
	}
	budget := 3 * maxWalk
	_, around := f.tour(11, apart, &budget)
	is.True(around == nil)
	is.Equal(budget, 0)
	budget = 3 * maxWalk
	_, around = f.tour(20, apart, &budget) // it goes through every node, so one start is enough
	is.True(around == nil)
	is.Equal(budget, 2*maxWalk)

	for _, c := range []struct {
		tries          int
		bounded, found bool
	}{{3, true, true}, {2, true, false}, {2, false, true}} {
		m := &mesher{field: f, n: 3, adjacent: f.adjacent(0), tries: c.tries, bounded: c.bounded}
		m.grow(0, 1<<20-1, noClass)
		is.Equal(m.is, c.found)
	}
}

// Sixty-four nodes fill a set to its last bit.
func TestFullField(t *testing.T) {
	is := is.New(t)
	f := complete(maxField)
	f.required = 1 << (maxField - 1)
	got, found := f.mesh(3)
	is.True(found)
	is.Equal(got.set, set(1<<(maxField-1)|3))
}

// Of too many nodes the required ones stay, and those that come first.
func TestAtMost(t *testing.T) {
	is := is.New(t)
	s := &state{required: []int{7}}
	is.Equal(s.atMost([]int{5, 6, 7, 8, 1}, 3), []int{5, 6, 7})
	is.Equal(s.atMost([]int{7, 8, 1}, 3), []int{1, 7, 8})
	is.Equal(s.atMost([]int{7, 8}, 3), []int{7, 8})
}
