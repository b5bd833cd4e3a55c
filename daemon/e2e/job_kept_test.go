package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// testKept keeps a service: whether it is killed, or hangs behind an open port, it is started
// again and is ready again, until somebody deletes it.
func (j *jobs) testKept(t *testing.T) {
	j.needPython(t)
	is := is.New(t)
	at, port := j.Nodes[0], freePort(t)
	file := filepath.Join(j.Work, "kept.toml")
	text := fmt.Sprintf("name = \"service\"\nallow_solo = true\nkept = true\n[program]\ncommand = [%q, %q, \"%d\"]\n[placement]\nranks = 2\nbackend = \"ring\"\n"+
		"[probes.readiness]\nport = %[3]d\npath = \"/word\"\nperiod_s = 1\n[probes.liveness]\nport = %[3]d\npath = \"/word\"\nperiod_s = 1\ntimeout_s = 1\nfailure_threshold = 2\n",
		j.Python, j.Program("serve.py"), port)
	must(t, "the file", os.WriteFile(file, []byte(text), 0o644))
	got := end(t, j.fulmen(t.Context(), at, "apply", "--json", file))
	var applied api.JobApplyResult
	must(t, got.out+got.err, json.Unmarshal([]byte(got.out), &applied))
	ready := func(attempt int) (job api.Job, rank0 api.Rank) {
		t.Helper()
		job, ranks := j.until(t, at, applied.Job, fmt.Sprintf("attempt %d that is ready", attempt), timeout, func(job api.Job, ranks []api.Rank) bool {
			return job.Attempt == attempt && job.Phase == api.JobRunning && !job.Attempts[len(job.Attempts)-1].ReadyAt.IsZero() && len(ranks) == 2 && !ranks[0].ReadyAt.IsZero()
		})
		return job, ranks[0]
	}
	_, rank0 := ready(1)
	must(t, "kill rank 0", syscall.Kill(rank0.PID, syscall.SIGKILL))
	job, rank0 := ready(2)
	is.Equal(job.Attempts[0].Reason, api.ReasonRankKilled)
	must(t, "stop rank 0", syscall.Kill(rank0.PID, syscall.SIGSTOP))
	job, _ = ready(3)
	is.Equal(job.Attempts[1].Reason, api.ReasonProbeFailed)
	t.Log(job.Attempts[1].Message)
	got = end(t, j.fulmen(t.Context(), at, "delete", "-f", file))
	is.Equal(got.status, api.ExitOK)
	eventually(t, "end of what it has declared", after, func() bool {
		_, _, err := jobOf(t.Context(), at.Client, applied.Job)
		return err != nil
	})
}
