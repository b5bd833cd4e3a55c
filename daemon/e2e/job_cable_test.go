package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/testcluster"
)

const (
	// noticed is how long it takes from an event at a cable or a Mac to the signals that
	// end the job's ranks, on a machine that is not busy with anything else.
	noticed = 250 * time.Millisecond
	// noticedBusy is the same on one that is, and far less than the next thing that
	// would end them: the repetition of an order that was lost.
	noticedBusy = 2 * time.Second
	// cableTries is how often that is measured at most.
	cableTries = 12
	// cableTimes leave renewals and repetitions as they are by default.
	cableTimes = "[times]\nbeat = \"100ms\"\nbeat_lost = \"5s\"\nfailed_grace = \"500ms\"\nstarting = \"15s\"\n"
)

// TestJobsWhoseCablesGo runs jobs of JACCL's stand-in, whose ranks would never
// notice that they cannot talk any more.
func TestJobsWhoseCablesGo(t *testing.T) {
	needJobs(t)
	j := newJACCL(t, "mesh-4", cableTimes)
	mac := func(n api.NodeID) string {
		return j.Nodes[slices.IndexFunc(j.Nodes, func(one *testcluster.Node) bool { return one.ID == n })].Mac
	}
	runs := func(t *testing.T, args ...string) (api.JobID, api.Job) {
		t.Helper()
		id := j.detached(t, j.Nodes[0], append(args, "--", j.standin, "-work", "-1s")...)
		job, _ := j.until(t, j.Nodes[0], id, "run", timeout, func(job api.Job, _ []api.Rank) bool { return job.Phase == api.JobRunning })
		return id, job
	}
	// latest is the attempt that runs: a start is tried again where a connection broke, as
	// it may right after the cables of the test before.
	latest := func(job api.Job) api.Attempt { return job.Attempts[len(job.Attempts)-1] }
	// ended waits for the end of a job and says how long its ranks outlived something.
	ended := func(t *testing.T, id api.JobID, began time.Time) (job api.Job, took time.Duration) {
		t.Helper()
		job, ranks := j.until(t, j.Nodes[0], id, "end", timeout, func(job api.Job, ranks []api.Rank) bool {
			// The home tells of the job, and each rank's node of the rank.
			return hasEnded(job, ranks) && !slices.ContainsFunc(ranks, func(r api.Rank) bool { return r.EndedAt.IsZero() })
		})
		for _, r := range ranks {
			if r.Exit == nil || r.Exit.Signal == 0 || r.EndedAt.Sub(began) > noticedBusy {
				t.Fatalf("rank %d ended after %v: %+v", r.Rank, r.EndedAt.Sub(began), r)
			}
			took = max(took, r.EndedAt.Sub(began))
		}
		t.Logf("the ranks ended after %v", took)
		return job, took
	}

	t.Run("pulled", func(t *testing.T) {
		is := is.New(t)
		best := noticedBusy
		for try := 0; try < cableTries && best > noticed; try++ {
			id, job := runs(t, "-n", "2", "--backend", "jaccl")
			link := latest(job).Plan.Links[0].Link
			low, high := fmt.Sprintf("%s.tb%d", mac(link.Low.Node), link.Low.PortNumber), fmt.Sprintf("%s.tb%d", mac(link.High.Node), link.High.PortNumber)
			began := time.Now()
			change(t, j.Nodes[0].Client, "unplug "+low)
			job, took := ended(t, id, began)
			best = min(best, took)
			is.Equal(job.Phase, api.JobFailed)
			is.Equal(job.Reason, api.ReasonLinkGone)
			is.Equal(job.Message, fmt.Sprintf("The cable %s:%d - %s:%d was pulled.",
				mac(link.Low.Node), link.Low.PortNumber, mac(link.High.Node), link.High.PortNumber))
			change(t, j.Nodes[0].Client, "plug "+low+" "+high)
		}
		if best > noticed {
			t.Errorf("at best the ranks ended after %v", best)
		}
	})
	t.Run("retrained, and retried", func(t *testing.T) {
		is := is.New(t)
		id, job := runs(t, "-n", "3", "--backend", "jaccl", "--retries", "1")
		first := latest(job)
		low := first.Plan.Links[0].Link.Low
		socket := fmt.Sprintf("%s.tb%d", mac(low.Node), low.PortNumber)
		change(t, j.Nodes[0].Client, "retrain "+socket+" 40G")
		job, _ = j.until(t, j.Nodes[0], id, "go on", timeout, func(job api.Job, ranks []api.Rank) bool {
			return job.Attempt > first.Attempt && isRunning(3)(job, ranks)
		})
		ended := job.Attempts[slices.IndexFunc(job.Attempts, func(a api.Attempt) bool { return a.Attempt == first.Attempt })]
		is.Equal(ended.Reason, api.ReasonLinkChanged)
		is.True(strings.HasSuffix(ended.Message, "runs at another speed now: 40 Gb/s, where it had 80 Gb/s."))
		for _, l := range latest(job).Plan.Links {
			is.True(l.Link != first.Plan.Links[0].Link) // on what is left
		}
		end(t, j.fulmen(t.Context(), j.Nodes[0], "job", "stop", "--kill", id.String()))
		change(t, j.Nodes[0].Client, "retrain "+socket+" 80G")
	})
	t.Run("asleep", func(t *testing.T) {
		is := is.New(t)
		id, job := runs(t, "-n", "2", "--backend", "jaccl", "--exclude", j.Nodes[0].Mac) // which is asked
		last := latest(job).Plan.Ranks[1].Node
		began := time.Now()
		change(t, j.Nodes[0].Client, "sleep "+mac(last))
		job, _ = ended(t, id, began)
		is.Equal(job.Reason, api.ReasonNodeAsleep)
		is.Equal(job.Message, mac(last)+": it goes to sleep.")
		is.Equal(*latest(job).FirstFailed, 1)
		change(t, j.Nodes[0].Client, "wake "+mac(last))
	})
	t.Run("an address is lost", func(t *testing.T) {
		is := is.New(t)
		id, job := runs(t, "-n", "2", "--backend", "jaccl", "--exclude", mac(j.Nodes[3].ID))
		list, err := client.Call[api.LinkListResult](t.Context(), j.Nodes[0].Client, "link.list", nil)
		must(t, "the cables", err)
		at := slices.IndexFunc(list.Cables, func(c api.Cable) bool { return c.Link == latest(job).Plan.Links[0].Link })
		end := list.Cables[at].Ends[1]
		began := time.Now()
		change(t, j.Nodes[0].Client, fmt.Sprintf("set %s.%s.address none", mac(end.End.Node), end.Interface))
		job, _ = ended(t, id, began)
		is.Equal(job.Reason, api.ReasonAddressLost)
		is.True(strings.HasPrefix(job.Message, mac(end.End.Node)+" lost the address "))
		is.True(strings.Contains(job.Message, " of "+end.Interface+", which RDMA over the cable "))
	})
	t.Run("a lid is closed", func(t *testing.T) {
		is := is.New(t)
		id, _ := runs(t, "-n", "2", "--backend", "jaccl", "--nodes", j.Nodes[3].Mac)
		began := time.Now()
		change(t, j.Nodes[0].Client, "set "+j.Nodes[3].Mac+".lid closed")
		job, _ := ended(t, id, began)
		is.Equal(job.Message, j.Nodes[3].Mac+": lid closed.")
	})
}
