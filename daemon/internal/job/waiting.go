package job

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/job/phase"
	"fulmen/daemon/internal/job/queue"
	"fulmen/daemon/internal/placement"
)

// queued is a job as the line knows it by its spec and document.
func queued(id api.JobID, spec api.JobSpec, job api.Job) queue.Job {
	q := queue.Job{ID: id, Name: spec.ShownName(), Principal: spec.Principal, Since: spec.SubmittedAt,
		Priority:    min(max(spec.Priority, api.MinPriority), api.MaxPriority),
		Preemptible: spec.Preemptible, Kept: spec.Kept, YieldsWhenIdle: spec.Kept && spec.YieldWhenIdle}
	for _, a := range job.Attempts { // it waits anew since it ran
		if !a.StartedAt.IsZero() && a.EndedAt.After(q.Since.Time) {
			q.Since = a.EndedAt
		}
		switch {
		case a.MadeRoom() && !(a.IsLong() && spec.Kept):
			q.Preempted++
		case a.IsLong() && spec.Kept:
			q.Preempted = 0
		}
	}
	return q
}

// idleFor is how long nobody must have asked anything of a job for it to be idle.
func idleFor(spec api.JobSpec) time.Duration {
	return cmp.Or(api.Seconds(spec.IdleS), api.DefaultIdle)
}

// lineLocked is what this node knows of all jobs that wait for a place, in their order,
// and of those that run. Who waits and is not reached keeps nothing from anybody.
func (j *Jobs) lineLocked(reached []api.NodeID) (order, runs []queue.Job) {
	now := j.now()
	for id, k := range j.jobs {
		best, found := k.best()
		if !found || best.job.Phase.Ended() {
			continue
		}
		q := queued(id, k.spec, best.job)
		at := best.job.OpenAttempt()
		switch p := best.job.Phase; {
		case phase.MayLive(p) && at != nil && at.Plan != nil && len(at.Plan.Ranks) > 0:
			q.Since, q.Nodes = at.StartedAt, at.Plan.Nodes()
			since := k.idleSince(id, *at)
			q.Idle = !since.IsZero() && now.Sub(since.Time) >= idleFor(k.spec)
			q.Bounded = j.counts(q, q.Nodes)
			runs = append(runs, q)
		case p == api.JobQueued || p == api.JobPlacing:
			if j.beforeLocked(k.spec, best.job.Attempt) != nil {
				continue
			}
			if w := best.job.Wanted; w != nil && slices.Contains(reached, best.job.Home) {
				q.Preempts = w.Preempts
				q.Wanted = slices.DeleteFunc(slices.Clone(w.Grants), func(g api.WantedGrant) bool { return !j.lends(g.Node, q.Principal) })
				for _, g := range q.Wanted {
					q.Nodes = append(q.Nodes, g.Node)
				}
			}
			q.Bounded = min(q.Priority, 0)
			if len(q.Nodes) > 0 {
				q.Bounded = j.counts(q, q.Nodes)
			}
			q.Counts = func(on []api.NodeID) int { return j.counts(q, on) }
			order = append(order, q)
		}
	}
	return queue.Order(order), runs
}

// idleSince is since when nobody asks anything of an attempt's rank 0; zero where somebody
// does, or that is not followed.
func (k *known) idleSince(id api.JobID, at api.Attempt) api.Time {
	ref := api.RankRef{Job: id, Attempt: at.Attempt}
	return k.ranks[api.Key{Node: at.Plan.Ranks[0].Node, Kind: api.KindRank, Name: ref.String()}].rank.IdleSince
}

// useChangedLocked has a job make room, or its Macs sleep, once it is idle for long enough.
func (j *Jobs) useChangedLocked(spec api.JobSpec, since api.Time) {
	if j.cfg.UseChanged != nil {
		j.cfg.UseChanged()
	}
	if since.IsZero() {
		return
	}
	left := max(idleFor(spec)-j.now().Sub(since.Time), 0) + time.Millisecond // to which times are written
	j.cfg.Clock.AfterFunc(left, func() {
		j.hintFirsts()
		if j.cfg.UseChanged != nil {
			j.cfg.UseChanged()
		}
	})
}

