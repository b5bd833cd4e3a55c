package placement

import (
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
