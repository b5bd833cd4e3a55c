package placement

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"fulmen/daemon/api"
)

// Plan finds the best place for a job, or says why there is none.
func Plan(in Input) Result {
	if in.Spec.Placement.Widest {
		if r, is := widest(in); is {
			return r
		}
	}
	if in.Spec.Model.Model != "" {
		return planModel(in)
	}
	return place(in)
}

// widest plans for the most nodes that fit; false where no number does.
func widest(in Input) (r Result, is bool) {
	p := &in.Spec.Placement
	least, most := max(p.MinNodes, len(p.Nodes), 1), len(in.Nodes)
	if p.MaxNodes > 0 {
		most = min(most, p.MaxNodes)
	}
	p.MinNodes, p.MaxNodes, p.Widest, in.Brief = 0, 0, false, true
	for n := most; n >= least; n-- {
		p.Ranks = n * p.PerNode()
		if r = Plan(in); r.Plan != nil {
			return r, true
		}
	}
	return r, false
}

// place plans for a spec as it is.
func place(in Input) Result {
	d, wrong := demandOf(&in.Spec)
	if wrong != nil {
		return Result{Final: true, Rejections: []api.PlanRejection{{Nodes: []api.NodeID{}, Backend: d.backend, Cause: *wrong}}}
	}
	s, missing := newState(&in, d)
	if missing != nil {
		return Result{Rejections: []api.PlanRejection{{Nodes: []api.NodeID{}, Backend: d.backend, Cause: *missing}}}
	}
	best, failed, exact, is := s.best()
	if !is {
		r := Result{Rejections: s.rejections(failed), MaxNodes: s.tried(), perNode: d.perNode}
		if !in.Brief {
			r.Remedies = s.remedies(failed)
		}
		return r
	}
	r := Result{Plan: s.plan(best, exact), Rejections: s.rejections(failed)}
	if d.perNode > 1 && in.Spec.Placement.Backend != api.BackendRing {
		r.Plan.Notes = append(r.Plan.Notes, *hindrance(api.ReasonBackendNotUsed, "", "jaccl is not used: %s", oneEach))
	}
	notes := slices.Clone(r.Plan.Notes)
	for _, t := range failed {
		c, is := firstOf(r.Rejections, t.backend)
		if is && !slices.ContainsFunc(notes, func(n api.Cause) bool { return n.Reason == c.Reason && n.Subject == c.Subject }) {
			notes = append(notes, c)
			c.Reason, c.Message = api.ReasonBackendNotUsed, string(t.backend)+" is not used: "+c.Message
			r.Plan.Notes = append(r.Plan.Notes, c)
		}
	}
	return r
}

// best goes through the tiers. failed are those of other backends than the
// chosen one that have no place.
func (s *state) best() (best choice, failed []tier, exact, is bool) {
	exact = true
	if s.demand.least == 1 {
		t := s.alone()
		best, is = s.single(t)
		if is || s.demand.whole == 0 || s.demand.most == 1 || len(s.nodes) == 1 {
			if !is {
				failed = []tier{t}
			}
			return best, failed, true, is
		}
		s.demand.least = 2 // what one has no memory for
	}
	for _, t := range tiersOf(s.demand.backend) {
		nodes := s.eligible(t)
		c, found, whole := s.search(t, nodes)
		exact = exact && whole
		if found {
			if fit := s.unstrained(nodes); len(fit) < len(nodes) {
				if other, is, _ := s.search(t, fit); is && other.found.set.size() == c.found.set.size() {
					c = other
				}
			}
			failed = slices.DeleteFunc(failed, func(f tier) bool { return f.backend == t.backend })
			return c, failed, exact, true
		}
		if t.last {
			failed = append(failed, t)
		}
	}
	return best, failed, exact, false
}

// tried is how many nodes the largest sets have that a place was looked for among; 0 where
// all have the fewest that will do.
func (s *state) tried() int {
	most := len(s.nodes)
	if s.demand.most > 0 {
		most = min(most, s.demand.most)
	}
	if most <= s.demand.least {
		return 0
	}
	return most
}

// alone is the tier of one node. One rank talks to nobody; several are a ring.
func (s *state) alone() tier {
	t := tier{backend: s.demand.backend, shape: api.ShapeSingle}
	if t.backend == api.BackendAuto {
		t.backend = api.BackendRing
	}
	if s.demand.perNode > 1 {
		t.shape = api.ShapeRing
	}
	return t
}

