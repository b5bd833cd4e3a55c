package job

import (
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/job/phase"
)

// after brings what is derived from the state up to date.
func (a *actor) after() {
	if !a.begun {
		a.finish()
		return
	}
	a.hold()
	a.noteLinks()
	a.show()
	a.unplaced.Store(a.unplaced.Load() && a.state.Waits())
	if a.state.Job.Phase != api.JobPlacing {
		a.late = 0
	}
	if !a.state.Waits() {
		a.stepOut()
	}
	a.finish()
}

// show publishes what everybody may read, and tells the beater whom to beat.
func (a *actor) show() {
	s := &shown{role: a.state.Role, phase: a.state.Phase(), since: a.state.HomeLostSince, home: a.state.Job.Home,
		epoch: a.state.Job.Epoch, beat: a.beat(), try: a.state.Job.Attempt}
	old := a.shown.Swap(s)
	if old.phase != s.phase || old.role != s.role {
		a.j.mu.Lock()
		if k := a.j.jobs[a.id]; k != nil {
			k.changed()
		}
		a.j.mu.Unlock()
	}
	if slices.Equal(s.beat, a.beaten) {
		return
	}
	before := a.beaten
	a.beaten = s.beat
	a.j.setBeats()
	for _, n := range a.j.beater.Lost() {
		if slices.Contains(s.beat, n) && !slices.Contains(before, n) {
			a.post(func() { a.received(n, a.j.cfg.BeatTimes().Lost, true) })
		}
	}
}

// beat is whom this node is to beat for the job: the home and all nodes of the
// attempt, while its ranks may live. Of a home that is gone nobody is beaten by a
// node whose own ranks have ended.
func (a *actor) beat() []api.NodeID {
	attempt := a.state.Job.OpenAttempt()
	if attempt == nil || attempt.Plan == nil {
		return nil
	}
	living := phase.MayLive(a.state.Job.Phase)
	if a.state.Role == phase.RoleFollower {
		living = living && !a.state.HomeLost || a.ownRankLives(attempt.Attempt)
	}
	if !living {
		return nil
	}
	nodes := []api.NodeID{a.state.Job.Home}
	for _, r := range attempt.Plan.Ranks {
		nodes = append(nodes, r.Node)
	}
	if !slices.Contains(nodes, a.j.cfg.Node) {
		return nil
	}
	slices.Sort(nodes)
	nodes = slices.Compact(nodes)
	return slices.DeleteFunc(nodes, func(n api.NodeID) bool { return n == a.j.cfg.Node })
}

func (a *actor) ownRankLives(attempt int) bool {
	a.j.mu.Lock()
	defer a.j.mu.Unlock()
	k := a.j.jobs[a.id]
	if k == nil {
		return false
	}
	for key, d := range k.ranks {
		if key.Node == a.j.cfg.Node && d.rank.Attempt == attempt && !d.rank.Phase.Ended() {
			return true
		}
	}
	return false
}

// setBeats tells the beater of all jobs together.
func (j *Jobs) setBeats() {
	j.beating.Lock()
	defer j.beating.Unlock()
	var all []api.NodeID
	for _, a := range j.actors() {
		all = append(all, a.shown.Load().beat...)
	}
	j.beater.Watch(all)
}

// finish takes an actor away that has nothing to do any more.
func (a *actor) finish() {
	ended := a.begun && a.state.Job.Phase.Ended() || !a.begun && a.failure != nil
	if !ended || a.pending > 0 {
		return
	}
	j := a.j
	j.mu.Lock()
	a.mu.Lock()
	if len(a.queue) > 0 {
		a.mu.Unlock()
		j.mu.Unlock()
		return
	}
	a.over = true
	a.mu.Unlock()
	k := j.know(a.id)
	if k.actor == a {
		k.actor = nil
	}
	if best, ok := k.best(); ok && !best.job.Phase.Ended() && a.failure == nil && a.begun {
		j.revive(a.id, k) // another home goes on, and has not heard of the end
	}
	if len(k.docs) == 0 && !k.gone {
		j.drop(a.id, k)
	}
	home := a.begun && a.state.Role == phase.RoleHome
	j.mu.Unlock()
	a.stopTimers()
	if len(a.beaten) > 0 {
		a.beaten = nil
		j.setBeats()
	}
	if home {
		j.spawn(j.purge)
	}
}

func (a *actor) stopTimers() {
	for id, t := range a.timers {
		t.Stop()
		delete(a.timers, id)
	}
}
