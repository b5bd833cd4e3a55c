package job

import (
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/job/phase"
	"fulmen/daemon/internal/stall"
)

// progress is what the nodes of an attempt said last of its ranks.
type progress struct {
	attempt int
	ranks   map[int]reported
	stacks  []int // whose stacks are to be looked at
	isAsked bool  // they are asked again soon
}

// reported is what was said of one rank, and when, on Boot.
type reported struct {
	api.RankProgress
	at time.Duration
}

// endedQuiet is for how long a rank that has ended moves nothing: for good.
const endedQuiet = 1e6

// judge takes in what a node says of its ranks with a renewal, and decides whether the group
// gets on. Of other nodes' ranks it says nothing that counts.
func (a *actor) judge(e phase.Renew, answers []api.RankProgress) {
	p, s := &a.progress, &a.state
	if s.Role != phase.RoleHome || s.Job.Attempt != e.Attempt || s.Job.Phase != api.JobRunning {
		return
	}
	if p.attempt != e.Attempt {
		*p = progress{attempt: e.Attempt, ranks: map[int]reported{}}
	}
	now := a.j.cfg.Clock.Boot()
	for _, of := range answers {
		if of.Rank >= 0 && of.Rank < len(s.Ranks) && s.Ranks[of.Rank].Node == e.Node {
			p.ranks[of.Rank] = reported{of, now}
		}
	}
	all := make([]*api.RankProgress, len(s.Ranks))
	for i, r := range s.Ranks {
		if r.Phase.Ended() {
			all[i] = &api.RankProgress{Rank: i, Activity: api.RankWaiting, QuietS: endedQuiet, StillS: endedQuiet}
		} else if of, isKnown := p.ranks[i]; isKnown {
			of.AgeS = max(0, of.AgeS) + (now - of.at).Seconds()
			all[i] = &of.RankProgress
		}
	}
	v := stall.Judge(all)
	if !v.IsKnown || !s.Answered() { // what others said is as old as the renewal before
		return
	}
	p.stacks = v.Stacks
	a.event(phase.Stalled{Attempt: e.Attempt, Suspect: v.Suspect, What: v.What})
	if v.Again > 0 && !p.isAsked {
		p.isAsked = true
		a.later(v.Again, func() {
			if a.progress.attempt == e.Attempt {
				a.progress.isAsked = false
			}
			a.event(phase.AskAgain{Attempt: e.Attempt})
		})
	}
}
