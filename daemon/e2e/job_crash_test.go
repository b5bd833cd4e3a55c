package e2e

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/e2e/desk"
)

// TestJobsOutliveDaemons ends the daemons of a job's nodes, in order as an
// upgrade does and by force, and starts them anew: the ranks run on.
func TestJobsOutliveDaemons(t *testing.T) {
	t.Parallel() // it mostly waits
	needJobs(t)
	// Renewals and beats outlast the start of a daemon on a busy machine.
	j := newJobs(t, 2, strings.NewReplacer(`lease = "6s"`, `lease = "9s"`, `renewal = "2s"`, `renewal = "3s"`, `lost = "2s"`, `lost = "8s"`).Replace(shortly))
	j.needPython(t)
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		for _, who := range []string{"the home's", "the member's", "both"} {
			t.Run(fmt.Sprintf("%s, %v", who, signal), func(t *testing.T) {
				is := is.New(t)
				id := j.detached(t, j.Nodes[0], "-n", "2", "--backend", "ring", "--", j.Python, j.Program("hang.py"))
				job, before := j.until(t, j.Nodes[0], id, "two ranks that run", patience, isRunning(2))
				for _, n := range j.Nodes {
					if isHome := n.ID == job.Home; who == "both" || isHome == (who == "the home's") {
						n.End(signal)
						must(t, "a new start", n.Boot(t.Context()))
					}
				}
				must(t, "a whole cluster", j.Whole(t.Context()))
				// For longer than a lease, so that it was renewed.
				<-time.After(11 * time.Second)
				for _, n := range j.Nodes {
					_, ranks := j.until(t, n, id, "two ranks that run", after, isRunning(2))
					is.Equal(pidsOf(ranks), pidsOf(before))
				}
				is.Equal(end(t, j.fulmen(t.Context(), j.Nodes[1], "job", "stop", string(id))).status, 0)
				job, _ = j.until(t, j.Nodes[0], id, "end", after, hasEnded)
				is.Equal(job.Phase, api.JobStopped)
				j.leavesNothing(t)
			})
		}
	}
}

// TestJobsWhoseDaemonStaysAway kills the daemon of one of two nodes and leaves it
// away: no rank outlives its lease, and none of the processes that hold them.
func TestJobsWhoseDaemonStaysAway(t *testing.T) {
	t.Parallel() // it mostly waits
	needJobs(t)
	j := newJobs(t, 3, shortly)
	j.needPython(t)
	id := j.detached(t, j.Nodes[0], "-n", "2", "--backend", "ring", "--", j.Python, j.Program("hang.py"))
	job, before := j.until(t, j.Nodes[0], id, "two ranks that run", patience, isRunning(2))
	var away, left *desk.Node
	for _, n := range j.Nodes {
		if n.ID == job.Home {
			away = n
		} else {
			left = n
		}
	}
	away.End(syscall.SIGKILL)
	areGone(t, after, pidsOf(before))
	// Two of three see each other: they take the job over, and may start it anew.
	job, _ = j.until(t, left, id, "another home", after, func(job api.Job, _ []api.Rank) bool { return job.Home != away.ID })
	if job.Epoch < 2 {
		t.Errorf("epoch %d under another home", job.Epoch)
	}
	must(t, "a new start", away.Boot(t.Context()))
	must(t, "a whole cluster", j.Whole(t.Context()))
	if !job.Phase.Ended() {
		end(t, j.fulmen(t.Context(), left, "job", "stop", string(id)))
	}
	for _, n := range j.Nodes {
		j.until(t, n, id, "end", after, hasEnded)
	}
	j.leavesNothing(t)
}
