package prepare

import (
	"cmp"
	"context"

	"fulmen/daemon/api"
)

// Model finds the model of a job here, among those of the account that its principal's
// jobs have. A revision that a plan has chosen takes the place of the spec's. Whatever
// keeps a rank from using the model is the answer's problem.
func (p *Programs) Model(ctx context.Context, spec api.JobSpec, account Account, revision string) api.FoundModel {
	at := NewPlace(spec.Program.Home, account.Home)
	shown, err := p.cfg.Model(ctx, spec.Principal, api.ModelSelect{
		Model: at.Path(spec.Model.Model), Revision: cmp.Or(revision, spec.Model.Revision),
	})
	problem := func(err *api.Error) *api.Cause {
		c := err.Cause()
		return &c
	}
	if err != nil {
		return api.FoundModel{Problem: problem(api.AsError(err))}
	}
	m := shown.Model
	found := api.FoundModel{Path: m.Path, Revision: m.Revision, WeightsBytes: m.WeightsBytes, MissingCount: m.MissingCount, Unknown: m.Unknown}
	switch {
	case m.Complete == nil: // nobody could load it either
		found.Problem = problem(api.Errorf(cmp.Or(m.Unknown["complete"], api.ReasonModelIncomplete), m.Model, "It is not known whether %s is complete.", m.Path))
	case !*m.Complete:
		found.Problem = problem(api.NewError(api.ReasonModelIncomplete, m.Model))
	}
	return found
}
