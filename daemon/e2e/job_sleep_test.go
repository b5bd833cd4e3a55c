package e2e

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// testSleeps keeps a service on a Mac that is kept awake while it is used, and sleeps by
// itself when it is not; when it wakes, the service is ready again.
func (j *jobs) testSleeps(t *testing.T) {
	is := is.New(t)
	at, on, port := j.Nodes[0], j.Nodes[1], freePort(t)
	id := j.detached(t, at, "--nodes", on.Mac, "--allow-solo", "--keep", "--idle", "1s", "--publish", fmt.Sprint(port), "--readiness-probe", fmt.Sprint(port),
		"--", j.Python, j.Program("serve.py"), fmt.Sprint(port))
	batch := j.detached(t, at, "--nodes", on.Mac, "--gpu", "none", "--", "/bin/sleep", "1000") // is no service
	ready := func(attempt int) api.Job {
		t.Helper()
		job, _ := j.until(t, at, id, fmt.Sprintf("attempt %d that is ready", attempt), timeout, func(job api.Job, ranks []api.Rank) bool {
			return len(job.Attempts) == attempt && job.Phase == api.JobRunning && len(ranks) == 1 && !ranks[0].ReadyAt.IsZero()
		})
		return job
	}
	ready(1)
	eventually(t, "its port", soon, func() bool { return len(j.published(t, at, id)) == 1 })
	conn, err := net.Dial("tcp", j.published(t, at, id)[0].Addresses[0].String())
	must(t, "a connection", err)
	defer conn.Close()
	_, err = conn.Write([]byte("GET /word HTTP/1.1\r\n")) // a request that is not answered yet
	must(t, "a request", err)
	idle := func() error {
		_, err := client.Call[api.Empty](t.Context(), at.Client, "daemon.simulate", api.DaemonSimulateParams{Line: "idle " + on.Mac})
		return err
	}
	keptFor := func(what string, d time.Duration) {
		t.Helper()
		for until := time.Now().Add(d); time.Now().Before(until); <-time.After(50 * time.Millisecond) {
			if err := idle(); err == nil || !strings.Contains(err.Error(), "is kept awake") {
				t.Fatalf("%s: %v", what, err)
			}
		}
	}
	keptFor("while a job runs", 100*time.Millisecond)
	got := end(t, j.fulmen(t.Context(), at, "job", "stop", "--kill", batch.String()))
	is.Equal(got.status, 0)
	j.until(t, at, batch, "its end", after, hasEnded)
	keptFor("while a request is open", 1600*time.Millisecond)
	conn.Close()
	eventually(t, "sleep", soon, func() bool { return idle() == nil })
	job, _ := j.until(t, at, id, "end of the attempt", timeout, func(job api.Job, _ []api.Rank) bool { return !job.Attempts[0].EndedAt.IsZero() })
	is.Equal(job.Attempts[0].Reason, api.ReasonNodeAsleep)
	change(t, at.Client, "wake "+on.Mac)
	ready(2)
	eventually(t, "its port again", soon, func() bool { return len(j.published(t, at, id)) == 1 })
	status, _ := get(t, j.published(t, at, id)[0].Addresses[0], "")
	is.Equal(status, http.StatusOK)
	j.haltJob(t, id)
}
