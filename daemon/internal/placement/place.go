package placement

import (
	"fmt"
	"slices"

	"fulmen/daemon/api"
)

// Plan finds the best place for a job, or says why there is none.
func Plan(in Input) Result {
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
		r := Result{Rejections: s.rejections(failed)}
		if !in.Brief {
			r.Remedies = s.remedies(failed)
		}
		return r
	}
	r := Result{Plan: s.plan(best, exact), Rejections: s.rejections(failed)}
	said := slices.Clone(r.Plan.Notes)
	for _, t := range failed {
		c, is := firstOf(r.Rejections, t.backend)
		if is && !slices.ContainsFunc(said, func(n api.Cause) bool { return n.Reason == c.Reason && n.Subject == c.Subject }) {
			said = append(said, c)
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
		if !is {
			failed = []tier{t}
		}
		return best, failed, true, is
	}
	for _, t := range tiersOf(s.demand.backend) {
		c, found, whole := s.search(t, s.eligible(t))
		exact = exact && whole
		if found {
			failed = slices.DeleteFunc(failed, func(f tier) bool { return f.backend == t.backend })
			return c, failed, exact, true
		}
		if t.last {
			failed = append(failed, t)
		}
	}
	return best, failed, exact, false
}

// alone is the tier of one rank, which talks to nobody.
func (s *state) alone() tier {
	t := tier{backend: s.demand.backend, shape: api.ShapeSingle}
	if t.backend == api.BackendAuto {
		t.backend = api.BackendRing
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
	// Remedies are single changes that would each make it possible, the least first, at most
	// MaxRemedies; none where there is a plan, and where the input is brief.
	Remedies []api.Cause
	// Final says that no change of the cluster helps: the spec contradicts itself.
	Final bool
}

// Wire is the result as the API gives it.
func (r Result) Wire() api.JobPlanResult {
	return api.JobPlanResult{Plan: r.Plan, Rejections: r.Rejections, Remedies: r.Remedies}
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
	if len(first.Nodes) > 1 {
		err.Message = fmt.Sprintf("%s cannot join %s: %s", first.Backend, counted(len(first.Nodes), "rank"), first.Message)
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
