package e2e

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/testcluster"
)

// smallDiskBytes has room for a daemon and what jobs of these tests leave.
const smallDiskBytes = 8 << 20

// TestJobsOnFullDisks fills the disk below a daemon's own folder while its job
// runs. The job runs on; what happens to it meanwhile is known once there is room,
// and nothing is left of it.
func TestJobsOnFullDisks(t *testing.T) {
	t.Parallel() // it mostly waits
	needJobs(t)
	j := newJobs(t, 3, shortly)
	j.needPython(t)
	for _, n := range j.Nodes {
		if !j.ontoSmallDisk(t, n, smallDiskBytes) {
			t.Skip("a small disk cannot be mounted here")
		}
	}
	must(t, "a whole cluster", j.Whole(t.Context()))
	for _, test := range []struct {
		name       string
		home, kill bool
	}{
		{"the home's, and a rank is killed", true, true}, {"the home's, and the job is stopped", true, false},
		{"the member's, and a rank is killed", false, true}, {"the member's, and the job is stopped", false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			id := j.detached(t, j.Nodes[0], "-n", "2", "--backend", "ring", "--", j.Python, j.Program("hang.py"))
			job, before := j.until(t, j.Nodes[0], id, "two ranks that run", timeout, isRunning(2))
			plan := job.Attempts[0].Plan
			is.True(plan != nil)
			full := j.Nodes[slices.IndexFunc(j.Nodes, func(n *testcluster.Node) bool {
				return n.ID == plan.Ranks[0].Node && test.home || n.ID == plan.Ranks[1].Node && !test.home
			})]
			free := fill(t, full.Home)
			<-time.After(8 * time.Second) // longer than a lease: renewing takes no room
			for _, n := range j.Nodes {
				_, ranks := j.until(t, n, id, "two ranks that run", after, isRunning(2))
				is.Equal(pidsOf(ranks), pidsOf(before))
			}
			more := j.submitUntilFull(t, full)

			want := api.JobStopped
			if test.kill {
				want = api.JobFailed
				endOf(pidsOf(before)[0])
			} else if err := j.stopped(t, id); err != nil {
				t.Logf("the stop is answered: %v", err)
			}
			areGone(t, after, pidsOf(before)) // the others are ended, or not renewed any more
			free()
			for _, n := range j.Nodes {
				job, _ = j.until(t, n, id, "end", after, hasEnded)
				is.Equal(job.Phase, want)
				is.True(job.Reason != "")
			}
			t.Logf("%s: %s %s", job.Phase, job.Reason, job.Message)
			for _, id := range more { // what was taken is not lost
				j.until(t, full, id, "end", after, hasEnded)
			}
			j.leavesNothing(t)
		})
	}
}

// submitUntilFull submits jobs until one is refused because the disk is full: the
// database has some room left inside. It gives those that were taken.
func (j *jobs) submitUntilFull(t *testing.T, at *testcluster.Node) (taken []api.JobID) {
	t.Helper()
	for len(taken) < 200 {
		result, err := client.Call[api.JobSubmitResult](t.Context(), at.Client, "job.submit", api.JobSubmitParams{Request: api.JobRequest{
			Program:   api.Program{Command: []string{"/bin/true"}, Directory: "/", Stdin: api.StdinNone},
			Placement: api.Placement{Ranks: 1, Backend: api.BackendRing, GPU: api.GPUExclusive}, AllowSolo: true, Detached: true,
		}})
		if errors.Is(err, api.ReasonDiskFull) {
			return taken
		}
		must(t, "a submission", err)
		taken = append(taken, result.Job)
	}
	t.Fatal("the disk is not full")
	return nil
}

// stopped ends a job as a person does at the first node.
func (j *jobs) stopped(t *testing.T, id api.JobID) error {
	_, err := client.Call[api.Empty](t.Context(), j.Nodes[0].Client, "job.stop", api.JobStopParams{Job: id})
	return err
}
