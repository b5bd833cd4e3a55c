package job

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/job/phase"
)

// preflight looks for the program on all nodes of the plan at once.
func (a *actor) preflight(e phase.Preflight) {
	spec := a.spec
	var nodes []api.NodeID
	for _, r := range e.Plan.Ranks {
		if !slices.Contains(nodes, r.Node) {
			nodes = append(nodes, r.Node)
		}
	}
	warrant, epoch := a.state.Job.Warrant(), a.state.Job.Epoch
	anew := a.anew(e)
	a.async(func() came {
		values := a.j.recallValues(a.j.ctx, a.id, spec, warrant.Homes)
		if missing(spec.Program, values) {
			info := api.NewError(api.ReasonVariablesLost, "")
			return events(phase.PreflightFailed{Attempt: e.Attempt, Cause: phase.Cause{
				Reason: info.Data.Reason, Message: info.Message + " " + info.Data.Remedy, Final: true}})
		}
		answers, errs := a.j.look(a.j.ctx, nodes, warrant, epoch, values)
		var silent []phase.Cause
		for i, err := range errs {
			if err != nil && definite(err) {
				return anew(err, events(phase.PreflightFailed{Attempt: e.Attempt, Cause: a.j.causeOf(err, nodes[i])}))
			}
			if err != nil {
				silent = append(silent, a.j.causeOf(err, nodes[i]))
			}
		}
		if len(silent) > 0 {
			cause := silent[0]
			for _, other := range silent[1:] {
				cause.Message += " " + other.Message
				cause.WaitingFor += ", " + other.WaitingFor
			}
			cause.Message = "The program was not looked for on every node. " + cause.Message
			return events(phase.PreflightFailed{Attempt: e.Attempt, Cause: cause})
		}
		if faults := a.j.cfg.Compare(answers, spec.AllowMixed); len(faults) > 0 {
			return events(phase.PreflightFailed{Attempt: e.Attempt, Cause: together(faults)})
		}
		mlx := mlxOf(answers)
		keep := func() { a.learn(mlx) }
		faults, notes := a.j.unfit(spec, e.Plan, mlx)
		if len(faults) > 0 {
			cause := together(faults)
			// Another backend may do: it is planned anew with what is known now.
			cause.Final = spec.Placement.Backend != api.BackendAuto
			c := events(phase.PreflightFailed{Attempt: e.Attempt, Cause: cause, Replan: !cause.Final})
			c.after = keep
			return c
		}
		c := events(phase.Preflighted{Attempt: e.Attempt, Notes: notes})
		c.after = keep
		return c
	})
}

// learn adds to what is known of the nodes' MLX.
func (a *actor) learn(mlx map[api.NodeID]api.ProgramMLX) {
	all := maps.Clone(a.mlx) // planning may read the former
	if all == nil {
		all = map[api.NodeID]api.ProgramMLX{}
	}
	maps.Copy(all, mlx)
	a.mlx = all
}

// mlxOf is what nodes have for the program.
func mlxOf(answers []api.Preflight) map[api.NodeID]api.ProgramMLX {
	out := map[api.NodeID]api.ProgramMLX{}
	for _, answer := range answers {
		switch v := answer.Versions["mlx"]; {
		case answer.MLX != nil:
			out[answer.Node] = *answer.MLX
		case v != "":
			out[answer.Node] = api.ProgramMLX{Version: v}
		}
	}
	return out
}

// unfit says which MLX do not fit a plan, and what is to be known of those that do. A
// group of which not every rank need be is asked for by its backend, whatever MLX says.
func (j *Jobs) unfit(spec api.JobSpec, plan api.Plan, mlx map[api.NodeID]api.ProgramMLX) (faults, notes []api.Cause) {
	if j.cfg.Unfit == nil || spec.AllowSolo && spec.Placement.Backend != api.BackendAuto {
		return nil, nil
	}
	return j.cfg.Unfit(plan, mlx)
}

// missing reports whether the values of variables are needed and not here.
func missing(p api.Program, values map[string]string) bool {
	return slices.ContainsFunc(p.Variables, func(name string) bool { _, ok := values[name]; return !ok })
}

// maxFaultsTold bounds a sentence.
const maxFaultsTold = 8

