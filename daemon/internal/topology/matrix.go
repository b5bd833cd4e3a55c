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

// DeviceMatrix is JACCL's device matrix: cell [i][j] holds the RDMA devices of
// rank i that lead to rank j. Cell n of [i][j] and cell n of [j][i] are the two
// ends of one cable.
type DeviceMatrix [][][]string

// rows are the rows as JACCL reads them: null for no device, the name for one,
// a list for several.
func (m DeviceMatrix) rows() [][]any {
	out := make([][]any, len(m))
	for i, row := range m {
		out[i] = make([]any, len(row))
		for j, devices := range row {
			switch len(devices) {
			case 0:
			case 1:
				out[i][j] = devices[0]
			default:
				out[i][j] = devices
			}
		}
	}
	return out
}

// MarshalJSON writes the matrix as the file that MLX_IBV_DEVICES names.
func (m DeviceMatrix) MarshalJSON() ([]byte, error) { return json.Marshal(m.rows()) }

// Text is the file that MLX_IBV_DEVICES names, a rank a line.
func (m DeviceMatrix) Text() string { return jsonLines("[", m.rows(), "]") }

// jsonLines writes a JSON list with one element a line.
func jsonLines[T any](open string, all []T, end string) string {
	lines := make([]string, len(all))
	for i, v := range all {
		raw, err := json.Marshal(v)
		if err != nil {
			raw = []byte("null") // strings and lists of them only: cannot be
		}
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
	for i, a := range ranks {
		for j := i + 1; j < len(ranks); j++ {
			if cables := g.rdmaCables(a, ranks[j], &missing); len(cables) > 0 {
				m.set(i, j, a, cables[:1], &notes)
			}
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
			causes = append(causes, causeOf(api.ReasonUnreachable, c.Link.String(), "an end of %s - %s cannot be reached", c.low.name(), c.high.name()))
		case !c.usable():
			causes = append(causes, c.rdma.Causes...)
		default:
			usable = append(usable, c)
		}
	}
	slices.SortStableFunc(usable, preferRDMA)
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

// preferRDMA orders cables: those that are known to be ready, then by speed.
func preferRDMA(a, b *cable) int {
	speed := func(c *cable) int64 { return min(c.way.total.tx, c.way.total.rx) }
	return cmp.Or(cmp.Compare(readiness.Rank(a.RDMA), readiness.Rank(b.RDMA)), cmp.Compare(speed(b), speed(a)))
}