// KeepsAwake reports whether a rank that lives here is to keep this Mac from idle sleep: that
// of a kept job does while it is used, unless the job says otherwise.
func (j *Jobs) KeepsAwake(ref api.RankRef) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	k := j.jobs[ref.Job]
	if k == nil || !k.spec.Kept || k.spec.KeepAwake == api.AwakeAlways {
		return true
	}
	if k.spec.KeepAwake == api.AwakeNever {
		return false
	}
	best, found := k.best()
	if !found {
		return true
	}
	at := best.job.OpenAttempt()
	if at == nil || at.Plan == nil || len(at.Plan.Ranks) == 0 {
		return true
	}
	since := k.idleSince(ref.Job, *at)
	return since.IsZero() || j.now().Sub(since.Time) < idleFor(k.spec)
}

// counts is what of a job's priority counts on nodes against the jobs of other people: as
// far as each of their owners says.
func (j *Jobs) counts(q queue.Job, on []api.NodeID) int {
	least := q.Priority
	for _, n := range on {
		sharing, _ := j.cfg.Sharing(n)
		least = min(least, sharing.Priority(n, q.Principal, q.Priority))
	}
	return least
}

// lends reports whether a node lends to somebody at all.
func (j *Jobs) lends(n api.NodeID, who api.Principal) bool {
	sharing, known := j.cfg.Sharing(n)
	return who.Node == n || known && sharing.Refuses(who) == ""
}

// beforeLocked is why a job is not to be placed yet, or ever; nil where it may be. What has
// begun once has waited for that.
func (j *Jobs) beforeLocked(spec api.JobSpec, attempt int) *phase.Unplaceable {
	if attempt > 0 {
		return nil
	}
	var waits []string
	for _, id := range spec.After {
		name, ended := string(id), ""
		k := j.jobs[id]
		var best held
		found := false
		if k != nil {
			best, found = k.best()
		}
		if found {
			name = k.spec.ShownName() + " (" + name + ")"
		}
		switch {
		case k != nil && k.gone || j.memory[id].Gone:
			ended = "was deleted"
		case !found:
		case best.job.Phase == api.JobSucceeded:
			continue
		case best.job.Phase.Ended():
			ended = "was " + string(best.job.Phase)
			if best.job.Phase == api.JobFailed {
				ended = "failed: " + best.job.Message
			}
		}
		if ended != "" {
			return &phase.Unplaceable{Cause: phase.Cause{Reason: api.ReasonJobBeforeFailed, Final: true,
				Message: "The job " + name + ", after which this one was to run, " + strings.TrimSuffix(ended, ".") + "."}}
		}
		waits = append(waits, name)
	}
	if len(waits) == 0 {
		return nil
	}
	text := strings.Join(waits, ", ")
	return &phase.Unplaceable{Early: true, Cause: phase.Cause{Reason: api.ReasonWaitingForJob, WaitingFor: text, Message: "It runs after " + text + "."}}
}

// isEarly reports whether the actor's job is not to be placed, of which it tells the phase machine.
func (a *actor) isEarly() bool {
	a.j.mu.Lock()
	why := a.j.beforeLocked(a.spec, a.state.Job.Attempt)
	a.j.mu.Unlock()
	if why != nil {
		a.stepOut()
		a.notify(*why)
	}
	return why != nil
}

// movedLocked has those look again that may go on now that a job's document is another one.
func (j *Jobs) movedLocked(id api.JobID, was, is api.Job) {
	isOver := is.Phase.Ended() && !was.Phase.Ended()
	if isOver {
		for _, k := range j.jobs {
			if a := k.actor; a != nil && slices.Contains(k.spec.After, id) {
				a.post(a.turn)
			}
		}
	}
	if reflect.DeepEqual(was.Wanted, is.Wanted) && !isOver {
		return
	}
	j.hintFirsts()
	if is.Wanted == nil {
		return
	}
	for _, victim := range is.Wanted.Preempts {
		if k := j.jobs[victim]; k != nil && k.actor != nil {
			k.actor.post(k.actor.makeRoom)
		}
	}
}

// hintFirsts has those look for a place whose turn it is.
func (j *Jobs) hintFirsts() {
	j.changes.Add(1)
	for _, a := range j.line.firsts() {
		a.post(a.hinted)
	}
}

