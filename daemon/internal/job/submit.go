package job

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/job/phase"
	"fulmen/daemon/internal/job/queue"
	"fulmen/daemon/internal/placement"
	"fulmen/native"
)

// Submit takes a job from one of this node's people: it checks and signs the
// spec, and is its first home. The job is on disk when it returns.
func (j *Jobs) Submit(ctx context.Context, c Caller, p api.JobSubmitParams) (api.JobSubmitResult, error) {
	if err := j.wait(ctx); err != nil {
		return api.JobSubmitResult{}, err
	}
	if err := j.checkSubmitted(c, p.Request, p.Environment); err != nil {
		return api.JobSubmitResult{}, err
	}
	if err := j.findBefore(ctx, c, &p.Request, ""); err != nil {
		return api.JobSubmitResult{}, err
	}
	j.submits.Lock()
	defer j.submits.Unlock()
	if id, err := j.submitted(c.Principal, p); id != "" || err != nil {
		return api.JobSubmitResult{Job: id, Existing: err == nil}, err
	}
	return j.submit(ctx, p.Request.Spec(api.NewJobID(), c.Principal, j.now()), p.Environment)
}

// checkSubmitted refuses what cannot be submitted, or not by the caller.
func (j *Jobs) checkSubmitted(c Caller, r api.JobRequest, values map[string]string) error {
	if c.Principal.Node != j.cfg.Node || !c.Principal.Valid() {
		return api.Errorf(api.ReasonNotTheWriter, c.Principal.String(), "This node does not vouch for %s.", c.Principal)
	}
	if err := checkRequest(r); err != nil {
		return err
	}
	return checkEnvironment(r.Program, values, false)
}

// submit takes a job that was checked.
func (j *Jobs) submit(ctx context.Context, spec api.JobSpec, values map[string]string) (api.JobSubmitResult, error) {
	id, cluster := spec.Job, j.cfg.Electors.Cluster()
	spec = j.attested(spec)
	raw, sig, err := j.sign(spec)
	if err != nil {
		return api.JobSubmitResult{}, err
	}
	if len(raw) > api.MaxSpecBytes {
		return api.JobSubmitResult{}, api.Errorf(api.ReasonMessageTooLarge, "request", "The spec has %d bytes; at most %d are taken.", len(raw), api.MaxSpecBytes).
			WithRemedy("Put long arguments into a file.")
	}
	if len(values) > 0 {
		j.mu.Lock()
		j.values[id] = maps.Clone(values)
		j.mu.Unlock()
	}
	job := api.Job{Spec: raw, SpecSig: sig, SpecSHA256: api.SpecSHA256(raw), Principal: spec.Principal, Home: j.cfg.Node}
	if err := j.accept(ctx, id, spec, cluster, job); err != nil {
		if definite(err) {
			j.mu.Lock()
			delete(j.values, id)
			j.mu.Unlock()
		}
		return api.JobSubmitResult{}, err
	}
	return api.JobSubmitResult{Job: id}, nil
}

