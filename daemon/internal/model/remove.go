package model

import (
	"cmp"
	"context"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/model/inventory"
)

// Remove removes a model of a caller, or says what that would free. One that a job uses
// which goes on stays.
func (m *Models) Remove(ctx context.Context, caller api.Principal, p api.ModelRemoveParams) (r api.ModelRemoveResult, err error) {
	shown, err := m.Show(ctx, caller, p.ModelSelect)
	if err != nil {
		return r, err
	}
	who, err := m.cfg.Account(caller)
	if err != nil {
		return r, err
	}
	jobs := m.using(shown.Model)
	if len(jobs) > 0 && !p.DryRun {
		return r, api.Errorf(api.ReasonModelInUse, string(jobs[0]), "The job %s uses %s.", jobs[0], shown.Model.Model).
			WithRemedy("Stop the job first: fulmen stop " + string(jobs[0]))
	}
	p.ModelSelect = api.ModelSelect{Model: shown.Model.Path, Revision: shown.Model.Revision} // this one, whatever was added meanwhile
	a, err := m.ask(ctx, who, inventory.Question{Remove: &p})
	if err != nil || a.Removed == nil {
		return r, cmp.Or(err, unanswered(who.Name))
	}
	a.Removed.Account, a.Removed.Jobs = who.Name, jobs
	return *a.Removed, nil
}

// using are the jobs that go on here and name the model.
func (m *Models) using(of api.Model) (jobs []api.JobID) {
	self := m.cfg.Peers.Self()
	for id, plan := range m.cfg.Plans() {
		named := plan.Model
		isHere := slices.ContainsFunc(plan.Ranks, func(r api.PlanRank) bool { return r.Node == self })
		if named != nil && isHere && named.Revision == of.Revision && (named.Model == of.Model || named.Model == of.Path) {
			jobs = append(jobs, id)
		}
	}
	slices.Sort(jobs)
	return jobs
}