// firstOf is the first cause that speaks against a backend.
func firstOf(all []api.PlanRejection, backend api.Backend) (api.Cause, bool) {
	for _, r := range all {
		if r.Backend == backend {
			return r.Cause, true
		}
	}
	return api.Cause{}, false
}

// Result is a plan, or why there is none.
type Result struct {
	// Plan is the best one; nil where there is none. Its hosts are addresses without ports.
	Plan *api.Plan
	// Rejections are sets of nodes that cannot, each with the first thing that stops it, the
	// nearest misses first, at most MaxRejections. A set is empty where the spec itself is at
	// fault. Beside a plan they are those of the backends that would have come before it.
	Rejections []api.PlanRejection
	// MaxNodes is how many nodes the largest sets have that cannot either, where those of
	// Rejections have the fewest that will do; 0 where all have as many.
	MaxNodes int
	// Remedies are single changes that would each make it possible, the least first, at most
	// MaxRemedies; none where there is a plan, and where the input is brief.
	Remedies []api.Cause
	// Final says that no change of the cluster helps: the spec contradicts itself.
	Final bool

	perNode int
}

// Wire is the result as the API gives it.
func (r Result) Wire() api.JobPlanResult {
	return api.JobPlanResult{Plan: r.Plan, Rejections: r.Rejections, MaxNodes: r.MaxNodes, Remedies: r.Remedies}
}

// Err says why there is no plan; nil where there is one. Its reason is the
// first cause's, and its causes are those of the rejections, each once.
func (r Result) Err() *api.Error {
	if r.Plan != nil {
		return nil
	}
	if len(r.Rejections) == 0 {
		return api.NewError(api.ReasonNotEnoughNodes, "")
	}
	first := r.Rejections[0]
	err := api.NewError(first.Reason, first.Subject)
	err.Message = first.Message
	if len(first.Nodes) > 1 && first.Reason != api.ReasonNotEnoughNodes { // which counts nodes itself
		ranks := counted(max(len(first.Nodes), r.MaxNodes)*max(1, r.perNode), "rank")
		if r.MaxNodes > 0 {
			ranks = fmt.Sprintf("%d to %s", len(first.Nodes)*max(1, r.perNode), ranks)
		}
		err.Message = fmt.Sprintf("%s cannot join %s: %s", first.Backend, ranks, first.Message)
	}
	seen := map[api.Cause]bool{}
	for _, rejection := range r.Rejections {
		if !seen[rejection.Cause] {
			seen[rejection.Cause] = true
			err.Data.Causes = append(err.Data.Causes, rejection.Cause)
		}
	}
	if len(r.Remedies) > 0 {
		err.Data.Remedy = r.Remedies[0].Message
	}
	return err
}

// choice is the best that a tier has.
type choice struct {
	tier tier
	// width is how many connections each two neighbours use.
	width int
	found found
	field *field
}

// nodes are the places of the chosen nodes, ascending.
func (c choice) nodes() []int { return c.field.places(c.found.set) }

// better reports whether a choice of the same tier is to be preferred.
func (c choice) better(o choice) bool {
	a, b := c.nodes(), o.nodes()
	return cmp.Or(cmp.Compare(len(b), len(a)), c.found.score.compare(o.found.score), slices.Compare(b, a)) > 0
}

// eligible are the places of the nodes that qualify for a tier.
func (s *state) eligible(t tier) []int {
	var out []int
	for i := range s.nodes {
		if s.stopIn(i, t) == nil {
			out = append(out, i)
		}
	}
	return out
}

// unstrained are those of nodes that are not too hot, short of memory or almost without power.
func (s *state) unstrained(nodes []int) []int {
	return slices.DeleteFunc(slices.Clone(nodes), func(i int) bool { return s.nodes[i].Strain != "" })
}

