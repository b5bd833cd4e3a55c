package placement

import (
	"cmp"
	"slices"
	"strings"

	"fulmen/daemon/api"
)

// rankRoom is what a rank needs beside its part of the weights: MLX and the program take
// about half of it before anything is computed.
const rankRoom = 1 << 30

// maxLeftOut is how many nodes without the model a plan names.
const maxLeftOut = 8

// model is the model of a job, as far as the nodes that can be used have it.
type model struct {
	// revision is the one that all ranks use; holder has it, where any node does.
	revision string
	holder   *Node
	// weights is the size of the tensors; nil where nobody knows it.
	weights *int64
	// counted says that what is asked of memory follows from the weights.
	counted bool
}

// modelOf chooses the revision: the one that most of the required nodes have, then most of
// all, then the submitter's. Where no node that can be used has the model, it is one from
// which others may copy it.
func (in *Input) modelOf(d demand) model {
	m := in.modelAmong(d, func(n *Node) bool { return n.offers(d) })
	if m.holder == nil && in.Spec.FetchModel {
		m = in.modelAmong(d, (*Node).hasModel)
	}
	return m
}

func (in *Input) modelAmong(d demand, counts func(*Node) bool) (m model) {
	type votes struct{ required, all, own int }
	by := map[string]votes{}
	for i := range in.Nodes {
		if n := &in.Nodes[i]; counts(n) {
			v := by[n.Model.Revision]
			v.all++
			if slices.Contains(d.required, n.ID) {
				v.required++
			}
			if n.ID == in.Spec.Principal.Node {
				v.own++
			}
			by[n.Model.Revision] = v
		}
	}
	best := votes{}
	for revision, v := range by {
		if cmp.Or(cmp.Compare(v.required, best.required), cmp.Compare(v.all, best.all), cmp.Compare(v.own, best.own), strings.Compare(revision, m.revision)) > 0 {
			m.revision, best = revision, v
		}
	}
	for i := range in.Nodes {
		n := &in.Nodes[i]
		if !counts(n) || n.Model.Revision != m.revision {
			continue
		}
		if own := in.Spec.Principal.Node; m.holder == nil || n.ID == own || n.ID < m.holder.ID && m.holder.ID != own {
			m.holder = n
		}
		if w := n.Model.WeightsBytes; w != nil && (m.weights == nil || *w > *m.weights) {
			m.weights = w
		}
	}
	return m
}

// offers reports whether a node has the model and could take part with it now.
func (n *Node) offers(d demand) bool {
	return n.hasModel() && n.Refusal == "" && (n.State == "" || n.State == api.SelfAwake) && !slices.Contains(d.excluded, n.ID)
}

// hasModel reports whether a node in reach has the model.
func (n *Node) hasModel() bool { return n.Model != nil && n.Model.Problem == nil && n.Reached }

// planModel plans for a job with a model. A job that may copy it does so where there is no
// place among those that have it.
func planModel(in Input) Result {
	d, wrong := demandOf(&in.Spec)
	if wrong != nil {
		return place(in)
	}
	in.model = in.modelOf(d)
	r := placeModel(in, d)
	if r.Plan != nil || !in.Spec.FetchModel || in.model.revision == "" {
		return r
	}
	in.Nodes = slices.Clone(in.Nodes)
	for i := range in.Nodes {
		if n := &in.Nodes[i]; n.Model != nil && (n.Model.Lacks() || n.hasModel() && n.Model.Revision != in.model.revision) {
			*n = n.withModel(in.model)
		}
	}
	return placeModel(in, d)
}

// placeModel plans on nodes that have the model. Where the job asks for no memory, the fewest
// nodes are looked for on which the model fits; where it fits on none, what is rejected are
// the fewest on which it would if all had it, or all that have it.
func placeModel(in Input, d demand) Result {
	asked := in.Spec.Placement
	if in.model.weights == nil || asked.MemoryBytes > 0 {
		return place(in)
	}
	in.model.counted = true
	most := len(in.Nodes)
	if d.most > 0 {
		most = min(most, d.most)
	}
	n, fits := in.fewest(asked, d, d.least, most)
	if !fits {
		everywhere := in
		everywhere.Nodes = slices.Clone(in.Nodes)
		for i := range everywhere.Nodes {
			everywhere.Nodes[i] = everywhere.Nodes[i].withModel(in.model)
		}
		n, fits = everywhere.fewest(asked, d, d.least, most)
	}
	if !fits {
		n = 0
		for i := range in.Nodes {
			if in.Nodes[i].offers(d) && in.Nodes[i].Model.Revision == in.model.revision {
				n++
			}
		}
		n = max(min(n, most), d.least)
	}
	in.Spec.Placement = in.model.on(asked, d, n)
	return place(in)
}

// fewest is the fewest nodes, of at least and at most so many, on which the model fits.
func (in Input) fewest(asked api.Placement, d demand, least, most int) (n int, fits bool) {
	for n = least; n <= most; n++ {
		in.Spec.Placement = in.model.on(asked, d, n)
		if in.haveRoom(d, n) && in.hasPlace() {
			return n, true
		}
	}
	return 0, false
}

