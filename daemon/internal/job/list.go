package job

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/job/phase"
)

// List lists jobs, the newest first. Of other people's only program, nodes and
// resources are given, and labels do not find them.
func (j *Jobs) List(ctx context.Context, c Caller, p api.JobListParams) (api.JobListResult, error) {
	result := api.JobListResult{Jobs: []api.JobSummary{}}
	if err := j.wait(ctx); err != nil {
		return result, err
	}
	reached := j.presence().Reached
	j.mu.Lock()
	defer j.mu.Unlock()
	order, _ := j.lineLocked(reached)
	position := map[api.JobID]int{}
	for i, q := range order {
		position[q.ID] = i + 1
	}
	for id, k := range j.jobs {
		best, ok := k.best()
		if !ok || best.job.Phase.Ended() && !p.Ended {
			continue
		}
		mine := k.spec.Principal == c.Principal
		full := mine || j.allowed(c, id, k.spec.Principal) == nil
		if p.Mine && !mine || len(p.Labels) > 0 && !full || !hasLabels(k.spec.Labels, p.Labels) {
			continue
		}
		s := k.summary(id, best)
		s.LinePosition = position[id]
		if s.Mine = mine; !full {
			s.Declared, s.Serves = false, ""
			s.Name, s.Reason, s.Message, s.ExitCode = k.spec.Program.FileName(), "", "", nil // all that everybody may know of a program
		}
		result.Jobs = append(result.Jobs, s)
	}
	slices.SortFunc(result.Jobs, func(a, b api.JobSummary) int {
		return cmp.Or(b.SubmittedAt.Compare(a.SubmittedAt.Time), cmp.Compare(a.Job, b.Job))
	})
	return result, nil
}

// Plans are those of the attempts that go on.
func (j *Jobs) Plans() map[api.JobID]api.Plan {
	j.mu.Lock()
	defer j.mu.Unlock()
	plans := map[api.JobID]api.Plan{}
	for id, k := range j.jobs {
		if best, ok := k.best(); ok && !best.job.Phase.Ended() {
			if a := best.job.OpenAttempt(); a != nil && a.Plan != nil {
				plans[id] = *a.Plan
			}
		}
	}
	return plans
}

func hasLabels(has, wants map[string]string) bool {
	for key, value := range wants {
		if v, ok := has[key]; !ok || v != value {
			return false
		}
	}
	return true
}

// summary is one job in a list. Most have ended, and stay as they are: theirs is made
// once. What it points to is shared.
func (k *known) summary(id api.JobID, best held) api.JobSummary {
	if k.actor != nil {
		return k.summarize(id, best.job)
	}
	if k.shown.of != best.record {
		k.shown = summed{best.record, k.summarize(id, best.job)}
	}
	return k.shown.summary
}

func (k *known) summarize(id api.JobID, job api.Job) api.JobSummary {
	now := k.seen(job)
	s := api.JobSummary{
		Job: id, Name: k.spec.ShownName(), Declared: k.spec.Declared, Principal: k.spec.Principal, Phase: now.Phase, Reason: now.Reason, Message: now.Message,
		Attempt: job.Attempt, CountedAttempts: job.CountedAttempts, MaxAttempts: cmp.Or(k.spec.MaxAttempts, api.DefaultCountedAttempts), Ranks: k.spec.Placement.Ranks, SubmittedAt: k.spec.SubmittedAt, Priority: k.spec.Priority, EndedAt: job.EndedAt, ExitCode: job.ExitCode,
	}
	if k.spec.Labels[api.LabelEngine] != "" {
		s.Serves = k.spec.Model.Model
	}
	if n := len(job.Attempts); n > 0 && job.Attempts[n-1].Plan != nil {
		plan := job.Attempts[n-1].Plan
		s.ReadyAt = now.ReadySince()
		s.Backend, s.Ranks, s.Joined, s.Nodes = plan.Backend, len(plan.Ranks), len(job.Attempts[n-1].Joined), plan.Nodes()
		for _, r := range plan.Ranks {
			s.MemoryBytes += r.MemoryBytes
		}
	}
	return s
}

// seen is a job's document as this node sees the job: one whose home is out of
// sight is home_lost, whatever the document says.
func (k *known) seen(job api.Job) api.Job {
	if k.actor == nil {
		return job
	}
	s := k.actor.shown.Load()
	if s.role == phase.RoleFollower && s.phase == api.JobHomeLost && !job.Phase.Ended() && job.Phase != api.JobHomeLost {
		job.Phase, job.PhaseSince = api.JobHomeLost, s.since
		job.Reason, job.Message = api.ReasonHomeLost, k.actor.j.name(job.Home)+", which keeps the job, cannot be reached."
		job.WaitingFor = "node " + k.actor.j.name(job.Home) + ", or a person's take-over"
	}
	return job
}

// Get is one job with the ranks of its current attempt.
func (j *Jobs) Get(ctx context.Context, c Caller, p api.JobSelect) (api.JobGetResult, error) {
	if _, _, err := j.find(ctx, c, p.Job); err != nil {
		return api.JobGetResult{}, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	result, _, ok := j.getLocked(p.Job)
	if !ok {
		return result, api.NewError(api.ReasonNoSuchJob, p.Job.String())
	}
	return result, nil
}

// getLocked gives a job as it is shown, with the ranks of its current attempt; false
// where there is none.
func (j *Jobs) getLocked(id api.JobID) (api.JobGetResult, api.Job, bool) {
	k := j.jobs[id]
	result := api.JobGetResult{Ranks: []api.Document{}}
	if k == nil {
		return result, api.Job{}, false
	}
	best, ok := k.best()
	if !ok {
		return result, api.Job{}, false
	}
	result.Job = best.record.Document()
	job := k.seen(best.job)
	if job.Phase != best.job.Phase {
		// This is what the reader's node adds; the writer has not signed it.
		if raw, err := json.Marshal(job); err == nil {
			result.Job.Value, result.Job.Sig = raw, nil
		}
	}
	for key, d := range k.ranks {
		if d.rank.Attempt == job.Attempt && belongs(job, d.rank, key.Node) {
			result.Ranks = append(result.Ranks, d.record.Document())
		}
	}
	slices.SortFunc(result.Ranks, func(a, b api.Document) int {
		x, _ := api.ParseRankRef(a.Name)
		y, _ := api.ParseRankRef(b.Name)
		return x.Compare(y)
	})
	return result, job, true
}

// belongs reports whether a rank is one of its job's plan, on that node.
func belongs(job api.Job, r api.Rank, node api.NodeID) bool {
	for _, at := range job.Attempts {
		if at.Attempt == r.Attempt && at.Plan != nil {
			return r.Rank >= 0 && r.Rank < len(at.Plan.Ranks) && at.Plan.Ranks[r.Rank].Node == node
		}
	}
	return false
}
