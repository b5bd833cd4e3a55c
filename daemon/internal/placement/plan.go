package placement

import (
	"cmp"
	"net/netip"
	"slices"

	"fulmen/daemon/api"
)

// plan writes a choice down.
func (s *state) plan(c choice, exact bool) *api.Plan {
	w := &writer{state: s, choice: c, order: s.rankOrder(c)}
	w.plan = &api.Plan{SpecSHA256: s.in.SpecSHA256, Backend: c.tier.backend, Shape: c.tier.shape, ProvenBest: exact}
	for rank, i := range w.order {
		w.plan.Ranks = append(w.plan.Ranks, api.PlanRank{Rank: rank, Node: s.nodes[i].ID, MemoryBytes: s.demand.memory, GPU: s.demand.gpu})
	}
	switch c.tier.shape {
	case api.ShapeMesh:
		for a := range w.order {
			for b := a + 1; b < len(w.order); b++ {
				w.connect(a, b)
			}
		}
	case api.ShapeRing:
		for a := range w.order {
			if b := (a + 1) % len(w.order); b != 0 || len(w.order) > 2 {
				w.connect(a, b)
			}
		}
	}
	w.finish()
	return w.plan
}

// rankOrder is the chosen nodes' places in the order of their ranks.
func (s *state) rankOrder(c choice) []int {
	nodes := c.nodes()
	first := s.rankZero(nodes)
	if c.tier.shape != api.ShapeRing {
		order := []int{first}
		return append(order, slices.DeleteFunc(nodes, func(i int) bool { return i == first })...)
	}
	order := c.field.order(c.found, slices.Index(c.field.nodes, first))
	for i, bit := range order {
		order[i] = c.field.nodes[bit]
	}
	return order
}

// rankZero is the node that the spec names, or the one that most others can dial;
// among equals the submitter's, where the person sits who reads what rank 0 prints,
// and from which the job needs no other home; then the one with the lowest id.
func (s *state) rankZero(nodes []int) int {
	if i, is := s.index[s.demand.rank0]; is {
		return i
	}
	dialled := func(i int) int {
		n := 0
		for _, other := range nodes {
			if s.dialled[i][other] {
				n++
			}
		}
		return n
	}
	away := func(i int) int {
		if s.nodes[i].ID == s.in.Spec.Principal.Node {
			return 0
		}
		return 1
	}
	return slices.MinFunc(nodes, func(a, b int) int {
		return cmp.Or(cmp.Compare(dialled(b), dialled(a)), cmp.Compare(away(a), away(b)), cmp.Compare(a, b))
	})
}

// writer turns a choice into a plan.
type writer struct {
	*state
	choice choice
	order  []int
	plan   *api.Plan
	// used are the documents of the connections.
	used []api.Key
}

// connect joins two ranks. In a ring the second is the first's next; of two
// ranks each is.
func (w *writer) connect(a, b int) {
	i, j := w.order[a], w.order[b]
	channels, _ := w.edge(pairOf(i, j), w.choice.tier, w.choice.width) // the search has seen them
	atA, atB := 0, 1                                                   // the channels' ends at each rank
	if i > j {
		atA, atB = 1, 0
	}
	for _, c := range channels {
		w.link(a, b, c)
		if w.choice.tier.backend.RDMA() {
			w.device(a, b, c.devices[atA], c.receptacles[atA])
			w.device(b, a, c.devices[atB], c.receptacles[atB])
			continue
		}
		w.host(b, c.addresses[atB])
		if len(w.order) == 2 {
			w.host(a, c.addresses[atA])
		}
		if c.network != "" {
			w.plan.Unencrypted = true
			w.plan.Notes = append(w.plan.Notes, causeOf(api.ReasonUnencrypted, pairSubject(w.nodes[i], w.nodes[j]),
				"unencrypted: %s and %s talk over %s (%s)", w.nodes[i].name(), w.nodes[j].name(), c.network, c.kind))
		}
	}
}

func (w *writer) link(a, b int, c channel) {
	l := api.PlanLink{From: min(a, b), To: max(a, b), Kind: c.kind, Link: c.link}
	if c.bits > 0 {
		l.BitsPerS, l.Measured = &c.bits, c.measured
	}
	w.plan.Links = append(w.plan.Links, l)
	w.plan.Notes = append(w.plan.Notes, c.notes...)
	w.used = append(w.used, c.documents...)
	if c.measured {
		w.used = append(w.used, c.source)
	}
}

// device enters a device of a rank that leads to another.
func (w *writer) device(at, to int, name string, receptacle api.Receptacle) {
	if w.plan.Devices == nil {
		w.plan.Devices = make([][][]string, len(w.order))
		for i := range w.plan.Devices {
			w.plan.Devices[i] = make([][]string, len(w.order))
		}
	}
	w.plan.Devices[at][to] = append(w.plan.Devices[at][to], name)
	r := &w.plan.Ranks[at].Receptacles
	if !slices.Contains(*r, receptacle) {
		*r = append(*r, receptacle)
		slices.Sort(*r)
	}
}

// host enters an address at which the rank before finds a rank.
func (w *writer) host(rank int, address netip.Addr) {
	if w.plan.Hosts == nil {
		w.plan.Hosts = make([][]string, len(w.order))
	}
	w.plan.Hosts[rank] = append(w.plan.Hosts[rank], address.String())
	w.plan.Ranks[rank].Addresses = append(w.plan.Ranks[rank].Addresses, address)
}

// finish puts links and notes in order and names the documents.
func (w *writer) finish() {
	slices.SortFunc(w.plan.Links, func(a, b api.PlanLink) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), a.Link.Compare(b.Link))
	})
	slices.SortFunc(w.plan.Notes, func(a, b api.Cause) int {
		return cmp.Or(cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Message, b.Message))
	})
	w.plan.Notes = slices.Compact(w.plan.Notes)
	if unknown := w.unknownSpeeds(); unknown > 0 {
		w.plan.Notes = append(w.plan.Notes, causeOf(api.ReasonNotMeasured, "", "the speed of %s is not known, and counts as the slowest", counted(unknown, "link")))
	}
	w.plan.Used = w.inputs()
}

func (w *writer) unknownSpeeds() int {
	n := 0
	for _, l := range w.plan.Links {
		if l.BitsPerS == nil {
			n++
		}
	}
	return n
}
