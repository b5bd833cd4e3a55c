package e2e

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/testcluster"
)

// waitsForAChange submits a job while a cable of its node is being changed: it begins
// when that is done. The change is kept from its end by a configuration that somebody
// else holds.
func (j *jobs) waitsForAChange(t *testing.T, at *testcluster.Node, name string, enable func() error) {
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
			if !isOf(d, job) {
				continue // a measurement that the job before has led to: it may go on beside a change
			}
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
func (j *jobs) refusesForAJob(t *testing.T, at *testcluster.Node, args ...string) {
	t.Helper()
	is := is.New(t)
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
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

// phaseAtTheEnd waits for a job's end, and until what was lent to it is back: as long
// as it is not, nothing is changed for RDMA there.
func (j *jobs) phaseAtTheEnd(t *testing.T, at *testcluster.Node, job api.JobID) (phase api.JobPhase) {
	t.Helper()
	eventually(t, "the end of job "+string(job), soon, func() bool {
		now, _, err := jobOf(t.Context(), at.Client, job)
		phase = now.Phase
		return err == nil && phase.Ended()
	})
	documents(t, at.Mac, at.Client, "return of what was lent to job "+string(job), soon, api.StateSelect{Kinds: []api.Kind{api.KindGrant}}, func(v *client.View) bool {
		return !slices.ContainsFunc(v.Docs(), func(d api.Document) bool {
			var one api.Grant
			return isOf(d, job) && (d.Decode(&one) != nil || one.State == api.GrantHeld || one.State == api.GrantWaiting)
		})
	})
	return phase
}

// isOf reports whether a grant is that of a rank of a job.
func isOf(d api.Document, job api.JobID) bool {
	ref, err := api.ParseRankRef(d.Name)
	return err == nil && ref.Job == job
}