// versions are the known versions of MLX of nodes; just the empty one where they
// need not be alike.
func (s *state) versions(nodes []int) []string {
	var all []string
	for _, i := range nodes {
		if v := s.nodes[i].MLX.Version; v != "" {
			all = append(all, v)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) == 0 || s.in.Spec.AllowMixed {
		return []string{""}
	}
	return all
}

// groups are the parts of nodes that may run together: those with one version
// of MLX, each with those whose version is not known. Groups without the
// required nodes are left out.
func (s *state) groups(nodes []int) [][]int {
	var out [][]int
	for _, v := range s.versions(nodes) {
		var group []int
		for _, i := range nodes {
			if have := s.nodes[i].MLX.Version; v == "" || have == "" || have == v {
				group = append(group, i)
			}
		}
		missing := slices.ContainsFunc(s.required, func(i int) bool { return !slices.Contains(group, i) })
		if !missing {
			out = append(out, s.atMost(group, maxField))
		}
	}
	return out
}

// atMost keeps so many nodes, ascending: the required ones, then those that come first.
func (s *state) atMost(nodes []int, most int) []int {
	kept := slices.Clone(s.required)
	for _, i := range nodes {
		if len(kept) < most && !slices.Contains(kept, i) {
			kept = append(kept, i)
		}
	}
	slices.Sort(kept)
	return kept
}

// search finds the best choice among nodes, and whether the search was carried
// to its end. Of choices that are as good, the one with the fewest connections,
// which is tried first, leaves most devices to others.
func (s *state) search(t tier, nodes []int) (best choice, is, exact bool) {
	exact = true
	least, most := s.demand.least, cmp.Or(s.demand.most, maxField)
	if limit := t.limit(); limit > 0 {
		most = min(most, limit)
	}
	if least > most {
		return best, false, true
	}
	for _, group := range s.groups(nodes) {
		if len(group) < least {
			continue
		}
		for width := 1; width <= t.widest(); width++ {
			f := s.newField(group)
			exact = exact && f.exact()
			if !f.join(s, t, width) {
				break
			}
			c := choice{tier: t, width: width, field: f}
			var found bool
			if t.shape == api.ShapeMesh {
				c.found, found = f.mesh(least) // with more nodes there is one with the least too
				for n := least + 1; !found && f.whole > 0 && n <= min(most, len(group)); n++ {
					c.found, found = f.mesh(n) // but more hold more
				}
			} else {
				c.found, found = f.ring(least, most)
			}
			// Of speeds that are not known more connections are taken to give more.
			if found && (!is || c.better(best) || c.found.score.class == 0 && t.backend.RDMA() && !best.better(c)) {
				best, is = c, true
			}
		}
	}
	return best, is, exact
}

// single chooses the node of a job that needs one.
func (s *state) single(t tier) (choice, bool) {
	nodes := s.eligible(t)
	if best, is := s.singleOf(t, s.unstrained(nodes)); is {
		return best, true
	}
	return s.singleOf(t, nodes)
}

func (s *state) singleOf(t tier, nodes []int) (choice, bool) {
	best, is := choice{}, false
	for _, group := range s.groups(nodes) {
		f := s.newField(group)
		for bit := range group {
			x := set(1) << bit
			c := choice{tier: t, field: f, found: found{set: x, score: f.rate(x, noClass)}}
			if x.holds(f.required) && f.enough(x) && (!is || c.better(best)) {
				best, is = c, true
			}
		}
	}
	return best, is
}

// plan writes a choice down.
func (s *state) plan(c choice, exact bool) *api.Plan {
	w := &writer{state: s, choice: c}
	for _, i := range s.rankOrder(c) {
		w.order = append(w.order, slices.Repeat([]int{i}, s.demand.perNode)...)
	}
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
	w.share()
	for _, i := range c.nodes() {
		if info, is := api.LookupReason(s.nodes[i].Strain); is {
			w.plan.Notes = append(w.plan.Notes, *hindrance(info.Reason, string(s.nodes[i].ID), "%s %s", s.nodes[i].name(), strings.TrimSuffix(strings.TrimPrefix(info.Text, "The Mac "), ".")))
		}
	}
	for rank, i := range w.order {
		if r := &w.plan.Ranks[rank]; r.MemoryBytes > 0 {
			r.GPUMemory = s.nodes[i].GPUMemory
		}
	}
	w.addModel()
	w.finish()
	return w.plan
}

// rankOrder is the chosen nodes' places in the order of their ranks.
func (s *state) rankOrder(c choice) []int {
	nodes := c.nodes()
	first := s.rankZero(nodes)
	if c.tier.shape != api.ShapeRing || len(nodes) == 1 {
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

// loopback is where a rank finds another on its own node.
var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// writer turns a choice into a plan.
type writer struct {
	*state
	choice choice
	// order are the nodes' places by rank: those of one node follow each other, as with mlx.launch --repeat-hosts.
	order []int
	plan  *api.Plan
	// used are the documents of the connections.
	used []api.Key
}

// connect joins two ranks. In a ring the second is the first's next; of two
// ranks each is.
func (w *writer) connect(a, b int) {
	i, j := w.order[a], w.order[b]
	if i == j {
		w.beside(a, b)
		return
	}
	channels, _ := w.edge(pairOf(i, j), w.choice.tier, w.choice.width) // the search has seen them
	atA, atB := 0, 1                                                   // the channels' ends at each rank
	if i > j {
		atA, atB = 1, 0
	}
	bits := together(channels)
	for _, c := range channels {
		w.link(a, b, c, bits)
		if w.choice.tier.backend.RDMA() {
			w.device(a, b, c.devices[atA], c.portNumbers[atA])
			w.device(b, a, c.devices[atB], c.portNumbers[atB])
			continue
		}
		w.host(b, c.addresses[atB])
		if len(w.order) == 2 {
			w.host(a, c.addresses[atA])
		}
		if c.network != "" {
			w.plan.Unencrypted = true
			w.plan.Notes = append(w.plan.Notes, api.Errorf(api.ReasonUnencrypted, pairSubject(w.nodes[i], w.nodes[j]),
				"unencrypted: %s and %s talk over %s (%s)", w.nodes[i].name(), w.nodes[j].name(), c.network, c.kind).Cause())
		}
	}
}

// beside joins two ranks on one node, by as many connections as others have.
func (w *writer) beside(a, b int) {
	for range max(w.choice.width, 1) {
		w.host(b, loopback)
		if len(w.order) == 2 {
			w.host(a, loopback)
		}
	}
}

func (w *writer) link(a, b int, c channel, together int64) {
	l := api.PlanLink{From: min(a, b), To: max(a, b), Kind: c.kind, Link: c.link}
	if c.bits > 0 {
		l.BitsPerS, l.Measured = &c.bits, c.measured
	}
	if together > 0 {
		l.TogetherBitsPerS = &together
	}
	w.plan.Links = append(w.plan.Links, l)
	w.plan.Notes = append(w.plan.Notes, c.notes...)
	w.used = append(w.used, c.documents...)
	if c.measured {
		w.used = append(w.used, c.source)
	}
}

// device enters a device of a rank that leads to another.
func (w *writer) device(at, to int, name string, portNumber api.PortNumber) {
	if w.plan.Devices == nil {
		w.plan.Devices = make([][][]string, len(w.order))
		for i := range w.plan.Devices {
			w.plan.Devices[i] = make([][]string, len(w.order))
		}
	}
	w.plan.Devices[at][to] = append(w.plan.Devices[at][to], name)
	r := &w.plan.Ranks[at].PortNumbers
	if !slices.Contains(*r, portNumber) {
		*r = append(*r, portNumber)
		slices.Sort(*r)
	}
}

// host enters an address at which the rank before finds a rank.
func (w *writer) host(rank int, address netip.Addr) {
	if w.plan.Hosts == nil {
		w.plan.Hosts = make([][]string, len(w.order))
	}
	w.plan.Hosts[rank] = append(w.plan.Hosts[rank], address.String())
	if address != loopback { // which no link ever loses
		w.plan.Ranks[rank].Addresses = append(w.plan.Ranks[rank].Addresses, address)
	}
}

// finish puts links and notes in order and names the documents.
func (w *writer) finish() {
	slices.SortFunc(w.plan.Links, func(a, b api.PlanLink) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), a.Link.Compare(b.Link))
	})
	slices.SortFunc(w.plan.Notes, func(a, b api.Cause) int {
		return cmp.Or(cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Message, b.Message))
	})
	w.plan.Notes = append(slices.Compact(w.plan.Notes), w.unusedCables()...)
	unknown := 0
	for _, l := range w.plan.Links {
		if l.BitsPerS == nil {
			unknown++
		}
	}
	if unknown > 0 {
		w.plan.Notes = append(w.plan.Notes, api.Errorf(api.ReasonNotMeasured, "", "the speed of %s is not known, and counts as the slowest", counted(unknown, "link")).Cause())
	}
	w.plan.Used = w.inputs()
}
