package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/testcluster"
	"fulmen/native/nativetest/testkit"
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
				job, before := j.until(t, j.Nodes[0], id, "two ranks that run", timeout, isRunning(2))
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

// victim is what a round kills.
type victim string

// The victims: the daemons of a job's home, of another node, and of all; of a rank
// the shim that holds it, and its program.
const (
	victimHome   victim = "home"
	victimMember victim = "member"
	victimAll    victim = "all"
	victimShim   victim = "shim"
	victimRank   victim = "rank"
)

// fault is what a round does to a job.
type fault struct {
	who victim
	// with is what is killed of a rank while those daemons are down; empty: nothing.
	with victim
	// while is what the job does: it starts, runs, or is being stopped.
	while api.JobPhase
	// late is how long the job has done so.
	late time.Duration
	// away is how long the daemons stay away that are killed.
	away time.Duration
}

func (f fault) String() string {
	who := f.who
	if f.with != "" {
		who += "+" + f.with
	}
	return fmt.Sprintf("%s, %v after %s, for %v", who, f.late, f.while, f.away)
}

// anyFault makes one up. A third of the daemons stay away, some for longer than
// leases last, so that others take their jobs over.
func anyFault(random *rand.Rand) fault {
	of := func(most time.Duration) time.Duration {
		return time.Duration(random.Int64N(int64(most))).Round(time.Millisecond)
	}
	all := []victim{victimHome, victimMember, victimAll, victimShim, victimRank}
	f := fault{who: all[random.IntN(len(all))]}
	switch random.IntN(4) {
	case 0, 1:
		f.while, f.late = api.JobStarting, of(700*time.Millisecond)
	case 2:
		f.while, f.late = api.JobRunning, of(100*time.Millisecond)
	case 3:
		f.while, f.late = api.JobEnding, of(1200*time.Millisecond)
	}
	if f.who != victimShim && f.who != victimRank {
		if random.IntN(3) == 0 {
			f.away = of(10 * time.Second)
		}
		if random.IntN(4) == 0 {
			f.with = []victim{victimShim, victimRank}[random.IntN(2)]
		}
	}
	return f
}

// TestJobsWhileEverythingIsKilled kills the parts of jobs by force, at random
// moments of their lives. No job is lost, no process outlives its job, and
// nothing stays granted.
func TestJobsWhileEverythingIsKilled(t *testing.T) {
	t.Parallel() // it mostly waits
	needJobs(t)
	rounds := 12
	if os.Getenv("FULMEN_SOAK") != "" {
		rounds = 200
	}
	j := newJobs(t, 3, shortly)
	j.needPython(t)
	random := testkit.Drawn(t).Source(0)
	for round := range rounds {
		f := anyFault(random)
		hang, stubborn := []string{"--backend", "ring", "--", j.Python, j.Program("hang.py")}, []string{"--backend", "ring", "--allow-solo", "--", j.Program("stubborn.sh")}
		if !t.Run(fmt.Sprintf("%d: %v", round, f), func(t *testing.T) { j.killOnce(t, random, f, hang, stubborn) }) {
			t.FailNow() // the next round begins where this one ends
		}
	}
}

// killOnce does one thing to a job, and starts daemons anew. The job is one of two:
// that of a program that runs for ever, or of one that takes all its grace besides.
func (j *jobs) killOnce(t *testing.T, random *rand.Rand, f fault, hang, stubborn []string) {
	is := is.New(t)
	program := hang
	if f.while == api.JobEnding {
		program = stubborn
	}
	id := j.detached(t, j.Nodes[0], append([]string{"-n", "2"}, program...)...)
	if f.while != api.JobStarting {
		j.until(t, j.Nodes[0], id, "two ranks that run", after, isRunning(2))
	}
	if f.while == api.JobEnding {
		j.stop(t, id)
	}
	<-time.After(f.late)
	down, killed := j.kill(t, random, id, f)
	<-time.After(f.away)
	for _, n := range down {
		must(t, "a new start", n.Boot(t.Context()))
	}
	must(t, "a whole cluster", j.Whole(t.Context()))
	job, _ := j.until(t, j.Nodes[0], id, "running or end", after, func(job api.Job, ranks []api.Rank) bool {
		return job.Phase.Ended() || isRunning(2)(job, ranks) && !slices.Contains(pidsOf(ranks), killed)
	})
	if !job.Phase.Ended() {
		j.stop(t, id)
	}
	for _, n := range j.Nodes {
		at, _ := j.until(t, n, id, "end", after, hasEnded)
		if n == j.Nodes[0] {
			job = at
		}
		is.True(at.ExitCode != nil)
		is.Equal(at.Phase, job.Phase) // all nodes say the same
		is.Equal(*at.ExitCode, *job.ExitCode)
	}
	t.Logf("attempt %d, epoch %d, %s: %s %s", job.Attempt, job.Epoch, job.Phase, job.Reason, job.Message)
	j.leavesNothing(t)
	eventually(t, "end of all that holds ranks", after, func() bool { return len(j.shims(t)) == 0 })
}

// stop ends a job as a person does at the first node.
func (j *jobs) stop(t *testing.T, id api.JobID) {
	t.Helper()
	_, err := client.Call[api.Empty](t.Context(), j.Nodes[0].Client, "job.stop", api.JobStopParams{Job: id})
	must(t, "a stop", err)
}

// kill kills parts of a job, and gives the nodes whose daemons it has ended, and
// the process of the rank that it has.
func (j *jobs) kill(t *testing.T, random *rand.Rand, id api.JobID, f fault) (down []*testcluster.Node, pid int) {
	t.Helper()
	job, ranks, err := jobOf(t.Context(), j.Nodes[0].Client, id)
	must(t, "the job", err)
	of := f.with
	switch f.who {
	case victimHome, victimMember, victimAll:
		for _, i := range random.Perm(len(j.Nodes)) {
			n := j.Nodes[i]
			if f.who == victimAll || (n.ID == job.Home) == (f.who == victimHome) && len(down) == 0 {
				n.End(syscall.SIGKILL)
				down = append(down, n)
			}
		}
	default:
		of = f.who
		_, ranks = j.until(t, j.Nodes[0], id, "a rank's process", after, func(job api.Job, ranks []api.Rank) bool {
			return len(pidsOf(ranks)) > 0 || job.Phase.Ended()
		})
	}
	pids := pidsOf(ranks)
	if len(pids) == 0 || of == "" { // it is too early, or too late
		return down, 0
	}
	pid = pids[random.IntN(len(pids))]
	if of == victimRank {
		endOf(pid)
	} else if shim, found := parentOf(t, pid); found {
		endOf(shim)
	}
	return down, pid
}

// TestJobsWhoseDaemonStaysAway kills the daemon of one of two nodes and leaves it
// away: no rank outlives its lease, and none of the processes that hold them.
func TestJobsWhoseDaemonStaysAway(t *testing.T) {
	t.Parallel() // it mostly waits
	needJobs(t)
	j := newJobs(t, 3, shortly)
	j.needPython(t)
	id := j.detached(t, j.Nodes[0], "-n", "2", "--backend", "ring", "--", j.Python, j.Program("hang.py"))
	job, before := j.until(t, j.Nodes[0], id, "two ranks that run", timeout, isRunning(2))
	var away, left *testcluster.Node
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
		end(t, j.fulmen(t.Context(), j.Nodes[0], "job", "stop", string(id))) // its person, on the Mac that it was submitted from
	}
	for _, n := range j.Nodes {
		j.until(t, n, id, "end", after, hasEnded)
	}
	j.leavesNothing(t)
}
