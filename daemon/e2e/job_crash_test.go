package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
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
	needJobs(t)
	j := newJobs(t, 2, shortly)
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
				<-time.After(5 * time.Second)
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

// victim is what a round kills.
type victim string

// The victims: of a job's home and of another node the daemon; of a rank the
// shim that holds it, and its program.
const (
	victimHome   victim = "home"
	victimMember victim = "member"
	victimShim   victim = "shim"
	victimRank   victim = "rank"
)

// TestJobsWhileEverythingIsKilled kills the parts of jobs by force, at random
// moments of their lives. No job is lost, no process outlives its job, and
// nothing stays granted.
func TestJobsWhileEverythingIsKilled(t *testing.T) {
	needJobs(t)
	rounds := 20
	if os.Getenv("FULMEN_SOAK") != "" {
		rounds = 200
	}
	j := newJobs(t, 3, shortly)
	j.needPython(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	victims := []victim{victimHome, victimMember, victimShim, victimRank}
	for round := range rounds {
		who, late := victims[random.IntN(len(victims))], time.Duration(random.IntN(2000))*time.Millisecond
		done := t.Run(fmt.Sprintf("%d, %s after %v", round, who, late), func(t *testing.T) { j.killOnce(t, who, late) })
		if !done {
			t.FailNow() // the next round begins where this one ends
		}
	}
}

// killOnce kills a part of a job, so long after it was submitted, and starts
// daemons anew.
func (j *jobs) killOnce(t *testing.T, who victim, late time.Duration) {
	id := j.detached(t, j.Nodes[0], "-n", "2", "--backend", "ring", "--", j.Python, j.Program("hang.py"))
	<-time.After(late)
	down := j.kill(t, id, who)
	for _, n := range down {
		must(t, "a new start", n.Boot(t.Context()))
	}
	must(t, "a whole cluster", j.Whole(t.Context()))
	job, _ := j.until(t, j.Nodes[0], id, "running or end", after, func(job api.Job, ranks []api.Rank) bool {
		return isRunning(2)(job, ranks) || job.Phase.Ended()
	})
	if !job.Phase.Ended() {
		if who == victimShim || who == victimRank {
			t.Logf("it runs again after its %s was killed: attempt %d", who, job.Attempt)
		}
		if got := end(t, j.fulmen(t.Context(), j.Nodes[0], "job", "stop", string(id))); got.status != 0 {
			t.Errorf("it cannot be stopped: %+v", got)
		}
	}
	for _, n := range j.Nodes {
		j.until(t, n, id, "end", after, hasEnded)
	}
	j.leavesNothing(t)
}

// kill kills a part of a job, and gives the nodes whose daemons it has ended.
func (j *jobs) kill(t *testing.T, id api.JobID, who victim) (down []*desk.Node) {
	t.Helper()
	job, ranks, err := jobOf(t.Context(), j.Nodes[0].Client, id)
	must(t, "the job", err)
	switch who {
	case victimHome, victimMember:
		for _, n := range j.Nodes {
			if (n.ID == job.Home) == (who == victimHome) && len(down) == 0 {
				n.End(syscall.SIGKILL)
				down = append(down, n)
			}
		}
		return down
	}
	if len(pidsOf(ranks)) == 0 { // too early
		_, ranks = j.until(t, j.Nodes[0], id, "a rank's process", patience, func(_ api.Job, ranks []api.Rank) bool { return len(pidsOf(ranks)) > 0 })
	}
	pid := pidsOf(ranks)[0]
	if who == victimRank {
		endOf(pid)
	} else if shim, found := parentOf(t, pid); found {
		endOf(shim)
	}
	return nil
}

// TestJobsWhoseDaemonStaysAway kills the daemon of one of two nodes and leaves it
// away: no rank outlives its lease, and none of the processes that hold them.
func TestJobsWhoseDaemonStaysAway(t *testing.T) {
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
