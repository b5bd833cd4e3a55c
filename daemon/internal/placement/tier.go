package placement

import (
	"cmp"
	"strconv"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology"
)

// tier is one way of joining ranks. Tiers are tried in order, and the first
// that has a plan wins, whatever those after it have.
type tier struct {
	backend api.Backend
	shape   api.PlanShape
	// unsure takes cables too of which not everything about RDMA is told.
	unsure bool
	// networks takes permitted networks beside Thunderbolt.
	networks bool
	// last says that no later tier of the backend asks for less.
	last bool
}

// tiersOf lists the ways for a backend. Auto takes RDMA only over cables that
// are known to be ready; who asks for JACCL gets it over cables of which not
// everything is told, where there are no others.
func tiersOf(backend api.Backend) []tier {
	mesh := tier{backend: api.BackendJACCL, shape: api.ShapeMesh}
	band := tier{backend: api.BackendJACCLRing, shape: api.ShapeRing}
	ring := []tier{
		{backend: api.BackendRing, shape: api.ShapeRing},
		{backend: api.BackendRing, shape: api.ShapeRing, networks: true, last: true},
	}
	loosely := func(t tier) []tier {
		again := t
		again.unsure, again.last = true, true
		return []tier{t, again}
	}
	switch backend {
	case api.BackendJACCL:
		return loosely(mesh)
	case api.BackendJACCLRing:
		return loosely(band)
	case api.BackendRing:
		return ring
	}
	mesh.last, band.last = true, true
	return append([]tier{mesh, band}, ring...)
}

// limit is the most ranks of a tier; 0 for none.
func (t tier) limit() int {
	if t.shape == api.ShapeMesh {
		return api.MaxMeshRanks
	}
	return 0
}

// widest is the most connections that two neighbours use.
func (t tier) widest() int {
	if t.backend == api.BackendJACCLRing {
		return topology.MaxRingCables
	}
	return topology.MaxCables
}

// stopIn is what keeps a node from a tier; nil where nothing does.
func (s *state) stopIn(i int, t tier) *api.Cause {
	if s.stops[i] != nil {
		return s.stops[i]
	}
	if s.in.Spec.AllowSolo && s.demand.backend != api.BackendAuto {
		return nil // its ranks need not make a group of MLX's
	}
	n := s.nodes[i]
	reason, what := stopOfMLX(n.MLX, t.backend, t.shape, 1)
	if reason == "" {
		return nil
	}
	return hindrance(reason, string(n.ID), what, n.name())
}

// olderThan compares versions by their numbers. What follows them, as in
// 0.32.4.dev1, counts as older than the same without; one that is not numbers
// counts as older than none.
func olderThan(version, bound string) bool {
	have, rest := numbers(version)
	want, _ := numbers(bound)
	if len(have) == 0 {
		return false
	}
	for i := range max(len(have), len(want)) {
		if d := cmp.Compare(at(have, i), at(want, i)); d != 0 {
			return d < 0
		}
	}
	return strings.Contains(rest, "dev") || strings.Contains(rest, "rc")
}

func at(all []int, i int) int {
	if i < len(all) {
		return all[i]
	}
	return 0
}

// numbers are the leading numbers of a version, and what follows.
func numbers(version string) (all []int, rest string) {
	rest = version
	for rest != "" {
		end := 0
		for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
			end++
		}
		n, err := strconv.Atoi(rest[:end])
		if err != nil {
			return all, rest
		}
		all, rest = append(all, n), strings.TrimPrefix(rest[end:], ".")
	}
	return all, rest
}

// edge is what joins a pair in a tier with so many connections; false where
// they are not joined so.
func (s *state) edge(p pair, t tier, width int) ([]channel, bool) {
	if t.backend.RDMA() {
		all := s.rdmaChannels(p, t)
		if len(all) < width || width > 1 && s.oldMesh(p, t) >= 0 {
			return nil, false
		}
		return all[:width], true
	}
	all := s.socketChannels(p, t.networks)
	if len(all) < width {
		return nil, false
	}
	return all[:width], true
}

// throughput is what so many connections give together, which share the work
// alike: as much as the slowest each, and no more than was measured of all at once; 0
// where not known.
func throughput(all []channel) int64 {
	slowest := all[0].bits
	for _, c := range all {
		slowest = min(slowest, c.bits)
	}
	slowest *= int64(len(all))
	if measured := together(all); measured > 0 {
		return min(slowest, measured)
	}
	return slowest
}

// apart is what keeps a pair from being neighbours in a tier.
func (s *state) apart(p pair, t tier) api.Cause {
	if t.backend.RDMA() {
		return s.noRDMA(p, t)
	}
	return s.noWay(p)
}