// submitted finds the job of a request_id. Another request with the same one is
// refused. Values of variables that were lost meanwhile are taken again.
func (j *Jobs) submitted(by api.Principal, p api.JobSubmitParams) (api.JobID, error) {
	if p.Request.RequestID == "" {
		return "", nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	id, ok := j.requests[requestKey{by, p.Request.RequestID}]
	if !ok {
		return "", nil
	}
	k := j.know(id)
	spec := p.Request.Spec(id, by, k.spec.SubmittedAt)
	spec.Home, spec.Roster, spec.ExpiresAt = k.spec.Home, k.spec.Roster, k.spec.ExpiresAt
	same, err := json.Marshal(spec)
	if err != nil || string(same) != string(k.raw) {
		return "", api.NewError(api.ReasonDuplicateRequest, p.Request.RequestID)
	}
	if len(p.Environment) > 0 && j.values[id] == nil {
		j.values[id] = maps.Clone(p.Environment)
	}
	return id, nil
}

// Retry submits the spec of a job that has ended once more, for the caller.
func (j *Jobs) Retry(ctx context.Context, c Caller, p api.JobSelect) (api.JobSubmitResult, error) {
	best, spec, err := j.find(ctx, c, p.Job)
	if err != nil {
		return api.JobSubmitResult{}, err
	}
	if !best.Phase.Ended() {
		return api.JobSubmitResult{}, api.NewError(api.ReasonJobRunning, p.Job.String())
	}
	values := j.environment(p.Job)
	if missing(spec.Program, values) {
		return api.JobSubmitResult{}, api.NewError(api.ReasonVariablesLost, p.Job.String()).
			WithRemedy("Submit it again where the values are set, or retry it on " + j.name(spec.Principal.Node) + ".")
	}
	request := api.JobRequest{
		Name: spec.Name, Labels: spec.Labels, Program: spec.Program, Model: spec.Model, FetchModel: spec.FetchModel, Sharding: spec.Sharding, Placement: spec.Placement, Deadlines: spec.Deadlines,
		Retries: spec.Retries, MaxAttempts: spec.MaxAttempts, AllowMixed: spec.AllowMixed, AllowSolo: spec.AllowSolo, Kept: spec.Kept, Probes: spec.Probes, Metrics: spec.Metrics,
		Publish: spec.Publish, Detached: spec.Detached, Output: spec.Output, Priority: spec.Priority, Preemptible: spec.Preemptible,
		YieldWhenIdle: spec.YieldWhenIdle, IdleS: spec.IdleS, KeepAwake: spec.KeepAwake,
	}
	return j.Submit(ctx, c, api.JobSubmitParams{Request: request, Environment: values})
}

// Plan is where a spec would run now, or what stops it.
func (j *Jobs) Plan(ctx context.Context, c Caller, p api.JobPlanParams) (api.JobPlanResult, error) {
	if err := checkRequest(p.Request); err != nil {
		return api.JobPlanResult{}, err
	}
	if err := j.findBefore(ctx, c, &p.Request, ""); err != nil {
		return api.JobPlanResult{}, err
	}
	spec := j.attested(p.Request.Spec(api.NewJobID(), c.Principal, j.now()))
	var models map[api.NodeID]api.FoundModel
	self, before, runs := j.inLine(queued(spec.Job, spec, api.Job{}))
	explain := func(mlx map[api.NodeID]api.ProgramMLX) (api.JobPlanResult, error) {
		ctx, cancel := native.WithTimeout(ctx, j.cfg.Clock, planWithin, "a plan")
		defer cancel()
		return j.cfg.Planner.Explain(ctx, spec, mlx, models, queue.LineOf(before))
	}
	if spec.Model.Model != "" {
		w, err := j.lookBy(c, api.JobRequest{Program: spec.Program, Model: spec.Model})
		if err != nil {
			return api.JobPlanResult{}, err
		}
		models = j.findModel(ctx, w, 1, spec)
	}
	result, err := explain(nil)
	// The MLX of the program decides too, and only the plan's nodes can say which it is.
	// Each round knows more of them.
	mlx := map[api.NodeID]api.ProgramMLX{}
	for range api.MaxExactNodes {
		if err != nil || result.Plan == nil || spec.Program.Builtin != "" {
			break
		}
		var ask []api.NodeID
		for _, r := range result.Plan.Ranks {
			if _, known := mlx[r.Node]; !known {
				ask = append(ask, r.Node)
			}
		}
		faults, notes := j.unfit(spec, *result.Plan, mlx)
		if len(faults) > 0 {
			result, err = explain(mlx)
			continue
		}
		if len(ask) == 0 {
			result.Plan.Notes = append(slices.Clone(result.Plan.Notes), notes...)
			break
		}
		w, err := j.lookBy(c, api.JobRequest{Program: spec.Program})
		if err != nil {
			return api.JobPlanResult{}, err
		}
		answers, errs, err := j.lookAt(ctx, w, ask)
		if err != nil {
			return api.JobPlanResult{}, err
		}
		found := mlxOf(answers)
		for i, n := range ask {
			if errs[i] == nil {
				mlx[n] = found[n]
			} else {
				mlx[n] = api.ProgramMLX{}
			}
		}
	}
	if err == nil && result.Plan == nil {
		ctx, cancel := native.WithTimeout(ctx, j.cfg.Clock, planWithin, "a place in line")
		defer cancel()
		found, victims, _ := findPlace(self, before, runs, func(v placement.Line) (api.Plan, error) {
			return j.cfg.Planner.Plan(ctx, spec, mlx, models, v)
		})
		if found.Wanted == nil && len(queue.LineOf(before).Reserved) == 0 {
			return result, nil // it has no place, whoever ends
		}
		j.mu.Lock()
		defer j.mu.Unlock()
		result.Line = &api.LinePlace{Position: len(before) + 1, Before: j.lineJobsLocked(before, c.Principal), Preempts: j.lineJobsLocked(victims, c.Principal)}
	}
	return result, err
}

// findBefore finds the jobs after which a request's is to run, by id or, of the caller's
// own, by name, and puts their ids in. As is the name under which it is declared: what
// runs after it, however indirectly, it cannot run after.
func (j *Jobs) findBefore(ctx context.Context, c Caller, r *api.JobRequest, as string) error {
	const field = "request.after"
	var ids []string
	for _, ref := range r.After {
		id, err := api.ParseJobID(ref)
		if err != nil {
			id = j.newest(c.Principal, ref)
		}
		_, spec, err := j.find(ctx, c, id)
		if err != nil {
			return api.Errorf(api.ReasonNoSuchJob, field, "%s: there is no job %.80q of yours.", field, ref).WithRemedy("Give its id, or its name.")
		}
		if spec.Kept {
			return api.Errorf(api.ReasonSpecConflict, field, "%s: %s is kept, and never ends.", field, ref).WithRemedy("Leave it out.")
		}
		if as != "" && j.runsAfter(id, declaration{c.Principal, as}, map[api.JobID]bool{}) {
			return api.Errorf(api.ReasonSpecConflict, field, "%s: %s is %s itself, or runs after it.", field, ref, as).WithRemedy("Leave one of the two out.")
		}
		if !slices.Contains(ids, id.String()) {
			ids = append(ids, id.String())
		}
	}
	r.After = ids
	return nil
}

// newest is the newest job of somebody with a name; empty where there is none.
func (j *Jobs) newest(of api.Principal, name string) (id api.JobID) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var at api.Time
	for one, k := range j.jobs {
		if _, found := k.best(); found && k.spec.Principal == of && k.spec.ShownName() == name && (id == "" || k.spec.SubmittedAt.After(at.Time)) {
			id, at = one, k.spec.SubmittedAt
		}
	}
	return id
}

