package job

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/job/phase"
)

// modelFresh is how long what nodes said of a job's model counts for another plan of the
// same attempt. A job that waits asks again after it: that a model is there now is
// announced by nobody.
const modelFresh = 30 * time.Second

// foundModels is what nodes have of a job's model, as they said for an attempt.
type foundModels struct {
	on      map[api.NodeID]api.FoundModel
	attempt int
	at      time.Duration // on Boot
}

// isOld reports whether nodes are to be asked before the next plan.
func (f foundModels) isOld(job api.Job, now time.Duration) bool {
	return f.on == nil || f.attempt != job.Attempt || now-f.at >= modelFresh
}

// findModel asks the nodes that a job may use what they have of its model.
func (j *Jobs) findModel(ctx context.Context, w api.Warrant, epoch uint64, spec api.JobSpec) map[api.NodeID]api.FoundModel {
	nodes := j.mayUse(spec.Placement)
	if spec.FetchModel { // any may be the one that has it
		nodes = j.presence().Reached
	}
	answers, errs := j.look(ctx, nodes, api.PeerPreflightParams{Warrant: w, Epoch: epoch, ModelOnly: true})
	out := map[api.NodeID]api.FoundModel{}
	for i, n := range nodes {
		if errs[i] != nil {
			cause := j.causeOf(errs[i], n)
			out[n] = api.FoundModel{Problem: &api.Cause{Reason: cause.Reason, Message: cause.Message}}
			continue
		}
		out[n] = modelIn(answers[i])
	}
	return out
}

// modelIn is what an answer says of the model.
func modelIn(answer api.Preflight) api.FoundModel {
	switch {
	case answer.Model != nil:
		return *answer.Model
	case len(answer.Problems) > 0: // it takes no job of the principal's
		return api.FoundModel{Problem: &answer.Problems[0]}
	}
	c := api.NewError(api.ReasonProtocolTooOld, "").Cause()
	return api.FoundModel{Problem: &c}
}

// withoutModel are the nodes that do not have what a plan counted with, and why.
func withoutModel(answers []api.Preflight, plan api.Plan) (nodes []api.NodeID, why []api.Cause) {
	for _, answer := range answers {
		copies := slices.ContainsFunc(plan.Ranks, func(r api.PlanRank) bool { return r.Node == answer.Node && r.ModelFrom != "" })
		if found := modelIn(answer); found.Problem != nil && len(answer.Problems) == 0 && !(copies && found.Lacks()) {
			nodes, why = append(nodes, answer.Node), append(why, *found.Problem)
		}
	}
	return nodes, why
}

// mayUse are the nodes in sight that a placement allows.
func (j *Jobs) mayUse(p api.Placement) []api.NodeID {
	named := slices.Clone(p.Nodes)
	if p.Rank0 != "" && !slices.Contains(named, p.Rank0) {
		named = append(named, p.Rank0)
	}
	most := max(p.Ranks/p.PerNode(), p.MaxNodes)
	var out []api.NodeID
	for _, n := range j.presence().Reached {
		if !slices.Contains(p.ExcludedNodes, n) && (most == 0 || len(named) < most || slices.Contains(named, n)) {
			out = append(out, n)
		}
	}
	return out
}

// askAgain has a job that waits look for its model again.
func (a *actor) askAgain() {
	if a.spec.Model.Model == "" || a.asksAgain {
		return
	}
	a.asksAgain = true
	a.later(modelFresh, func() {
		a.asksAgain = false
		a.hinted()
	})
}

// getEvery is how often a job says how far its model is.
const getEvery = 2 * time.Second

// get has the submitter's node get the job's model from Hugging Face, where that is to be
// copied and no node has it. The others copy it from there.
func (a *actor) get() {
	sel := a.spec.Model
	isThere := slices.ContainsFunc(slices.Collect(maps.Values(a.models.on)), func(f api.FoundModel) bool { return f.Problem == nil })
	if a.getsModel() || isThere || a.j.cfg.GetModel == nil || !a.spec.FetchModel || a.spec.Principal.Node != a.j.cfg.Node || !isRepository(sel.Model) {
		return
	}
	ctx, cancel := context.WithCancel(a.j.ctx)
	a.getting = cancel
	what := sel.Model + " from Hugging Face"
	var last time.Duration
	notify := func(message string) {
		a.notify(phase.Unplaceable{Cause: phase.Cause{Reason: api.ReasonModelFetching, Message: message, WaitingFor: what}})
	}
	notify(a.j.name(a.j.cfg.Node) + " gets " + what)
	a.async(func() func() {
		err := a.j.cfg.GetModel(ctx, a.spec.Principal, sel, func(p api.ModelProgress) {
			if now := a.j.cfg.Clock.Boot(); p.TotalBytes > 0 && now-last >= getEvery {
				last = now
				notify(fmt.Sprintf("%s gets %s: %d %%", a.j.name(a.j.cfg.Node), what, p.DoneBytes*100/p.TotalBytes))
			}
		})
		return func() {
			cancel()
			a.getting = nil
			switch e := api.AsError(err); {
			case !a.state.Waits():
			case err == nil:
				a.models = foundModels{}
				a.plan()
			default: // a person may have to do something; it is tried again when the model is asked for again
				a.getAgain = a.j.cfg.Clock.Boot() + modelFresh
				a.event(phase.Unplaceable{Cause: phase.Cause{Reason: e.Data.Reason, Message: e.Message, WaitingFor: what, Final: e.Code == api.CodeInvalid || e.Code == api.CodeNotFound}})
				a.askAgain()
			}
		}
	})
}

// getsModel reports whether the model is being got, or will be again in a moment.
func (a *actor) getsModel() bool { return a.getting != nil || a.j.cfg.Clock.Boot() < a.getAgain }

// isRepository reports whether a model is named as one of Hugging Face's repositories.
func isRepository(model string) bool {
	org, name, found := strings.Cut(model, "/")
	return found && org != "" && name != "" && !strings.Contains(name, "/")
}
