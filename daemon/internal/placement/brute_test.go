package placement

import (
	"cmp"
	"slices"

	"fulmen/daemon/api"
)

// verdict is the best plan's value, by trying everything.
type verdict struct {
	is      bool
	backend api.Backend
	nodes   []int // ascending
	score   score
	fit     int // 1 where none of them is too hot and the like
}

// option is what joins two nodes with so many connections: its speed, -1 for none.
type option func(a, b, width int) int64

// brute tries every set of nodes and every order of a ring, from the desk
// itself and not from its documents.
func (d *scenario) brute(p api.Placement) verdict {
	named := len(p.Networks) > 0 || d.trusted
	type speed struct {
		gigabits int64
		after    int // 1 where it was not measured, 2 where that gave less than half
	}
	cables := func(a, b, width int, rdma bool) int64 {
		var all []speed
		for _, w := range d.wires {
			after := 0
			switch {
			case w.rdma == 0:
				after = 1
			case 2*w.rdma < w.gigabits:
				after = 2
			}
			switch {
			case w.a != min(a, b) || w.b != max(a, b):
			case rdma && w.ready && w.gigabits > 40:
				all = append(all, speed{cmp.Or(w.rdma, w.gigabits), after})
			case !rdma:
				all = append(all, speed{cmp.Or(w.tcp, w.gigabits), 0})
			}
		}
		slices.SortFunc(all, func(a, b speed) int {
			return cmp.Or(cmp.Compare(a.after, b.after), cmp.Compare(b.gigabits, a.gigabits))
		})
		if len(all) < width {
			return -1
		}
		return slices.MinFunc(all[:width], func(a, b speed) int { return cmp.Compare(a.gigabits, b.gigabits) }).gigabits * int64(width) * gigabit
	}
	rdma := func(a, b, width int) int64 { return cables(a, b, width, true) }
	mesh := func(a, b, width int) int64 {
		isOld := func(i int) bool { return d.nodes[i].MLX.Version == "0.32.3" }
		if width > 1 && (isOld(a) || isOld(b)) {
			return -1
		}
		return rdma(a, b, width)
	}
	thunderbolt := func(a, b, width int) int64 {
		if named && d.lan[a] && d.lan[b] && cables(a, b, 1, false) >= 0 && d.lanTCP*gigabit > 2*cables(a, b, 1, false) {
			return -1 // the network comes first
		}
		return cables(a, b, width, false)
	}
	networks := func(a, b, width int) int64 {
		over, lan := cables(a, b, width, false), cmp.Or(d.lanTCP, 10)*gigabit
		beside := lan // of the network with one cable less
		if width > 1 {
			beside = int64(width) * min(lan, max(0, cables(a, b, width-1, false))/int64(width-1))
		}
		switch {
		case !named || !d.lan[a] || !d.lan[b]:
			return over
		case width > 1 && cables(a, b, width-1, false) < 0:
			return -1
		case over < 0 || d.lanTCP*gigabit > 2*cables(a, b, 1, false):
			return beside
		}
		return over
	}
	tiers := map[api.Backend][]bruteTier{
		api.BackendJACCL:     {{api.BackendJACCL, true, 8, mesh}},
		api.BackendJACCLRing: {{api.BackendJACCLRing, false, 4, rdma}},
		api.BackendRing:      {{api.BackendRing, false, 8, thunderbolt}, {api.BackendRing, false, 8, networks}},
	}
	tiers[api.BackendAuto] = slices.Concat(tiers[api.BackendJACCL], tiers[api.BackendJACCLRing], tiers[api.BackendRing])
	least, most := p.MinNodes, cmp.Or(p.MaxNodes, len(d.nodes))
	if p.Ranks > 0 {
		least, most = p.Ranks/p.PerNode(), p.Ranks/p.PerNode()
	}
	if p.PerNode() > 1 {
		tiers[api.BackendAuto] = tiers[api.BackendRing]
	}
	required := d.requiredOf(p)
	least = max(least, len(required), 1)
	for _, t := range tiers[p.Backend] {
		for n := least; n <= most; n++ {
			best := verdict{}
			for x := range 1 << len(d.nodes) {
				nodes := set(x).members()
				if len(nodes) == n && d.fits(nodes, required, p, t) {
					if class := d.bestClass(nodes, t); class >= 0 {
						c := verdict{true, t.backend, nodes, d.scoreOf(nodes, class), d.fit(nodes)}
						if !best.is || cmp.Or(cmp.Compare(c.fit, best.fit), c.score.compare(best.score), slices.Compare(best.nodes, nodes)) > 0 {
							best = c
						}
					}
				}
			}
			if best.is {
				return best
			}
		}
	}
	return verdict{}
}