// runsAfter reports whether a job is what somebody declared under a name, or waits for it.
func (j *Jobs) runsAfter(id api.JobID, key declaration, seen map[api.JobID]bool) bool {
	known, found := j.Known(id)
	if !found || seen[id] {
		return false
	}
	seen[id] = true
	spec := known.Spec
	return spec.Declared && spec.Name == key.name && spec.Principal == key.by ||
		slices.ContainsFunc(spec.After, func(before api.JobID) bool { return j.runsAfter(before, key, seen) })
}

// find gives a job that counts, to whoever may act for it, once the stored jobs are there.
func (j *Jobs) find(ctx context.Context, c Caller, id api.JobID) (api.Job, api.JobSpec, error) {
	if err := j.wait(ctx); err != nil {
		return api.Job{}, api.JobSpec{}, err
	}
	j.mu.Lock()
	k := j.jobs[id]
	var best held
	var ok, gone bool
	var spec api.JobSpec
	if k != nil {
		best, ok = k.best()
		spec, gone = k.spec, k.gone
	}
	j.mu.Unlock()
	switch {
	case gone:
		return api.Job{}, spec, api.NewError(api.ReasonJobDeleted, id.String())
	case !ok:
		return api.Job{}, spec, api.NewError(api.ReasonNoSuchJob, id.String())
	}
	return best.job, spec, j.allowed(c, id, spec.Principal)
}

func decodeSpec(raw json.RawMessage) (spec api.JobSpec, err error) {
	return spec, json.Unmarshal(raw, &spec)
}

// homeTimeout is how long a request follows a home that moves.
const homeTimeout = 3 * time.Second

