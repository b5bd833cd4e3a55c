package e2e

import (
	"io"
	"os"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// TestUpgradeUnderAJob installs another fulmend and restarts one daemon after the
// other, as people are told to: the job's ranks run on, under shims of the old
// program.
func TestUpgradeUnderAJob(t *testing.T) {
	needJobs(t)
	is := is.New(t)
	j := newJobs(t, 2, shortly)
	j.needPython(t)
	id := j.detached(t, j.Nodes[0], "-n", "2", "--backend", "ring", "--", j.Python, j.Program("hang.py"))
	_, before := j.until(t, j.Nodes[0], id, "two ranks that run", patience, isRunning(2))
	j.replaceFulmend()
	for _, n := range j.Nodes {
		until(t, n.Client, api.KindCondition, "word of the new program", func(d api.Document) bool {
			return d.Node == n.ID && d.Name == string(api.ReasonProgramReplaced)
		})
		old := call[api.DaemonInfoResult](t, n.Client, "daemon.info", nil)
		got := end(t, j.fulmen(t.Context(), n, "restart"))
		is.Equal(got.status, 0)
		now := await(t, n.Client, old)
		is.Equal(now.PID, old.PID)
		is.Equal(now.Node, n.ID)
		must(t, "a whole cluster", j.Whole(t.Context()))
	}
	<-time.After(5 * time.Second) // longer than a lease, so that both have renewed it
	for _, n := range j.Nodes {
		job, ranks := j.until(t, n, id, "two ranks that run", after, isRunning(2))
		is.Equal(job.Attempt, 1)
		is.Equal(pidsOf(ranks), pidsOf(before))
	}
	j.stop(t, id)
	j.leavesNothing(t)
}

// await is what the daemon says of itself that is not the old one.
func await(t *testing.T, c *client.Client, old api.DaemonInfoResult) api.DaemonInfoResult {
	t.Helper()
	now := call[api.DaemonInfoResult](t, c, "daemon.info", nil)
	if !now.StartedAt.After(old.StartedAt.Time) {
		t.Fatal("the old daemon still answers")
	}
	return now
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
