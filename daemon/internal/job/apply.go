package job

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

// Apply declares a job under a name of the caller's: it submits it, puts it in the
// place of the one that is declared under the name, or leaves that alone. A change that
// ends a program is refused unless the caller says so. What was there has ended before
// anything else is submitted, so that of one name two never run.
func (j *Jobs) Apply(ctx context.Context, c Caller, p api.JobApplyParams) (api.JobApplyResult, error) {
	if err := j.wait(ctx); err != nil {
		return api.JobApplyResult{}, err
	}
	p.Request.Detached = true
	if err := j.checkDeclared(c, p); err != nil {
		return api.JobApplyResult{}, err
	}
	key := declaration{c.Principal, p.Request.Name}
	free, err := j.applying(ctx, key)
	if err != nil {
		return api.JobApplyResult{}, err
	}
	defer free()
	if err := j.findBefore(ctx, c, &p.Request, p.Request.Name); err != nil {
		return api.JobApplyResult{}, err
	}
	spec := p.Request.Spec(api.NewJobID(), c.Principal, j.now())
	spec.Declared = true
	result := api.JobApplyResult{Outcome: api.ApplyCreated}
	before, was, found := j.declared(key)
	if found {
		result.Before = was.Job
		result.Changes = differences(was, spec)
		switch {
		case len(result.Changes) == 0 && !(spec.Kept && before.Phase.Ended()): // what is to be there is begun anew
			return api.JobApplyResult{Outcome: api.ApplyUnchanged, Job: was.Job}, nil
		case hasProgram(before.Phase):
			result.Outcome = api.ApplyReplaced
		default:
			result.Outcome = api.ApplyChanged
		}
	}
	if p.DryRun {
		return result, nil
	}
	if result.Outcome == api.ApplyReplaced && !p.Replace {
		return api.JobApplyResult{}, runsAs(was)
	}
	if found && !before.Phase.Ended() {
		if err := j.stopAndWait(ctx, was, !p.Replace, api.ReasonReplaced); err != nil {
			return api.JobApplyResult{}, err
		}
	}
	submitted, err := j.submit(ctx, spec, p.Environment)
	result.Job = submitted.Job
	return result, err
}

// declaration is the name of a declared job and the principal it belongs to.
type declaration struct {
	by   api.Principal
	name string
}

// checkDeclared refuses what cannot be declared.
func (j *Jobs) checkDeclared(c Caller, p api.JobApplyParams) error {
	r := p.Request
	switch {
	case r.Name == "":
		return api.Errorf(api.ReasonMissingField, "request.name", "request.name: a declared job needs a name.").
			WithRemedy("Give it one that stays the same when the rest changes.")
	case r.RequestID != "":
		return bad("request.request_id", "Leave it out: the name does the same.", "a declared job cannot have one")
	case r.Program.Terminal:
		return bad("request.program.terminal", "Leave it out.", "a declared job cannot have a terminal")
	case r.Program.Stdin != "" && r.Program.Stdin != api.StdinNone:
		return bad("request.program.stdin", "Leave it out.", "a declared job gets no input")
	}
	return j.checkSubmitted(c, r, p.Environment)
}

// Hold waits until nobody else holds something of the caller's, beside what names name.
func (j *Jobs) Hold(ctx context.Context, c Caller, what string) (free func(), err error) {
	return j.applying(ctx, declaration{c.Principal, what})
}

// applying waits until nobody else changes what a name names.
func (j *Jobs) applying(ctx context.Context, key declaration) (free func(), err error) {
	ctx, cancel := native.WithTimeout(ctx, j.cfg.Clock, applyWithin, "another change of "+key.name)
	defer cancel()
	for {
		j.mu.Lock()
		busy := j.applies[key]
		if !busy {
			j.applies[key] = true
		}
		j.mu.Unlock()
		if !busy {
			return func() {
				j.mu.Lock()
				defer j.mu.Unlock()
				delete(j.applies, key)
			}, nil
		}
		if !native.Pause(ctx, j.cfg.Clock, applyLook) {
			return nil, context.Cause(ctx)
		}
	}
}

const (
	// applyWithin is how long what was there may take to end, beyond its grace.
	applyWithin = time.Minute
	applyLook   = 50 * time.Millisecond
)

