package topology

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology/readiness"
)

// MaxRingCables is how many cables to each neighbour a ring of JACCL uses, as MLX builds it.
const MaxRingCables = 4

// MaxCables is how many cables of a pair are used where MLX has no bound of its own: more
// than any Mac has ports for.
const MaxCables = 8

// DeviceMatrix is JACCL's device matrix: cell [i][j] holds the RDMA devices of
// rank i that lead to rank j. Cell n of [i][j] and cell n of [j][i] are the two
// ends of one cable.
type DeviceMatrix [][][]string

// Text is the file that MLX_IBV_DEVICES names, a rank a line.
func (m DeviceMatrix) Text() string { return jsonLines("[", api.DeviceRows(m), "]") }

// jsonLines writes a JSON list with one element a line.
func jsonLines[T any](open string, all []T, end string) string {
	lines := make([]string, len(all))
	for i, v := range all {
		raw, _ := json.Marshal(v) // strings and lists of them only: cannot fail
		lines[i] = "    " + string(raw)
	}
	return open + "\n" + strings.Join(lines, ",\n") + "\n" + end + "\n"
}

// Matrix is JACCL's device matrix for the nodes in the order of their ranks
// (none: all, by id). For jaccl every pair needs a cable that is ready for
// RDMA, for jaccl-ring every two neighbours, with as many cables everywhere;
// auto and the empty backend take the first of the two that is possible.
//
// The error has rdma_not_ready and names every missing pair and its cause. The
// notes are about cables that are used although not everything about them is
// told.
func (g Graph) Matrix(nodes []api.NodeID, backend api.Backend) (DeviceMatrix, []api.Cause, error) {
	_, m, notes, err := g.matrix(nodes, backend)
	return m, notes, err
}

// matrix is Matrix with the backend that it is for.
func (g Graph) matrix(nodes []api.NodeID, backend api.Backend) (api.Backend, DeviceMatrix, []api.Cause, error) {
	ranks, err := g.ranksOf(nodes)
	if err != nil {
		return "", nil, nil, err
	}
	switch backend {
	case api.BackendJACCL:
		m, notes, err := g.mesh(ranks)
		return backend, m, notes, err
	case api.BackendJACCLRing:
		m, notes, err := g.ring(ranks)
		return backend, m, notes, err
	case api.BackendAuto, "":
		m, notes, err := g.mesh(ranks)
		if err == nil {
			return api.BackendJACCL, m, notes, nil
		}
		if m, notes, ringErr := g.ring(ranks); ringErr == nil {
			return api.BackendJACCLRing, m, notes, nil
		}
		return "", nil, nil, err
	}
	return "", nil, nil, api.Errorf(api.ReasonBadValue, "backend", "%s uses no RDMA devices", backend)
}

func (g Graph) mesh(ranks []*node) (DeviceMatrix, []api.Cause, error) {
	if len(ranks) > api.MaxMeshRanks {
		return nil, nil, api.Errorf(api.ReasonBadValue, "nodes", "jaccl joins at most %d ranks, not %d", api.MaxMeshRanks, len(ranks))
	}
	m := newMatrix(len(ranks))
	var notes, missing noteList
	width := MaxCables
	edges := map[[2]int][]*cable{}
	for i, a := range ranks {
		for j := i + 1; j < len(ranks); j++ {
			edges[[2]int{i, j}] = g.rdmaCables(a, ranks[j], &missing)
			width = min(width, len(edges[[2]int{i, j}]))
		}
	}
	for i, a := range ranks {
		for j := i + 1; j < len(ranks); j++ {
			m.set(i, j, a, edges[[2]int{i, j}][:width], &notes)
		}
	}
	if len(missing) > 0 {
		return nil, nil, refusal(api.ReasonRDMANotReady, missing.sorted(), "jaccl needs RDMA between every two of the %d nodes", len(ranks))
	}
	return m, notes.sorted(), nil
}

func (g Graph) ring(ranks []*node) (DeviceMatrix, []api.Cause, error) {
	m := newMatrix(len(ranks))
	var notes, missing noteList
	width := MaxRingCables
	edges := make([][]*cable, len(ranks))
	for i, a := range ranks {
		next := (i + 1) % len(ranks)
		if len(ranks) == 2 && i == 1 {
			edges[1] = edges[0] // two ranks are neighbours on both sides, over the same cables
			continue
		}
		edges[i] = g.rdmaCables(a, ranks[next], &missing)
		width = min(width, len(edges[i]))
	}
	if len(missing) > 0 {
		return nil, nil, refusal(api.ReasonRDMANotReady, missing.sorted(), "jaccl-ring needs RDMA between all neighbours of the %d nodes", len(ranks))
	}
	for i, a := range ranks {
		m.set(i, (i+1)%len(ranks), a, edges[i][:width], &notes)
	}
	return m, notes.sorted(), nil
}

func newMatrix(n int) DeviceMatrix {
	m := make(DeviceMatrix, n)
	for i := range m {
		m[i] = make([][]string, n)
	}
	return m
}

