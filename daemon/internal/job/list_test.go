package job

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// What a list shows of a job that has ended is kept, for as long as no other document
// of it counts.
func TestListOfEndedJobs(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		id := a.submits(program(words("sleep", "2s"), a, b))
		listed := func() api.JobSummary {
			t.Helper()
			got, err := a.List(t.Context(), a.person(), api.JobListParams{Ended: true})
			is.NoErr(err)
			is.Equal(len(got.Jobs), 1)
			return got.Jobs[0]
		}
		a.until(id, api.JobRunning, time.Second)
		is.Equal(listed().Phase, api.JobRunning)
		job := a.until(id, api.JobSucceeded, 10*time.Second)
		pass(time.Second) // nothing is done for it any more
		is.Equal(len(a.actors()), 0)
		first := listed()
		is.Equal(first.Phase, api.JobSucceeded)
		is.Equal(first.Nodes, []api.NodeID{a.id, b.id})
		is.Equal(listed(), first)
		other, err := a.List(t.Context(), Caller{Principal: api.Principal{User: "eve", Node: a.id}}, api.JobListParams{Ended: true})
		is.NoErr(err)
		is.True(!other.Jobs[0].Mine && other.Jobs[0].ExitCode == nil)
		is.Equal(listed(), first) // what others are not shown is not lost

		job.Homes = append(job.Homes, job.StepTo(cluster, id, b.id, job.Epoch+1).Offer(a.key))
		job.Home, job.Epoch, job.Phase, job.Reason, job.ExitCode = b.id, job.Epoch+1, api.JobFailed, api.ReasonRankFailed, new(7)
		is.NoErr(docs{b}.Put(api.KindJob, id.String(), job, nil))
		pass(time.Second)
		is.Equal(listed().Phase, api.JobFailed)
		is.Equal(*listed().ExitCode, 7)
	})
}