// declared finds what a name names: the newest job that was declared under it, and
// one that has not ended before all that have.
func (j *Jobs) declared(key declaration) (job api.Job, spec api.JobSpec, found bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, k := range j.jobs {
		s := k.spec
		best, ok := k.best()
		if !ok || k.gone || !s.Declared || s.Name != key.name || s.Principal != key.by {
			continue
		}
		isEnded, newer := best.job.Phase.Ended(), s.SubmittedAt.After(spec.SubmittedAt.Time)
		if !found || isEnded == job.Phase.Ended() && newer || !isEnded && job.Phase.Ended() {
			job, spec, found = best.job, s, true
		}
	}
	return job, spec, found
}

// hasProgram reports whether ranks of a job may run in a phase.
func hasProgram(p api.JobPhase) bool {
	switch p {
	case api.JobQueued, api.JobPlacing, api.JobBackoff:
		return false
	}
	return !p.Ended()
}

// stopAndWait ends a job of the caller's. Where that is for one that waits only, its home
// says whether it still does: what this node knows may be a moment old.
func (j *Jobs) stopAndWait(ctx context.Context, spec api.JobSpec, isUnstarted bool, why api.Reason) error {
	c := Caller{Principal: spec.Principal}
	if err := j.stop(ctx, api.PeerJobParams{RequestKind: api.RequestStop, Job: spec.Job, By: spec.Principal, Unstarted: isUnstarted, Reason: why}); err != nil {
		return err
	}
	within := applyWithin
	if grace := spec.Deadlines.GraceS; grace != nil {
		within += api.Seconds(*grace)
	}
	ctx, cancel := native.WithTimeout(ctx, j.cfg.Clock, within, "the end of "+spec.Job.String())
	defer cancel()
	for {
		job, _, err := j.find(ctx, c, spec.Job)
		if err != nil || job.Phase.Ended() {
			return err
		}
		if !native.Pause(ctx, j.cfg.Clock, applyLook) {
			return context.Cause(ctx)
		}
	}
}

// Undeclare ends what a name of the caller's names, and forgets it with all that it was before.
func (j *Jobs) Undeclare(ctx context.Context, c Caller, name string) error {
	if err := j.wait(ctx); err != nil {
		return err
	}
	key := declaration{c.Principal, name}
	free, err := j.applying(ctx, key)
	if err != nil {
		return err
	}
	defer free()
	for count := 0; ; count++ {
		job, spec, found := j.declared(key)
		if !found && count == 0 {
			return api.Errorf(api.ReasonNoSuchJob, name, "You have declared nothing named %.80q on this Mac.", name)
		}
		if !found {
			return nil
		}
		if !job.Phase.Ended() {
			if err := j.stopAndWait(ctx, spec, false, ""); err != nil {
				return err
			}
		}
		if err := j.Delete(ctx, c, api.JobDeleteParams{Job: spec.Job}); err != nil && !errors.Is(err, api.ReasonNoSuchJob) {
			return err
		}
	}
}

// differences are the fields of what was asked for that differ between two specs.
func differences(was, is api.JobSpec) []api.FieldChange {
	before, now := fieldsOf(was), fieldsOf(is)
	all := maps.Clone(before)
	maps.Copy(all, now)
	var out []api.FieldChange
	for _, field := range slices.Sorted(maps.Keys(all)) {
		if before[field] != now[field] {
			out = append(out, api.FieldChange{Field: field, From: before[field], To: now[field]})
		}
	}
	return out
}

// fieldsOf are the values of a spec that somebody asked for, as JSON by their names.
func fieldsOf(s api.JobSpec) map[string]string {
	raw, _ := json.Marshal(s) // what was checked can be written
	out := map[string]string{}
	flatten(out, "", raw)
	for field := range out {
		switch first, _, _ := strings.Cut(field, "."); first {
		case "job", "request_id", "principal", "submitted_at", "home", "roster", "expires_at", "look":
			delete(out, field)
		}
	}
	return out
}

// flatten puts each value of an object in, by its name with dots. Lists stay whole.
func flatten(into map[string]string, name string, raw json.RawMessage) {
	var object map[string]json.RawMessage
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &object) != nil {
		into[name] = string(raw)
		return
	}
	for key, value := range object {
		if name != "" {
			key = name + "." + key
		}
		flatten(into, key, value)
	}
}