// set enters cables between rank i, which is node a, and rank j, at both ends alike.
func (m DeviceMatrix) set(i, j int, a *node, cables []*cable, notes *noteList) {
	m[i][j], m[j][i] = nil, nil
	for _, c := range cables {
		at, to := c.low, c.high
		if at.node != a {
			at, to = to, at
		}
		m[i][j] = append(m[i][j], at.device().Name)
		m[j][i] = append(m[j][i], to.device().Name)
		*notes = append(*notes, c.rdma.Causes...)
		if c.OneSided {
			notes.add(api.ReasonRDMAOneSided, c.Link.String(), "only one end sees the cable %s - %s", c.low.name(), c.high.name())
		}
	}
}

// rdmaCables lists the cables between two nodes that can carry RDMA as far as
// the facts say, the best first. Where there is none, missing gets the causes.
func (g Graph) rdmaCables(a, b *node, missing *noteList) []*cable {
	var usable []*cable
	var causes []api.Cause
	plugged := false
	for _, c := range g.cables {
		if !c.between(a.ID, b.ID) {
			continue
		}
		plugged = true
		switch {
		case c.Stale:
			causes = append(causes, api.Errorf(api.ReasonUnreachable, c.Link.String(), "an end of %s - %s cannot be reached", c.low.name(), c.high.name()).Cause())
		case !c.usable():
			causes = append(causes, c.rdma.Causes...)
		default:
			usable = append(usable, c)
		}
	}
	if len(usable) > 1 { // what was measured is made when it is asked for
		rows := g.Measured()
		slices.SortStableFunc(usable, func(a, b *cable) int {
			return cmp.Or(cmp.Compare(readiness.Rank(a.RDMA), readiness.Rank(b.RDMA)),
				cmp.Compare(RDMARank(a.Cable, rows[a.Link]), RDMARank(b.Cable, rows[b.Link])), cmp.Compare(b.NegotiatedBitsPerS(), a.NegotiatedBitsPerS()))
		})
		usable = Disjoint(usable, func(a, b *cable) bool { return a.low == b.low || a.high == b.high })
	}
	switch {
	case len(usable) > 0:
	case !plugged:
		missing.add(api.ReasonNotConnected, pairSubject(a, b), "no cable joins %s and %s", a.displayName(), b.displayName())
	default:
		*missing = append(*missing, causes...)
	}
	return usable
}

// usable reports whether a device is there at both ends and nothing is known
// that stops it. What is not told does not: the matrix would be right.
func (c *cable) usable() bool {
	named := func(p *port) bool { return p != nil && p.device() != nil && p.device().Name != "" }
	return named(c.low) && named(c.high) && (c.RDMA == api.RDMAReady || c.RDMA == api.RDMAUnknown)
}

// Disjoint keeps, of ordered cables between two nodes, those that share no port with an
// earlier one: through a hub several may, and MLX refuses the same device twice.
func Disjoint[C any](ordered []C, sharePort func(a, b C) bool) []C {
	var kept []C
	for _, c := range ordered {
		if !slices.ContainsFunc(kept, func(k C) bool { return sharePort(k, c) }) {
			kept = append(kept, c)
		}
	}
	return kept
}

// RDMARank says which of a pair's cables come before others, the lowest first: what was
// measured before what is only negotiated, which is always more, and what something is
// known to be wrong with last, or gave less than half of that. row is its measurement
// over RDMA; nil for none.
func RDMARank(c api.Cable, row *api.LinkRow) int {
	isBad := func(v api.LinkVerdict) bool { return v == api.VerdictSlow || v == api.VerdictBad }
	switch {
	case c.OneSided || isBad(c.Verdict) || row != nil && isBad(row.Verdict):
		return 2
	case row == nil:
		return 1
	}
	for _, measured := range []*int64{row.UpBitsPerS, row.DownBitsPerS} {
		if measured != nil && 2**measured < c.NegotiatedBitsPerS() {
			return 2
		}
	}
	return 0
}

// RDMARows are the measurements over RDMA, by cable: the newest where both ends measured.
func RDMARows(rows []api.LinkRow) map[api.LinkID]*api.LinkRow {
	newest := map[api.LinkID]*api.LinkRow{}
	for i := range rows {
		r := &rows[i]
		if r.Transport != api.TransportRDMA || !r.Link.Valid() || !HasSpeed(r) {
			continue
		}
		if old := newest[r.Link]; old == nil || Newer(r, old) {
			newest[r.Link] = r
		}
	}
	return newest
}

// HasSpeed reports whether a row has a speed that still says something: one of a
// cable that negotiated anew does not, an old one does.
func HasSpeed(r *api.LinkRow) bool {
	return (r.UpBitsPerS != nil || r.DownBitsPerS != nil) && !slices.Contains(r.Reasons, api.ReasonLinkChanged)
}

// Newer reports whether a was measured after b; of two at once the lower key counts.
func Newer(a, b *api.LinkRow) bool {
	return cmp.Or(a.MeasuredAt.Compare(b.MeasuredAt.Time), cmp.Compare(b.From, a.From), cmp.Compare(b.Name, a.Name)) > 0
}
