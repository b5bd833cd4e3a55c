package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// A job over two cables of a pair sends over both, half over each; the plan says so, and
// the ranks are granted both ports.
func TestTwoCablesOfAPair(t *testing.T) {
	t.Parallel() // it mostly waits
	needJobs(t)
	is := is.New(t)
	j := &jaccl{jobs: newJobsOn(t, "two-cables", []string{"studio-1", "studio-2"}, unhurried), size: 2}
	j.standin = j.buildStandin()
	job, ranks := j.whole(t, "-exchange", "1048576")
	is.Equal(job.Phase, api.JobSucceeded)
	plan := job.Attempts[0].Plan
	is.Equal(plan.Cables(), 2)
	is.Equal(len(plan.Links), 2)
	reported := j.printed(t, ranks[0].Job)
	for rank, r := range plan.Ranks {
		is.Equal(len(r.PortNumbers), 2)
		for _, name := range plan.Devices[rank][1-rank] {
			is.True(strings.Contains(reported, fmt.Sprintf("rank %d: %s carried 1048576 bytes\n", rank, name))) // half a MiB each way
		}
	}
	shown := end(t, j.fulmen(t.Context(), j.Nodes[0], append([]string{"plan"}, j.args()...)...)).out
	is.True(strings.Contains(shown, "joined as a mesh, 2 cables each"))
	j.leavesNothing(t)
}
