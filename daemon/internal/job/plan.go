package job

import (
	"bytes"
	"net/netip"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/job/phase"
)

// plan looks for nodes aside, once at a time, and not while others come first.
func (a *actor) plan() {
	if a.planning {
		a.again = true
		return
	}
	if !a.lineUp() {
		a.unplaced.Store(true)
		a.post(behind())
		return
	}
	a.planning, a.again, a.lastPlan = true, false, a.j.cfg.Clock.Boot()
	a.unplaced.Store(false)
	job, spec, mlx, before := a.state.Job, a.spec, a.mlx, a.j.changes.Load()
	a.async(func() came {
		event, spoiled := a.j.place(a.id, job, spec, mlx)
		return came{after: func() {
			if !bytes.Equal(a.state.Job.SpecSig, job.SpecSig) { // it was signed anew meanwhile
				event, spoiled = nil, false
				a.again = true
			}
			a.planned(event, spoiled, before)
		}}
	})
}

// planned takes what planning came to. A place that was not found is looked for
// again when something changes, and after a call that spoiled it, soon.
func (a *actor) planned(event phase.Event, spoiled bool, before uint64) {
	a.planning = false
	why, missing := event.(phase.Unplaceable)
	if event != nil {
		a.event(event)
	}
	if missing && !why.Cause.Final && a.state.Waits() {
		a.unplaced.Store(true)
		if a.j.changes.Load() != before { // while it was planned: nobody will say so again
			a.hinted()
		}
	}
	switch {
	case !a.state.Waits():
		a.delay = 0
	case spoiled:
		a.delay = min(max(2*a.delay, retryPlan), retryPlanMax)
		a.later(a.delay, hint{})
	}
	if a.again && a.state.Waits() {
		a.plan()
	}
}

// hinted plans again soon: many hints make one plan.
func (a *actor) hinted() {
	if !a.unplaced.Load() || a.planning || !a.state.Waits() || !a.j.line.isFirst(a, a.want) {
		return
	}
	d := planSettle
	if a.j.cfg.Clock.Boot()-a.lastPlan > planRest {
		d = planSoon
	}
	a.planIn(d)
}

// planIn plans after a time, unless that is to be soon anyway.
func (a *actor) planIn(d time.Duration) {
	if a.settling {
		return
	}
	a.settling = true
	a.later(d, func() {
		a.settling = false
		if a.state.Waits() && !a.planning {
			a.plan()
		}
	})
}

// place finds where a job runs. Spoiled says that a call failed that may succeed
// soon, without anything that would hint at it.
func (j *Jobs) place(id api.JobID, job api.Job, spec api.JobSpec, mlx map[api.NodeID]api.ProgramMLX) (event phase.Event, spoiled bool) {
	if err := j.stillSigned(id, job); err != nil { // its signer may have been removed since
		c := j.causeOf(err, job.Principal.Node)
		c.Final = true
		return phase.Unplaceable{Cause: c}, false
	}
	ctx, cancel := timeout{planWithin, "a plan of the job " + id.String()}.of(j.ctx, j.cfg.Clock)
	defer cancel()
	plan, err := j.cfg.Planner.Plan(ctx, spec, mlx)
	if err != nil {
		e := api.AsError(err)
		if e.Code == api.CodeInternal {
			j.cfg.Log.Error("planning failed", "job", id, "error", err)
		}
		c := phase.Cause{Reason: e.Data.Reason, Message: e.Message, WaitingFor: e.Data.WaitingFor, Final: e.Code == api.CodeInvalid}
		return phase.Unplaceable{Cause: c}, e.Code == api.CodeInternal || e.Code == api.CodeDeadline
	}
	if !ordered(plan) {
		j.cfg.Log.Error("a plan's ranks are out of order", "job", id, "ranks", len(plan.Ranks))
		return phase.Unplaceable{Cause: phase.Cause{Reason: api.ReasonInternal}}, true
	}
	plan.SpecSHA256 = job.SpecSHA256
	if phase.HandsOver(job, j.cfg.Node, plan.Ranks[0].Node) {
		return phase.Planned{Plan: plan}, false // the node of rank 0 plans by itself
	}
	if node, err := j.listen(id, job, &plan); err != nil {
		if newer := j.newerHome(id, node, err); newer != nil {
			return newer, false
		}
		return phase.Unplaceable{Cause: j.causeOf(err, node)}, true
	}
	return phase.Planned{Plan: plan}, false
}

// listen asks every node of a ring at once on which ports its rank is to listen.
func (j *Jobs) listen(id api.JobID, job api.Job, plan *api.Plan) (failed api.NodeID, err error) {
	if plan.Backend != api.BackendRing || len(plan.Ranks) < 2 {
		return "", nil
	}
	hosts := make([][]string, len(plan.Ranks))
	errs := make([]error, len(plan.Ranks))
	var all sync.WaitGroup
	for i, r := range plan.Ranks {
		params := api.PeerListenParams{Warrant: job.Warrant(), Rank: api.RankRef{Job: id, Attempt: job.Attempt + 1, Rank: r.Rank}, Epoch: job.Epoch}
		if i < len(plan.Hosts) {
			for _, text := range plan.Hosts[i] {
				addr, err := netip.ParseAddr(text)
				if err != nil {
					return r.Node, api.Errorf(api.ReasonInternal, "", "The plan has %q for an address.", text)
				}
				params.Addresses = append(params.Addresses, addr)
			}
		}
		all.Go(func() {
			var result api.PeerListenResult
			errs[i] = j.call(j.ctx, r.Node, "peer.listen", params, &result, j.within(callWithin, r.Node, "to choose ports"))
			for _, a := range result.Addresses {
				hosts[i] = append(hosts[i], a.String())
			}
			if errs[i] == nil && len(result.Addresses) != len(params.Addresses) {
				errs[i] = api.Errorf(api.ReasonInternal, "", "%s gave %d addresses for %d.", r.Node.Display(), len(result.Addresses), len(params.Addresses))
			}
		})
	}
	all.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return plan.Ranks[i].Node, errs[i]
	}
	plan.Hosts = hosts
	return "", nil
}
