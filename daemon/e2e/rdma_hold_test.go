package e2e

import (
	"context"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/desk"
)

// waitsForAChange submits a job while a cable of its node is being changed: it begins
// when that is done. The change is kept from its end by a configuration that somebody
// else holds.
func (j *jobs) waitsForAChange(t *testing.T, at *desk.Node, name string, enable func() error) {
	t.Helper()
	is := is.New(t)
	underWay := func() bool {
		state := changed(t, at.Client, "4")[at.ID]
		return state == api.RDMAChangePlanned || state == api.RDMAChangeApplying
	}
	change(t, at.Client, "set "+name+".configuration locked")
	done := make(chan error, 1)
	go func() { done <- enable() }()
	eventually(t, "a change under way", soon, underWay)
	job := j.detached(t, at, "-n", "1", "--rank0", "here", "--", j.Program("status.sh"), "0")
	waits := func() bool {
		for _, d := range call[api.StateGetResult](t, at.Client, "state.get", api.StateSelect{Kinds: []api.Kind{api.KindGrant}}).Docs {
			var one api.Grant
			must(t, "a grant", d.Decode(&one))
			if d.Node == at.ID && one.State == api.GrantWaiting && one.Reason == api.ReasonRDMAChangeRunning {
				return true
			}
			if one.State == api.GrantHeld && underWay() {
				t.Errorf("%s is lent to %s during a change", name, d.Name)
			}
		}
		return !underWay() // the job came too late to wait
	}
	eventually(t, "job that waits for the change", soon, waits)
	change(t, at.Client, "set "+name+".configuration free")
	if err := <-done; err != nil {
		t.Logf("the change took too long: %v", err) // nobody let it in for 15 s
	}
	is.Equal(j.phaseAtTheEnd(t, at, job), api.JobSucceeded)
}

// refusesForAJob asks for a change while a job runs, and has it refused in a sentence.
func (j *jobs) refusesForAJob(t *testing.T, at *desk.Node, args ...string) {
	t.Helper()
	is := is.New(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	job := j.detached(t, at, "-n", "1", "--rank0", "here", "--", "sleep", "600")
	eventually(t, "a job that runs", soon, func() bool {
		now, _, err := jobOf(ctx, at.Client, job)
		return err == nil && now.Phase == api.JobRunning
	})
	got := end(t, j.fulmen(ctx, at, args...))
	is.Equal(got.status, api.ExitFailed)
	is.True(strings.Contains(got.err, "A job runs on ") && strings.Contains(got.err, string(job)))
	_, err := client.Call[api.Empty](ctx, at.Client, "job.stop", api.JobStopParams{Job: job})
	is.NoErr(err)
	j.phaseAtTheEnd(t, at, job)
	eventually(t, "the end of its rank", soon, func() bool {
		_, ranks, err := jobOf(ctx, at.Client, job)
		return err == nil && len(ranks) == 1 && ranks[0].Phase.Ended()
	})
}

// phaseAtTheEnd waits for a job's end.
func (j *jobs) phaseAtTheEnd(t *testing.T, at *desk.Node, job api.JobID) (phase api.JobPhase) {
	t.Helper()
	eventually(t, "the end of job "+string(job), soon, func() bool {
		now, _, err := jobOf(t.Context(), at.Client, job)
		phase = now.Phase
		return err == nil && phase.Ended()
	})
	return phase
}