type bruteTier struct {
	backend api.Backend
	mesh    bool
	widest  int
	speed   option
}

func (d *scenario) requiredOf(p api.Placement) []int {
	var out []int
	for i, n := range d.nodes {
		if slices.Contains(p.Nodes, n.ID) || p.Rank0 == n.ID {
			out = append(out, i)
		}
	}
	return out
}

// fits reports whether the nodes alone allow a set.
func (d *scenario) fits(nodes, required []int, p api.Placement, t bruteTier) bool {
	version, part := "", int64(0)
	for _, i := range nodes {
		n := d.nodes[i]
		if !n.Reached || n.Refusal != "" || slices.Contains(p.ExcludedNodes, n.ID) || p.ShareBy == "" && int64(p.PerNode())*p.MemoryBytes > *n.WorkingSetBytes {
			return false
		}
		if p.ShareBy != "" {
			room := min(*n.WorkingSetBytes, *n.AvailableBytes)
			if room < 1<<30 || n.Pressure == api.PressureWarning {
				return false
			}
			part += room
		}
		if n.MLX.Version == "0.32.3" && t.backend == api.BackendJACCLRing && len(nodes) > 1 {
			return false
		}
		if v := n.MLX.Version; v != "" {
			if version != "" && v != version {
				return false
			}
			version = v
		}
	}
	return (p.ShareBy == "" || part >= p.MemoryBytes) && !slices.ContainsFunc(required, func(i int) bool { return !slices.Contains(nodes, i) })
}

// bestClass is the class of the slowest link of the best way to join nodes; -1
// where there is none.
func (d *scenario) bestClass(nodes []int, t bruteTier) int {
	if len(nodes) == 1 {
		return noClass
	}
	best := -1
	for width := 1; width <= t.widest; width++ {
		if t.mesh {
			slowest := noClass
			for k, a := range nodes {
				for _, b := range nodes[k+1:] {
					slowest = min(slowest, classOrNone(t.speed(a, b, width)))
				}
			}
			best = max(best, slowest)
			continue
		}
		permutations(nodes[1:], func(rest []int) {
			slowest, last := noClass, nodes[0]
			for _, i := range append(rest, nodes[0]) {
				slowest = min(slowest, classOrNone(t.speed(last, i, width)))
				last = i
			}
			best = max(best, slowest)
		})
	}
	return best
}

func classOrNone(bits int64) int {
	if bits < 0 {
		return -1
	}
	return classOf(bits)
}

func (d *scenario) scoreOf(nodes []int, class int) score {
	s := score{class: class, gpu: d.nodes[nodes[0]].tflops(), free: d.nodes[nodes[0]].free()}
	for _, i := range nodes {
		s.gpu, s.free = min(s.gpu, d.nodes[i].tflops()), min(s.free, d.nodes[i].free())
	}
	return s
}

func (d *scenario) fit(nodes []int) int {
	if slices.ContainsFunc(nodes, func(i int) bool { return d.nodes[i].Strain != "" }) {
		return 0
	}
	return 1
}

// permutations calls with every order; the slice is reused.
func permutations(all []int, call func([]int)) {
	all = slices.Clone(all)
	var walk func(k int)
	walk = func(k int) {
		if k == len(all) {
			call(slices.Clip(all))
			return
		}
		for i := k; i < len(all); i++ {
			all[k], all[i] = all[i], all[k]
			walk(k + 1)
			all[k], all[i] = all[i], all[k]
		}
	}
	walk(0)
}

// verdictOf is what a plan is worth, by what it says of itself.
func (d *scenario) verdictOf(p *api.Plan) verdict {
	if p == nil {
		return verdict{}
	}
	v := verdict{is: true, backend: p.Backend}
	for _, r := range p.Ranks {
		v.nodes = append(v.nodes, slices.IndexFunc(d.nodes, func(n Node) bool { return n.ID == r.Node }))
	}
	slices.Sort(v.nodes)
	v.nodes = slices.Compact(v.nodes)
	class, slowest, count := noClass, map[[2]int]int64{}, map[[2]int]int64{}
	for _, l := range p.Links {
		key := [2]int{l.From, l.To}
		bits := int64(0)
		if l.BitsPerS != nil {
			bits = *l.BitsPerS
		}
		if count[key]++; count[key] == 1 || bits < slowest[key] {
			slowest[key] = bits
		}
	}
	for key, n := range count {
		class = min(class, classOf(slowest[key]*n))
	}
	v.score, v.fit = d.scoreOf(v.nodes, class), d.fit(v.nodes)
	return v
}