// sign signs a spec for the cluster that this node is in now.
func (j *Jobs) sign(spec api.JobSpec) (json.RawMessage, []byte, error) {
	return api.SignSpec(j.cfg.Electors.Cluster(), j.cfg.Key, spec)
}

// attested is a spec of this node's people, as it is to be signed.
func (j *Jobs) attested(spec api.JobSpec) api.JobSpec {
	spec.Home, spec.Roster = j.cfg.Node, j.cfg.Roster()
	if !spec.Kept {
		spec.ExpiresAt = api.TimeOf(spec.SubmittedAt.Add(api.SpecLifetime))
	}
	return spec
}

// accept makes this node the home of a job that is new to it, and whose spec was signed
// or checked just now for a cluster, once its document is on disk. Otherwise the error says why, and
// the job is not here.
func (j *Jobs) accept(ctx context.Context, id api.JobID, spec api.JobSpec, cluster api.ClusterID, job api.Job) error {
	j.mu.Lock()
	k := j.know(id)
	if k.raw == nil && !k.gone {
		k.spec, k.raw, k.sig, k.cluster = spec, job.Spec, job.SpecSig, cluster
	}
	a := k.actor
	if a == nil {
		a = newActor(j, id)
		k.actor = a
	}
	j.mu.Unlock()
	var refused error
	// An early answer would be taken for a refusal, when the job may be here.
	err := a.await(ctx, func() {
		if a.begun && (a.state.Role == phase.RoleHome || a.state.Job.Epoch >= job.Epoch) {
			if a.state.Role != phase.RoleHome || a.state.Job.Epoch != job.Epoch {
				refused = api.NewError(api.ReasonStaleEpoch, id.String())
			}
			return
		}
		before, begun, signedFor := a.state, a.begun, a.cluster
		a.stopTimers()
		a.spec, a.cluster, a.begun, a.trial = spec, cluster, true, true
		var out []phase.Effect
		a.state, out = phase.Accept(j.cfg.Node, job, a.rules(), j.now())
		a.carry(out)
		if a.failure == nil {
			a.event(j.presence())
			a.recallOthers()
		}
		if refused = a.failure; refused != nil {
			a.stepOut()
			a.stopTimers()
			a.state, a.begun = before, begun
			if begun {
				a.failure, a.trial = nil, false
				a.begun = false
				a.begin(begin{job: before.Job, spec: spec, cluster: signedFor})
			}
		}
	}, never)
	if err != nil {
		return err
	}
	return refused
}

// handed makes this node the home of a job that the home before offers it. Asked again
// it says so again.
func (j *Jobs) handed(ctx context.Context, o gate.Offered, p api.PeerJobParams) (any, error) {
	job, spec := o.Job(), o.Spec()
	if !sane(job) || job.Phase.Ended() || job.Attempt != 0 || len(job.Attempts) > 0 {
		return nil, api.Errorf(api.ReasonBadValue, "handed", "Only a job that was never planned is handed over.")
	}
	if err := checkEnvironment(spec.Program, p.Environment, true); err != nil {
		return nil, err
	}
	job.ExitCode, job.EndedAt = nil, api.Time{}
	j.mu.Lock()
	k := j.know(p.Job)
	if k.gone || j.memory[p.Job].Gone {
		j.mu.Unlock()
		return nil, api.NewError(api.ReasonJobDeleted, p.Job.String())
	}
	if len(p.Environment) > 0 && j.values[p.Job] == nil {
		j.values[p.Job] = maps.Clone(p.Environment)
	}
	if own, ok := k.docs[j.cfg.Node]; ok && own.job.Epoch >= job.Epoch {
		j.mu.Unlock()
		return api.Empty{}, nil // it took the job when it was asked before
	}
	for _, h := range k.docs {
		if h.job.Epoch >= job.Epoch || h.job.Home == p.Handed.Home && h.job.Attempt > 0 {
			j.mu.Unlock()
			return nil, api.Errorf(api.ReasonStaleEpoch, p.Job.String(), "The job has gone on without this node.")
		}
	}
	j.mu.Unlock()
	return api.Empty{}, j.accept(ctx, p.Job, spec, j.cfg.Electors.Cluster(), job)
}
