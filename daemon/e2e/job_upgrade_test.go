package e2e

import (
	"io"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/e2e/testcluster"
)

// upgrade is how long a daemon is away for another program to take its place: longer
// than it takes to notice a Mac that died.
const upgrade = 2 * api.DefaultBeatLost

// TestJobsOutliveAnUpgrade upgrades one Mac of a job after the other, with the times
// that people have: one daemon is away for as long as an installer takes, the others
// are restarted on the new program as people are told to. The ranks run on, under
// shims of the old one.
func TestJobsOutliveAnUpgrade(t *testing.T) {
	t.Parallel() // it mostly waits
	needJobs(t)
	is := is.New(t)
	j := newJobs(t, 3, "")
	j.needPython(t)
	id := j.detached(t, j.Nodes[0], "-n", "3", "--backend", "ring", "--", j.Python, j.Program("hang.py"))
	_, before := j.until(t, j.Nodes[0], id, "three ranks that run", timeout, isRunning(3))
	for i, n := range j.Nodes {
		switch i {
		case 0:
			ended := time.Now()
			n.End(syscall.SIGTERM)
			<-time.After(upgrade - time.Since(ended))
			must(t, "a new start", n.Boot(t.Context()))
			t.Logf("%s was away for %v", n.Mac, time.Since(ended))
			j.replaceFulmend()
		default:
			j.restart(t, n)
		}
		must(t, "a whole cluster", j.Whole(t.Context()))
		job, _ := j.until(t, n, id, "three ranks that run", after, isRunning(3))
		is.Equal(job.Attempt, 1)
	}
	<-time.After(api.DefaultBeatLost)
	_, ranks := j.until(t, j.Nodes[0], id, "three ranks that run", after, isRunning(3))
	is.Equal(pidsOf(ranks), pidsOf(before))

	// A daemon that is told so ends the jobs of its Mac before it stops.
	last := j.Nodes[2]
	is.Equal(end(t, j.fulmen(t.Context(), last, "stop", "--end-jobs")).status, 0)
	for _, n := range j.Nodes[:2] {
		job, _ := j.until(t, n, id, "end", after, hasEnded)
		is.Equal(job.Phase, api.JobFailed)
	}
	must(t, "a new start", last.Boot(t.Context()))
	must(t, "a whole cluster", j.Whole(t.Context()))
	j.leavesNothing(t)
}

// restart waits until a daemon has noticed the new program, and has it take over.
func (j *jobs) restart(t *testing.T, n *testcluster.Node) {
	t.Helper()
	is := is.New(t)
	until(t, n.Client, api.KindCondition, "word of the new program", func(d api.Document) bool {
		return d.Node == n.ID && d.Name == string(api.ReasonProgramReplaced)
	})
	before := call[api.DaemonInfoResult](t, n.Client, "daemon.info", nil)
	is.Equal(end(t, j.fulmen(t.Context(), n, "restart")).status, 0) // which waits for the new one
	now := call[api.DaemonInfoResult](t, n.Client, "daemon.info", nil)
	is.True(now.StartedAt.After(before.StartedAt.Time))
	is.Equal(now.PID, before.PID)
	is.Equal(now.Node, before.Node)
}

// replaceFulmend installs a fulmend that differs by some bytes that nobody reads.
func (j *jobs) replaceFulmend() {
	j.t.Helper()
	must(j.t, "a new fulmend", func() error {
		from, err := os.Open(j.Fulmend)
		if err != nil {
			return err
		}
		defer from.Close()
		to, err := os.OpenFile(j.Fulmend+".new", os.O_CREATE|os.O_WRONLY, 0o755)
		if err != nil {
			return err
		}
		defer to.Close()
		if _, err := io.Copy(to, from); err != nil {
			return err
		}
		if _, err := to.WriteString("new"); err != nil {
			return err
		}
		return os.Rename(j.Fulmend+".new", j.Fulmend)
	}())
}
