package e2e

import (
	"context"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/e2e/testcluster"
)

// A job that runs goes on, for longer than a lease, when its Mac joins the cluster of
// another one, which learns how it ended.
func TestAJobGoesOnInAnotherCluster(t *testing.T) {
	t.Parallel()
	needJobs(t)
	is := is.New(t)
	j := newJobsOn(t, "mesh-4", []string{"studio-1"}, shortly)
	first := j.Nodes[0]
	id := j.detached(t, first, "--", "/bin/sleep", "15")
	before, _ := j.until(t, first, id, "a program that runs", soon, func(job api.Job, _ []api.Rank) bool { return job.Phase == api.JobRunning })

	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	second, err := j.Add(ctx, "studio-2")
	must(t, "another Mac", err)
	must(t, "to join", testcluster.Join(ctx, second.Client, second.ID, first.Client, ""))
	job, _ := j.until(t, second, id, "the end of the job", after, func(job api.Job, _ []api.Rank) bool { return job.Phase.Ended() })
	is.Equal(job.Phase, api.JobSucceeded)
	is.Equal(job.Attempt, before.Attempt)
	is.True(job.SpecSHA256 != before.SpecSHA256)
}
