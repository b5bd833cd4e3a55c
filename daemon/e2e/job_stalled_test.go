package e2e

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// stalledWithin is how long it may take until a job says that it does not get on.
const stalledWithin = 10 * time.Second

// testStalled stops a rank of a group, by a signal: the job says so and whom it suspects, and
// that it gets on again once the rank does, or it is started again. One whose rank leaves
// the others waiting, and its heartbeat, is ended where that is wanted.
func (j *jobs) testStalled(t *testing.T) {
	j.needPython(t)
	is := is.New(t)
	at := j.Nodes[0]
	begin := func(args ...string) api.JobID {
		return j.detached(t, at, append([]string{"-n", "2", "--backend", "ring", "--gpu", "none"}, args...)...)
	}
	program := []string{"--", j.Python, j.Program("rounds.py")}
	warned := begin(program...)
	again := begin(append([]string{"--on-stall", "restart"}, program...)...)
	hung := begin(append(append([]string{"--on-stall", "fail", "--heartbeat", "1s"}, program...), "50")...)
	running := func(id api.JobID, attempt int) (pid int) {
		_, ranks := j.until(t, at, id, "rank 1 that has joined", timeout, func(job api.Job, ranks []api.Rank) bool {
			return job.Phase == api.JobRunning && job.Attempt == attempt && len(ranks) == 2 && ranks[1].PID != 0
		})
		return ranks[1].PID
	}
	suspect := func(job api.Job) bool { return job.Suspect != nil && *job.Suspect == 1 }
	pid, other := running(warned, 1), running(again, 1)
	must(t, "stop a rank", syscall.Kill(pid, syscall.SIGSTOP))
	must(t, "stop a rank", syscall.Kill(other, syscall.SIGSTOP))
	job, _ := j.until(t, at, warned, "word that it is stalled", stalledWithin, func(job api.Job, _ []api.Rank) bool {
		return job.Reason == api.ReasonStalled
	})
	is.Equal(job.Phase, api.JobRunning)
	is.True(suspect(job))
	is.True(strings.HasPrefix(job.WaitingFor, "rank 1 on studio-"))
	is.True(strings.Contains(job.Message, job.WaitingFor+" has been stopped by a signal for "))
	listed := end(t, j.fulmen(t.Context(), at, "jobs"))
	is.True(strings.Contains(listed.out, "running: The job is stalled: rank 1 on studio-"))
	must(t, "continue it", syscall.Kill(pid, syscall.SIGCONT))
	j.until(t, at, warned, "word that it gets on", stalledWithin, func(job api.Job, _ []api.Rank) bool {
		return job.Phase == api.JobRunning && job.Reason == "" && job.Suspect == nil && job.Message == ""
	})
	running(again, 2)
	job, _, err := jobOf(t.Context(), at.Client, again)
	is.NoErr(err)
	first := job.Attempts[0]
	is.Equal(first.Reason, api.ReasonStalled)
	is.Equal(*first.FirstFailed, 1)
	is.True(strings.Contains(first.Message, "rank 1 on studio-"))
	job, _ = j.until(t, at, hung, "end", timeout, hasEnded)
	t.Log(job.Message)
	is.Equal(job.Phase, api.JobFailed)
	is.Equal(job.Reason, api.ReasonStalled)
	is.True(suspect(job))
	is.True(strings.Contains(job.Message, "has done nothing for ") && strings.Contains(job.Message, " has owed a heartbeat for "))
	for _, id := range []api.JobID{warned, again} {
		is.Equal(end(t, j.fulmen(t.Context(), at, "job", "stop", "--kill", id.String())).status, 0)
	}
}