// together makes one cause of several faults that a person has to put right: the
// first one's reason, and what all say. What the reason's own remedy is clients say. What
// only took too long, as on a busy Mac, is tried again.
func together(faults []api.Cause) phase.Cause {
	var words []string
	for _, f := range faults {
		text := f.Message
		if info, _ := api.LookupReason(f.Reason); f.Remedy != "" && f.Remedy != info.Remedy {
			text = strings.TrimSuffix(text, ".") + ". " + f.Remedy
		}
		if !slices.Contains(words, text) && len(words) < maxFaultsTold {
			words = append(words, text)
		}
	}
	isFinal := slices.ContainsFunc(faults, func(f api.Cause) bool {
		info, _ := api.LookupReason(f.Reason)
		return info.Code != api.CodeDeadline
	})
	return phase.Cause{Reason: faults[0].Reason, Message: strings.Join(words, " "), Final: isFinal}
}

// look asks nodes at once what they have of what a job's program needs.
func (j *Jobs) look(ctx context.Context, nodes []api.NodeID, w api.Warrant, epoch uint64, values map[string]string) ([]api.Preflight, []error) {
	answers, errs := make([]api.Preflight, len(nodes)), make([]error, len(nodes))
	var all sync.WaitGroup
	for i, n := range nodes {
		params := api.PeerPreflightParams{Warrant: w, Epoch: epoch, Environment: values}
		all.Go(func() {
			errs[i] = j.call(ctx, n, "peer.preflight", params, &answers[i], j.within(j.cfg.PreflightWithin(), n, "to look for the program"))
			answers[i].Node = n
		})
	}
	all.Wait()
	return answers, errs
}

// Preflight is what nodes have of what a program needs, for the caller.
func (j *Jobs) Preflight(ctx context.Context, c Caller, p api.JobPreflightParams) (api.JobPreflightResult, error) {
	if err := checkProgram("program", p.Program); err != nil {
		return api.JobPreflightResult{}, err
	}
	var nodes []api.NodeID
	for _, ref := range p.Nodes {
		n, err := j.cfg.Find(ref)
		if err != nil {
			return api.JobPreflightResult{}, err
		}
		if !slices.Contains(nodes, n) {
			nodes = append(nodes, n)
		}
	}
	if len(p.Nodes) == 0 {
		nodes = j.sight().Reached
	}
	answers, errs, err := j.lookAt(ctx, c, p.Program, nodes)
	if err != nil {
		return api.JobPreflightResult{}, err
	}
	var answered []api.Preflight
	for i, err := range errs {
		if err != nil {
			cause := j.causeOf(err, nodes[i])
			answers[i] = api.Preflight{Node: nodes[i], Problems: []api.Cause{{
				Reason: cause.Reason, Message: cause.Message, Subject: nodes[i].String(), Remedy: api.AsError(err).Data.Remedy}}}
			continue
		}
		answered = append(answered, answers[i])
	}
	result := api.JobPreflightResult{Nodes: answers, Differences: j.cfg.Compare(answered, false)}
	if j.cfg.Unfit != nil {
		alone := api.Plan{Shape: api.ShapeSingle}
		for _, answer := range answered {
			alone.Ranks = append(alone.Ranks, api.PlanRank{Node: answer.Node})
		}
		_, result.Notes = j.cfg.Unfit(alone, mlxOf(answered))
	}
	return result, nil
}

// lookAt asks nodes what they have of what a program needs, for the caller.
func (j *Jobs) lookAt(ctx context.Context, c Caller, program api.Program, nodes []api.NodeID) ([]api.Preflight, []error, error) {
	spec := j.vouched(api.JobRequest{Program: program}.Spec(api.NewJobID(), c.Principal, j.now()))
	spec.Look, spec.ExpiresAt = true, api.TimeOf(spec.SubmittedAt.Add(j.cfg.PreflightWithin()))
	raw, sig, err := j.sign(spec)
	if err != nil {
		return nil, nil, err
	}
	answers, errs := j.look(ctx, nodes, api.Warrant{Spec: raw, SpecSig: sig}, 1, nil)
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	return answers, errs, nil
}

// seconds writes a duration for the wire.
func seconds(d time.Duration) float64 { return d.Seconds() }
