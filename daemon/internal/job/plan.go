package job

import (
	"bytes"
	"context"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/job/phase"
	"fulmen/daemon/internal/placement"
	"fulmen/native"
)

// plan looks for nodes aside, once at a time, and not while others come first.
func (a *actor) plan() {
	if a.planning {
		a.again = true
		return
	}
	if a.isEarly() {
		return
	}
	if !a.lineUp() {
		a.unplaced.Store(true)
		a.notify(behind())
		return
	}
	a.planning, a.again, a.lastPlan = true, false, a.j.cfg.Clock.Boot()
	a.unplaced.Store(false)
	job, spec, mlx, models, before := a.state.Job, a.spec, a.mlx, a.models, a.j.changes.Load()
	a.async(func() func() {
		if spec.Model.Model != "" && models.isOld(job, a.j.cfg.Clock.Boot()) {
			models = foundModels{a.j.findModel(a.j.ctx, job.Warrant(), job.Epoch, spec), job.Attempt, a.j.cfg.Clock.Boot()}
		}
		event, spoiled := a.j.place(a.id, job, spec, mlx, models.on)
		return func() {
			a.models = models
			if !bytes.Equal(a.state.Job.SpecSig, job.SpecSig) { // it was signed anew meanwhile
				event, spoiled = nil, false
				a.again = true
			}
			a.planned(event, spoiled, before)
		}
	})
}