// haveRoom reports whether so many nodes have the memory that is asked for, whatever joins
// them. It spares a search.
func (in *Input) haveRoom(d demand, wanted int) bool {
	p, have := in.Spec.Placement, 0
	for i := range in.Nodes {
		n := &in.Nodes[i]
		if room, _ := n.room(); n.offers(d) && (p.ShareBy != "" || room/int64(d.perNode) >= p.MemoryBytes) {
			have++
		}
	}
	return have >= wanted
}

// on is what a job asks for on so many nodes: room for the weights, a tenth of them, and
// what each rank needs beside.
func (m model) on(p api.Placement, d demand, nodes int) api.Placement {
	ranks := int64(nodes * d.perNode)
	whole := *m.weights + *m.weights/10
	p.Ranks, p.MinNodes, p.MaxNodes = int(ranks), 0, 0
	if p.MemoryBytes = (whole+ranks-1)/ranks + rankRoom; p.ShareBy != "" {
		p.MemoryBytes = whole + ranks*rankRoom
	}
	return p
}

// withModel is the node as it would be with the model.
func (n Node) withModel(m model) Node {
	n.Model, n.copiesModel = &api.FoundModel{Revision: m.revision, WeightsBytes: m.weights}, true
	return n
}

// stopByModel is what keeps a node from computing with the job's model.
func (s *state) stopByModel(n *Node) *api.Cause {
	name, m := s.in.Spec.Model.Model, s.in.model
	if name == "" {
		return nil
	}
	is := func(reason api.Reason, format string, args ...any) *api.Cause {
		c := hindrance(reason, string(n.ID), "%s "+format, append([]any{n.name()}, args...)...)
		if m.holder != nil && m.holder.ID != n.ID && (reason == api.ReasonNoSuchModel || reason == api.ReasonModelIncomplete) {
			c.Remedy = "On " + n.name() + ", run: fulmen models copy " + name + " --from " + m.holder.name()
			if m.revision != "" {
				c.Remedy += " --revision " + m.revision
			}
		}
		return c
	}
	switch f := n.Model; {
	case f == nil:
		return is(api.ReasonNodeUnreachable, "has not said whether it has %s", name)
	case f.Problem != nil && f.Problem.Reason == api.ReasonNoSuchModel:
		return is(api.ReasonNoSuchModel, "has no %s", strings.TrimSuffix(name+" "+s.in.Spec.Model.Revision, " "))
	case f.Problem != nil && f.Problem.Reason == api.ReasonModelIncomplete:
		return is(api.ReasonModelIncomplete, "lacks %s of %s", counted(f.MissingCount, "file"), name)
	case f.Problem != nil:
		c := hindrance(f.Problem.Reason, string(n.ID), "%s: %s", n.name(), strings.TrimSuffix(f.Problem.Message, "."))
		c.Remedy = f.Problem.Remedy
		return c
	case f.Revision != m.revision:
		return is(api.ReasonNoSuchModel, "has %s of %s, and not %s", revisionWord(f.Revision), name, revisionWord(m.revision))
	}
	return nil
}

// revisionWord is a revision for people.
func revisionWord(revision string) string {
	if revision == "" {
		return "a folder without a revision"
	}
	return "revision " + revision[:min(len(revision), 12)]
}

// modelRemedies are the changes of a job's placement with which its model would fit.
func (s *state) modelRemedies() (all []api.Cause) {
	d := s.demand
	in := *s.in
	if n, fits := in.fewest(in.Spec.Placement, d, d.least+1, len(s.nodes)); fits {
		all = append(all, *hindrance(api.ReasonNotEnoughMemory, "ranks", "Ask for %s, on which the model fits.", counted(n*d.perNode, "rank")))
	}
	return all
}

// addModel writes down what the ranks compute with, which nodes copy it first, and which are
// left out for it.
func (w *writer) addModel() {
	m, name := w.in.model, w.in.Spec.Model.Model
	if name == "" {
		return
	}
	w.plan.Model = &api.PlanModel{Model: name, Revision: m.revision, WeightsBytes: m.weights}
	for rank, i := range w.order {
		if w.nodes[i].copiesModel {
			w.plan.Ranks[rank].ModelFrom = m.holder.ID
		}
	}
	if m.weights == nil {
		why := m.holder.Model.Unknown["weights_bytes"]
		w.plan.Notes = append(w.plan.Notes, *hindrance(cmp.Or(why, api.ReasonSourceGone), "memory_bytes",
			"The size of the weights of %s is not known, so no memory is counted for them: --memory says how much each rank needs", name))
	}
	left := 0
	for i, n := range w.nodes {
		if lacks := w.stopByModel(n); lacks != nil && left < maxLeftOut && *lacks == *w.stops[i] {
			lacks.Message += ", so it is left out"
			w.plan.Notes = append(w.plan.Notes, *lacks)
			left++
		}
	}
}
