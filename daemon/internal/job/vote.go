package job

import (
	"context"
	"slices"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/job/phase"
)

// handleVote answers peer.vote. A vote is on disk before it is given: a node votes once
// for a job and an epoch, for no lower one afterwards, and for none once it knows that
// the job has ended.
func (j *Jobs) handleVote(ctx context.Context, c gate.Candidate, p api.PeerVoteParams) (any, error) {
	step := c.Step()
	j.mu.Lock()
	k := j.jobs[p.Job]
	var a *actor
	var rival bool
	if k != nil && !k.gone {
		a, rival = k.actor, len(k.acts) > 0 || len(k.ends) > 0
	}
	j.mu.Unlock()
	if a == nil {
		return api.PeerVoteResult{Reason: api.ReasonNoSuchJob}, nil
	}
	if rival { // somebody has taken it over by a person's word
		return api.PeerVoteResult{Reason: api.ReasonTakenOver}, nil
	}
	may := false
	err := a.ask(ctx, func() {
		may = a.begun && a.state.Job.SpecSHA256 == step.SpecSHA256 && a.state.MayVote(step.From, step.Before)
	})
	if err != nil {
		return nil, err
	}
	if !may {
		return api.PeerVoteResult{Reason: api.ReasonHomeInSight}, nil
	}
	var given Remembered
	err = j.remember(p.Job, func(m *Remembered) {
		if step.Epoch > m.Voted && !m.Ended && !m.Gone {
			m.Voted, m.VotedFor = step.Epoch, step.Home
		}
		given = *m
	})
	switch {
	case err != nil:
		return nil, err
	case given.Ended || given.Gone:
		return api.PeerVoteResult{Reason: api.ReasonJobEnded}, nil
	case given.Voted != step.Epoch || given.VotedFor != step.Home:
		return api.PeerVoteResult{VotedEpoch: given.Voted}, nil
	}
	vote := step.Vote(j.cfg.Node, j.cfg.Key)
	return api.PeerVoteResult{Vote: &vote}, nil
}

// askVotes asks the voters in sight, this node among them.
func (a *actor) askVotes(e phase.AskVotes) {
	j, spec := a.j, a.spec
	params := api.PeerVoteParams{Warrant: e.Job.Warrant(), Job: a.id, From: e.Job.Home, FromEpoch: e.Job.Epoch, Epoch: e.Epoch}
	step := e.Job.StepTo(j.cfg.Electors.Cluster(), a.id, j.cfg.Node, e.Epoch)
	a.async(func() func() {
		voters, known := j.cfg.Electors.Voters(spec.Roster)
		if !known {
			j.cfg.Log.Warn("the roster of a job is not known here: nobody can vote", "job", a.id)
			return nil
		}
		results := make([]api.PeerVoteResult, len(voters))
		var all sync.WaitGroup
		for i, n := range voters {
			if !slices.Contains(j.presence().Reached, n) {
				continue
			}
			all.Go(func() {
				if err := j.call(j.ctx, n, "peer.vote", params, &results[i], callWithin, "to vote for a home of "+a.id.String()); err != nil {
					j.cfg.Log.Info("a node did not vote", "job", a.id, "node", n, "error", err)
				}
			})
		}
		all.Wait()
		voted := phase.Voted{Before: e.Job.Epoch, Epoch: e.Epoch}
		for i, n := range voters {
			r := results[i]
			if r.Vote == nil {
				if r.VotedEpoch >= e.Epoch {
					return a.events(phase.VoteRefused{Epoch: r.VotedEpoch})
				}
				continue
			}
			if key, ok := j.cfg.Electors.PublicKey(n); ok && r.Vote.Node == n && step.VerifyVote(*r.Vote, key) {
				voted.Votes = append(voted.Votes, *r.Vote)
			}
		}
		if len(voted.Votes)*2 <= len(voters) {
			return nil
		}
		return a.events(voted)
	})
}