// planned takes what planning came to. A place that was not found is looked for
// again when something changes, and after a call that spoiled it, soon.
func (a *actor) planned(event phase.Event, spoiled bool, before uint64) {
	a.planning = false
	why, missing := event.(phase.Unplaceable)
	if event != nil && !(missing && a.getsModel()) { // that says how far it is, or why it failed
		a.event(event)
	}
	if missing && !why.Cause.Final && a.state.Waits() {
		a.unplaced.Store(true)
		a.askAgain()
		if why.Cause.Reason == api.ReasonNoSuchModel {
			a.get()
		}
		if a.j.changes.Load() != before { // while it was planned: nobody will say so again
			a.hinted()
		}
	}
	switch {
	case !a.state.Waits():
		a.delay = 0
	case spoiled:
		a.delay = min(max(2*a.delay, retryPlan), retryPlanMax)
		a.later(a.delay, a.hinted)
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

// planLater plans again after others were quicker, whose grants are seen soon.
func (a *actor) planLater() {
	d := min(retryTaken<<min(a.late, 6), retryPlanMax)
	a.late++
	a.planIn(d)
}

// place finds where a job runs. Spoiled says that a call failed that may succeed
// soon, without anything that would hint at it.
func (j *Jobs) place(id api.JobID, job api.Job, spec api.JobSpec, mlx map[api.NodeID]api.ProgramMLX, models map[api.NodeID]api.FoundModel) (event phase.Event, spoiled bool) {
	if err := j.stillSigned(id, job); err != nil { // its signer may have been removed since
		c := j.causeOf(err, job.Principal.Node)
		c.Final = true
		return phase.Unplaceable{Cause: c}, false
	}
	ctx, cancel := native.WithTimeout(j.ctx, j.cfg.Clock, planWithin, "a plan of the job "+id.String())
	defer cancel()
	self, before, runs := j.inLine(queued(id, spec, job))
	found, victims, why := findPlace(self, before, runs, func(v placement.Line) (api.Plan, error) {
		return j.cfg.Planner.Plan(ctx, spec, mlx, models, v)
	})
	if found.Plan == nil {
		if why.Code == api.CodeInternal {
			j.cfg.Log.Error("planning failed", "job", id, "error", why)
		}
		c := phase.Cause{Reason: why.Data.Reason, Message: why.Message, WaitingFor: why.Data.WaitingFor, Final: why.Code == api.CodeInvalid}
		if len(victims) > 0 {
			j.mu.Lock()
			var names []string
			for _, v := range victims {
				names = append(names, j.calledLocked(v, spec.Principal))
			}
			j.mu.Unlock()
			c.WaitingFor = "the end of " + strings.Join(names, ", ")
			c.Reason, c.Message = api.ReasonPreempting, "It waits for "+c.WaitingFor+", and goes before that."
		}
		return phase.Unplaceable{Cause: c, Wanted: found.Wanted}, why.Code == api.CodeInternal || why.Code == api.CodeDeadline
	}
	plan := *found.Plan
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
			errs[i] = j.call(j.ctx, r.Node, "peer.listen", params, &result, callWithin, "to choose ports")
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

// preflight looks for the program on all nodes of the plan at once.
func (a *actor) preflight(e phase.Preflight) {
	spec := a.spec
	nodes := e.Plan.Nodes()
	warrant, epoch := a.state.Job.Warrant(), a.state.Job.Epoch
	anew := a.anew(e)
	a.async(func() func() {
		values := a.j.recallValues(a.j.ctx, a.id, spec, warrant.Homes)
		if missing(spec.Program, values) {
			info := api.NewError(api.ReasonVariablesLost, "")
			return a.events(phase.PreflightFailed{Attempt: e.Attempt, Cause: phase.Cause{
				Reason: info.Data.Reason, Message: info.Message + " " + info.Data.Remedy, Final: true}})
		}
		params := api.PeerPreflightParams{Warrant: warrant, Epoch: epoch, Environment: values}
		if e.Plan.Model != nil {
			params.ModelRevision = e.Plan.Model.Revision
		}
		answers, errs := a.j.look(a.j.ctx, nodes, params)
		var silent []phase.Cause
		for i, err := range errs {
			if err != nil && definite(err) {
				return anew(err, a.events(phase.PreflightFailed{Attempt: e.Attempt, Cause: a.j.causeOf(err, nodes[i])}))
			}
			if err != nil {
				silent = append(silent, a.j.causeOf(err, nodes[i]))
			}
		}
		if len(silent) > 0 {
			cause := silent[0]
			for _, other := range silent[1:] {
				cause.Message += " " + other.Message
				cause.WaitingFor += ", " + other.WaitingFor
			}
			cause.Message = "The program was not looked for on every node. " + cause.Message
			return a.events(phase.PreflightFailed{Attempt: e.Attempt, Cause: cause})
		}
		if faults := a.j.cfg.Compare(answers, spec.AllowMixed); len(faults) > 0 {
			return a.events(phase.PreflightFailed{Attempt: e.Attempt, Cause: together(faults)})
		}
		if e.Plan.Model != nil {
			if lacking, why := withoutModel(answers, e.Plan); len(lacking) > 0 {
				cause := phase.Cause{Reason: why[0].Reason, Message: phase.Attributed(a.j.name(lacking[0]), why[0].Message)}
				return a.events(phase.PreflightFailed{Attempt: e.Attempt, Cause: cause})
			}
		}
		mlx := mlxOf(answers)
		faults, notes := a.j.unfit(spec, e.Plan, mlx)
		var found phase.Event = phase.Preflighted{Attempt: e.Attempt, Notes: notes}
		if len(faults) > 0 {
			cause := together(faults)
			// Another backend or fewer cables may do: it is planned again with what is known now.
			cause.Final = spec.Placement.Backend != api.BackendAuto && e.Plan.Cables() < 2
			found = phase.PreflightFailed{Attempt: e.Attempt, Cause: cause, Replan: !cause.Final}
		}
		return func() {
			a.learn(mlx)
			a.event(found)
		}
	})
}

// learn adds to what is known of the nodes' MLX.
func (a *actor) learn(mlx map[api.NodeID]api.ProgramMLX) {
	all := maps.Clone(a.mlx) // planning may read the former
	if all == nil {
		all = map[api.NodeID]api.ProgramMLX{}
	}
	maps.Copy(all, mlx)
	a.mlx = all
}

// mlxOf gives the MLX that each node found for the program.
func mlxOf(answers []api.Preflight) map[api.NodeID]api.ProgramMLX {
	out := map[api.NodeID]api.ProgramMLX{}
	for _, answer := range answers {
		switch v := answer.Versions["mlx"]; {
		case answer.MLX != nil:
			out[answer.Node] = *answer.MLX
		case v != "":
			out[answer.Node] = api.ProgramMLX{Version: v}
		}
	}
	return out
}

// unfit says which MLX do not fit a plan, and what is to be known of those that do. A
// group of which not every rank need be is asked for by its backend, whatever MLX says.
func (j *Jobs) unfit(spec api.JobSpec, plan api.Plan, mlx map[api.NodeID]api.ProgramMLX) (faults, notes []api.Cause) {
	if spec.AllowSolo && spec.Placement.Backend != api.BackendAuto {
		return nil, nil
	}
	return j.cfg.Unfit(plan, mlx)
}

// missing reports whether the values of variables are needed and not here.
func missing(p api.Program, values map[string]string) bool {
	return slices.ContainsFunc(p.Variables, func(name string) bool { _, ok := values[name]; return !ok })
}

// maxFaultsReported bounds a sentence.
const maxFaultsReported = 8

// together makes one cause of several faults that a person has to put right: the
// first one's reason, and what all say. What the reason's own remedy is clients say. What
// only took too long, as on a busy Mac, is tried again.
func together(faults []api.Cause) phase.Cause {
	var words []string
	for _, f := range faults {
		text := f.Message
		if info, _ := api.LookupReason(f.Reason); f.Remedy != "" && f.Remedy != info.Remedy {
			text = strings.TrimSuffix(text, ".") + ". " + f.Remedy
		}
		if !slices.Contains(words, text) && len(words) < maxFaultsReported {
			words = append(words, text)
		}
	}
	isFinal := slices.ContainsFunc(faults, func(f api.Cause) bool {
		info, _ := api.LookupReason(f.Reason)
		return info.Code != api.CodeDeadline
	})
	return phase.Cause{Reason: faults[0].Reason, Message: strings.Join(words, " "), Final: isFinal}
}

// look asks nodes at once what they have of what a job's program needs.
func (j *Jobs) look(ctx context.Context, nodes []api.NodeID, params api.PeerPreflightParams) ([]api.Preflight, []error) {
	answers, errs := make([]api.Preflight, len(nodes)), make([]error, len(nodes))
	var all sync.WaitGroup
	for i, n := range nodes {
		all.Go(func() {
			errs[i] = j.call(ctx, n, "peer.preflight", params, &answers[i], j.cfg.PreflightWithin(), "to look for the program")
			answers[i].Node = n
		})
	}
	all.Wait()
	return answers, errs
}

// Preflight is what nodes have of what a program needs, for the caller.
func (j *Jobs) Preflight(ctx context.Context, c Caller, p api.JobPreflightParams) (api.JobPreflightResult, error) {
	if err := checkProgram("program", p.Program); err != nil {
		return api.JobPreflightResult{}, err
	}
	var nodes []api.NodeID
	for _, ref := range p.Nodes {
		n, err := j.cfg.Find(ref)
		if err != nil {
			return api.JobPreflightResult{}, err
		}
		if !slices.Contains(nodes, n) {
			nodes = append(nodes, n)
		}
	}
	if len(p.Nodes) == 0 {
		nodes = j.presence().Reached
	}
	w, err := j.lookBy(c, api.JobRequest{Program: p.Program})
	if err != nil {
		return api.JobPreflightResult{}, err
	}
	answers, errs, err := j.lookAt(ctx, w, nodes)
	if err != nil {
		return api.JobPreflightResult{}, err
	}
	var answered []api.Preflight
	for i, err := range errs {
		if err != nil {
			cause := j.causeOf(err, nodes[i])
			answers[i] = api.Preflight{Node: nodes[i], Problems: []api.Cause{{
				Reason: cause.Reason, Message: cause.Message, Subject: nodes[i].String(), Remedy: api.AsError(err).Data.Remedy}}}
			continue
		}
		answered = append(answered, answers[i])
	}
	result := api.JobPreflightResult{Nodes: answers, Differences: j.cfg.Compare(answered, false)}
	alone := api.Plan{Shape: api.ShapeSingle}
	for _, answer := range answered {
		alone.Ranks = append(alone.Ranks, api.PlanRank{Node: answer.Node})
	}
	_, result.Notes = j.cfg.Unfit(alone, mlxOf(answered))
	return result, nil
}

// lookBy makes a spec by which nodes are only asked what they have, for the caller.
func (j *Jobs) lookBy(c Caller, r api.JobRequest) (api.Warrant, error) {
	spec := j.attested(r.Spec(api.NewJobID(), c.Principal, j.now()))
	spec.Look, spec.ExpiresAt = true, api.TimeOf(spec.SubmittedAt.Add(j.cfg.PreflightWithin()))
	raw, sig, err := j.sign(spec)
	return api.Warrant{Spec: raw, SpecSig: sig}, err
}

// lookAt asks nodes what they have of what a program needs.
func (j *Jobs) lookAt(ctx context.Context, w api.Warrant, nodes []api.NodeID) ([]api.Preflight, []error, error) {
	answers, errs := j.look(ctx, nodes, api.PeerPreflightParams{Warrant: w, Epoch: 1})
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	return answers, errs, nil
}

// seconds writes a duration for the wire.
func seconds(d time.Duration) float64 { return d.Seconds() }