// idleLook is when a home looks again whether its job is idle that others want to end then.
const idleLook = 5 * time.Second

// makeRoom ends the job's ranks for another one that waits, where the rules of the line
// let that one do so: what its home claims is looked at here.
func (a *actor) makeRoom() {
	if !a.begun || a.state.Role != phase.RoleHome || !phase.MayLive(a.state.Job.Phase) || a.state.Job.Phase == api.JobEnding {
		return
	}
	reached := a.j.presence().Reached
	a.j.mu.Lock()
	order, runs := a.j.lineLocked(reached)
	i := slices.IndexFunc(runs, func(q queue.Job) bool { return q.ID == a.id })
	wanted := slices.IndexFunc(order, func(q queue.Job) bool {
		return i >= 0 && slices.Contains(q.Preempts, a.id) && slices.ContainsFunc(q.Nodes, func(n api.NodeID) bool { return slices.Contains(runs[i].Nodes, n) })
	})
	by := ""
	if wanted >= 0 {
		by = a.j.calledLocked(order[wanted], a.spec.Principal) + " of " + order[wanted].Principal.User + " on " + a.j.name(order[wanted].Principal.Node)
	}
	a.j.mu.Unlock()
	switch {
	case wanted < 0:
	case queue.Takes(order[wanted], runs[i]):
		a.event(phase.Preempted{Cause: phase.Cause{Reason: api.ReasonPreempted, Message: "The job " + by + " goes before it."}})
	case runs[i].YieldsWhenIdle:
		a.later(idleLook, a.makeRoom)
	}
}

// calledLocked is what a job is called for somebody: of other people's the file of the
// program is all that everybody may know.
func (j *Jobs) calledLocked(q queue.Job, who api.Principal) string {
	k := j.jobs[q.ID]
	if k == nil || q.Principal == who || j.may(who, q.Principal) {
		return q.Name
	}
	return k.spec.Program.FileName()
}

// lineJobsLocked are jobs of the line for somebody, of so many at most.
func (j *Jobs) lineJobsLocked(all []queue.Job, who api.Principal) (out []api.LineJob) {
	for _, q := range all[:min(len(all), maxLineJobs)] {
		out = append(out, api.LineJob{Job: q.ID, Name: j.calledLocked(q, who), Priority: q.Priority, Since: q.Since, Nodes: q.Nodes})
	}
	return out
}

// maxLineJobs bounds how many jobs a plan names.
const maxLineJobs = 20

// inLine is a job as it is in line, with those before it, and those that run.
func (j *Jobs) inLine(self queue.Job) (_ queue.Job, before, runs []queue.Job) {
	reached := j.presence().Reached
	j.mu.Lock()
	order, runs := j.lineLocked(reached)
	j.mu.Unlock()
	if i := slices.IndexFunc(order, func(q queue.Job) bool { return q.ID == self.ID }); i >= 0 {
		self = order[i]
	} else {
		self.Bounded = min(self.Priority, 0)
		self.Counts = func(on []api.NodeID) int { return j.counts(self, on) }
		order = queue.Order(append(order, self))
	}
	return self, queue.Before(order, self.ID), slices.DeleteFunc(runs, func(q queue.Job) bool { return q.ID == self.ID })
}

// findPlace looks for a job's place among all, and says why it has none where that is so.
// Victims are the jobs that are to end for it.
func findPlace(self queue.Job, before, runs []queue.Job, plan func(placement.Line) (api.Plan, error)) (found queue.Found, victims []queue.Job, why *api.Error) {
	found, err := queue.Find(self, before, runs, func(v placement.Line) (*api.Plan, error) {
		p, err := plan(v)
		if err == nil {
			return &p, nil
		}
		e := api.AsError(err)
		if why == nil {
			why = e
		}
		if e.Code == api.CodeInvalid || e.Code == api.CodeInternal || e.Code == api.CodeDeadline {
			return nil, err
		}
		return nil, nil
	})
	if err != nil {
		return queue.Found{}, nil, api.AsError(err)
	}
	if found.Wanted != nil {
		for _, q := range runs {
			if slices.Contains(found.Wanted.Preempts, q.ID) {
				victims = append(victims, q)
			}
		}
	}
	return found, victims, why
}
