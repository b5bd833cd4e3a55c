package prepare

import (
	"cmp"
	"context"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
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

// copyingRest is how long a copy rests while somebody else copies the same model.
const copyingRest = 2 * time.Second

// FetchModel copies the model of a job from another node, for the account that its ranks
// have here, and says how far that is. It trusts no plan: what lies in a model is executed,
// so it comes only from a node of which somebody may run jobs as that account anyway.
func (p *Programs) FetchModel(ctx context.Context, spec api.JobSpec, account Account, from api.NodeID, revision string, moved func(api.ModelProgress)) error {
	if from != spec.Principal.Node && !slices.ContainsFunc(p.cfg.Users(), func(u api.MappedUser) bool {
		return !u.Nobody && u.Account == account.Name && (u.Members || u.Node == from || u.Principal.Node == from)
	}) {
		return api.Errorf(api.ReasonPrincipalUnmapped, from.Display(), "%s copies no model from %s for %s: nobody there may run jobs as that account.",
			p.cfg.Name(p.cfg.Node), p.cfg.Name(from), account.Name).WithRemedy("`fulmen users` lists who may; or copy it yourself: fulmen models copy.")
	}
	who := api.Principal{User: account.Name, Node: p.cfg.Node}
	sel := api.ModelSelect{Model: NewPlace(spec.Program.Home, account.Home).Path(spec.Model.Model), Revision: revision}
	for {
		err := p.copyModel(ctx, who, from, sel, moved)
		if err == nil || api.AsError(err).Data.Reason != api.ReasonModelCopying {
			return err
		}
		if !native.Pause(ctx, p.cfg.Clock, copyingRest) {
			return context.Cause(ctx)
		}
	}
}

func (p *Programs) copyModel(ctx context.Context, who api.Principal, from api.NodeID, sel api.ModelSelect, moved func(api.ModelProgress)) error {
	c, err := p.cfg.CopyModel(ctx, who, from, sel)
	if err != nil {
		return err
	}
	defer c.Close()
	for {
		progress, isLast, err := c.Next(ctx)
		switch {
		case err != nil:
			return err
		case isLast && progress.Error != nil:
			return progress.Error
		case isLast:
			return nil
		}
		moved(progress)
	}
}

// GetModel gets a model from Hugging Face for a person of this node, and says how far that is.
func (p *Programs) GetModel(ctx context.Context, who api.Principal, sel api.ModelSelect, moved func(api.ModelProgress)) error {
	return p.copyModel(ctx, who, "", sel, moved)
}
