package e2e

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/testcluster"
)

// TestManyJobs queues many jobs at once that all want the same GPU, and runs as many
// one after the other: neither takes longer for those that came before, nor grows the
// daemon. FULMEN_SOAK=1 has it run, with a thousand; FULMEN_SOAK=N with N.
func TestManyJobs(t *testing.T) {
	all, err := strconv.Atoi(os.Getenv("FULMEN_SOAK"))
	if err != nil {
		t.Skip("FULMEN_SOAK is not set")
	}
	if all < 10 {
		all = 1000
	}
	needJobs(t)
	j := newJobs(t, 1, "")
	n := j.Nodes[0]
	info, err := client.Call[api.DaemonInfoResult](t.Context(), n.Client, "daemon.info", nil)
	must(t, "what the daemon says of itself", err)
	if j.Account.Other { // jobs are submitted by this process, which is root
		_, err := client.Call[api.Empty](t.Context(), n.Client, "cluster.map_user",
			api.ClusterMapUserParams{Principal: api.Principal{User: "root", Node: n.ID}, Account: j.Account.Name})
		must(t, "mapping root", err)
	}
	submit := func(t *testing.T) api.JobID {
		t.Helper()
		got, err := client.Call[api.JobSubmitResult](t.Context(), n.Client, "job.submit", api.JobSubmitParams{Request: api.JobRequest{
			Program: api.Program{Command: []string{"/bin/true"}, Directory: "/"}, Placement: api.Placement{Ranks: 1, Backend: api.BackendRing}, Detached: true,
		}})
		must(t, "a job", err)
		return got.Job
	}
	memory := func() int64 {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", info.PID))
		must(t, "the daemon's memory", err)
		_, line, _ := strings.Cut(string(status), "VmRSS:")
		kib, err := strconv.ParseInt(strings.Fields(line)[0], 10, 64)
		must(t, "its size", err)
		return kib
	}
	median := func(all []time.Duration) time.Duration {
		slices.Sort(all)
		return all[len(all)/2]
	}

	t.Run("one after the other", func(t *testing.T) {
		is := is.New(t)
		var took []time.Duration
		var before int64
		for i := range all {
			began := time.Now()
			id := submit(t)
			job, _ := j.until(t, n, id, "end", timeout, hasEnded)
			is.Equal(job.Phase, api.JobSucceeded)
			took = append(took, time.Since(began))
			if i == all/2 {
				before = memory()
			}
		}
		tenth := all / 10
		early, late := median(took[tenth:2*tenth]), median(took[all-tenth:])
		t.Logf("a job took %v early and %v late; the daemon has %d KiB after half, and %d KiB", early, late, before, memory())
		is.True(late < early+early/2+20*time.Millisecond)
		is.True(memory()-before < 16<<10) // KiB
	})
	t.Run("in line", func(t *testing.T) {
		is := is.New(t)
		before := memory()
		began := time.Now()
		var ids []api.JobID
		for range all {
			ids = append(ids, submit(t))
		}
		submitted := time.Since(began)
		waits := memory()
		half := time.Duration(0)
		for i, id := range ids {
			j.untilGone(t, n, id)
			if i == all/2 {
				half = time.Since(began)
			}
		}
		whole := time.Since(began)
		t.Logf("%d jobs were submitted in %v, half had ended after %v, and all after %v; %d KiB before, %d while they waited, %d after",
			all, submitted, half, whole, before, waits, memory())
		is.True(whole-half < half+half/2)
	})
}

// untilGone waits until a job has ended, or was deleted since.
func (j *jobs) untilGone(t *testing.T, at *testcluster.Node, id api.JobID) {
	t.Helper()
	eventually(t, "end of "+id.String(), time.Hour, func() bool {
		job, _, err := jobOf(t.Context(), at.Client, id)
		return err != nil || job.Phase.Ended()
	})
}
