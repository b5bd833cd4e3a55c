package job

import (
	"testing"

	"fulmen/daemon/api"
)

// A document that another node wrote is reckoned with only where its numbers are in range,
// and where it has ended with a status, or not without one.
func TestWhichDocumentsAreSane(t *testing.T) {
	node, status := nodeOf("a"), 0
	plan := func(ranks ...api.PlanRank) []api.Attempt {
		return []api.Attempt{{Attempt: 1, Plan: &api.Plan{Ranks: ranks}}}
	}
	many := make([]api.PlanRank, api.MaxRank+2)
	for i := range many {
		many[i] = api.PlanRank{Rank: i, Node: node}
	}
	attempts := make([]api.Attempt, maxAttempts+1)
	for i := range attempts {
		attempts[i].Attempt = i + 1
	}
	for name, c := range map[string]struct {
		change func(*api.Job)
		want   bool
	}{
		"one that runs":              {func(*api.Job) {}, true},
		"one that has ended":         {func(j *api.Job) { j.Phase, j.ExitCode = api.JobSucceeded, &status }, true},
		"an end without a status":    {func(j *api.Job) { j.Phase = api.JobSucceeded }, false},
		"a status without an end":    {func(j *api.Job) { j.ExitCode = &status }, false},
		"no epoch":                   {func(j *api.Job) { j.Epoch = 0 }, false},
		"the highest epoch":          {func(j *api.Job) { j.Epoch = maxEpoch }, true},
		"an epoch above it":          {func(j *api.Job) { j.Epoch = maxEpoch + 1 }, false},
		"no attempt yet":             {func(j *api.Job) { j.Attempt = 0 }, true},
		"a negative attempt":         {func(j *api.Job) { j.Attempt = -1 }, false},
		"the last attempt":           {func(j *api.Job) { j.Attempt = api.MaxAttempt }, true},
		"an attempt after it":        {func(j *api.Job) { j.Attempt = api.MaxAttempt + 1 }, false},
		"a phase of a later version": {func(j *api.Job) { j.Phase = "of_later_on" }, false},
		"the most attempts":          {func(j *api.Job) { j.Attempts = attempts[:maxAttempts] }, true},
		"too many attempts":          {func(j *api.Job) { j.Attempts = attempts }, false},
		"the attempt 0":              {func(j *api.Job) { j.Attempts = []api.Attempt{{}} }, false},
		"the last of attempts":       {func(j *api.Job) { j.Attempts = []api.Attempt{{Attempt: api.MaxAttempt}} }, true},
		"one after the last":         {func(j *api.Job) { j.Attempts = []api.Attempt{{Attempt: api.MaxAttempt + 1}} }, false},
		"ranks in order":             {func(j *api.Job) { j.Attempts = plan(many[:2]...) }, true},
		"as many ranks as can be":    {func(j *api.Job) { j.Attempts = plan(many[:api.MaxRank+1]...) }, true},
		"too many ranks":             {func(j *api.Job) { j.Attempts = plan(many...) }, false},
		"no ranks":                   {func(j *api.Job) { j.Attempts = plan() }, false},
		"a rank is missing":          {func(j *api.Job) { j.Attempts = plan(many[0], many[2]) }, false},
		"a rank on no node":          {func(j *api.Job) { j.Attempts = plan(api.PlanRank{}) }, false},
	} {
		job := api.Job{Epoch: 1, Phase: api.JobRunning, Attempt: 1}
		if c.change(&job); sane(job) != c.want {
			t.Error(name)
		}
	}
}

// A person's take-over binds a node whose own person it is, one of whose people said so, and
// a home whose leases ran out: no other.
func TestWhomATakeOverBinds(t *testing.T) {
	here, there := nodeOf("a"), nodeOf("b")
	const id = api.JobID("j4k2m9xq7")
	step := api.Step{Job: id, From: here, Home: there, Epoch: 7}
	for name, c := range map[string]struct {
		by     api.NodeID
		memory Remembered
		known  *known
		from   api.NodeID
		want   bool
	}{
		"its own person":             {here, Remembered{}, nil, there, true},
		"another's person":           {there, Remembered{}, nil, here, false},
		"its people said so":         {there, Remembered{Bound: 7, BoundTo: there}, nil, there, true},
		"of another epoch":           {there, Remembered{Bound: 6, BoundTo: there}, nil, there, false},
		"to another node":            {there, Remembered{Bound: 7, BoundTo: here}, nil, there, false},
		"its leases ran out":         {there, Remembered{}, &known{lapsed: true}, here, true},
		"its leases did not run out": {there, Remembered{}, &known{}, here, false},
		"another's leases ran out":   {there, Remembered{}, &known{lapsed: true}, there, false},
	} {
		j := &Jobs{cfg: Config{Node: here}, memory: map[api.JobID]Remembered{id: c.memory}, jobs: map[api.JobID]*known{}}
		if c.known != nil {
			j.jobs[id] = c.known
		}
		step.From = c.from
		if j.Bound(step, api.Act{By: api.Principal{User: "ada", Node: c.by}}) != c.want {
			t.Error(name)
		}
	}
}
