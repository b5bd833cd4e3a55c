package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/testcluster"
)

// shortly are times with which losses are noticed in seconds. A busy machine may keep
// a daemon from its beats, and from the answer to a renewal, for more than a second,
// which is no loss.
const shortly = "[times]\nlease = \"6s\"\nlease_renewal = \"2s\"\nbeat = \"100ms\"\nbeat_lost = \"2s\"\n" +
	"grace = \"1s\"\nfailed_grace = \"500ms\"\nstarting = \"15s\"\n"

// unhurried are times for tests in which nothing is lost, on a machine so busy that a
// daemon misses its beats for seconds.
const unhurried = "[times]\nlease = \"15s\"\nlease_renewal = \"5s\"\nbeat = \"100ms\"\nbeat_lost = \"8s\"\n" +
	"grace = \"1s\"\nfailed_grace = \"500ms\"\nstarting = \"1m\"\n"

// after is by when everything of a job whose nodes, daemons or processes were
// killed has come to its end with those times.
const after = 90 * time.Second

// needJobs skips a test where the daemon does not run jobs yet.
func needJobs(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("a cluster is paired first")
	}
	c := start(t, newHome(t)).dial()
	if _, err := client.Call[api.JobListResult](t.Context(), c, "job.list", api.JobListParams{}); errors.Is(err, api.ReasonNotBuiltYet) {
		t.Skip("jobs are not wired yet")
	}
}

// jobs is a cluster that runs jobs.
type jobs struct {
	*stage
	*testcluster.Cluster
}

// newJobs starts a cluster of so many Macs.
func newJobs(t *testing.T, size int, config string) *jobs {
	t.Helper()
	return newJobsOn(t, "mesh-4", []string{"studio-1", "studio-2", "studio-3", "studio-4"}[:size], config)
}

// newJobsOn starts a cluster of these Macs of a scenario.
func newJobsOn(t *testing.T, scenario string, macs []string, config string) *jobs {
	t.Helper()
	s := newStage(t)
	s.buildFulmen()
	return s.cluster(t, scenario, macs, config)
}

// cluster starts these Macs of a scenario on the stage, whose programs are built.
// The logs of a test that fails are shown.
func (s *stage) cluster(t *testing.T, scenario string, macs []string, config string) *jobs {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	d, err := s.Start(ctx, scenario, macs, config)
	endsWithTest(t, d)
	must(t, "a cluster", err)
	return &jobs{s, d}
}

// endsWithTest ends a cluster with a test, and shows its logs where that has failed.
func endsWithTest(t *testing.T, d *testcluster.Cluster) {
	t.Cleanup(func() {
		d.Close()
		if t.Failed() {
			for _, n := range d.Nodes {
				t.Logf("the log of %s ends:\n%s", n.Mac, n.Output.End())
			}
		}
	})
}

// fulmen is the command line at a node.
func (j *jobs) fulmen(ctx context.Context, at *testcluster.Node, args ...string) *exec.Cmd {
	c := at.Command(ctx, j.Fulmen, args...)
	c.Dir = j.Work
	c.WaitDelay = 5 * time.Second
	return c
}

// run is fulmen run at the first node.
func (j *jobs) run(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	t.Cleanup(cancel)
	return j.fulmen(ctx, j.Nodes[0], append([]string{"run"}, args...)...)
}

// detached starts a job that goes on without its client.
func (j *jobs) detached(t *testing.T, at *testcluster.Node, args ...string) api.JobID {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	got := end(t, j.fulmen(ctx, at, append([]string{"run", "--detach"}, args...)...))
	for _, word := range strings.Fields(got.out + " " + got.err) {
		if id, err := api.ParseJobID(strings.Trim(word, ".,:;")); err == nil && got.status == api.ExitOK {
			return id
		}
	}
	t.Fatalf("fulmen run --detach names no job: %+v", got)
	return ""
}

// jobOf is what a daemon knows of a job.
func jobOf(ctx context.Context, c *client.Client, id api.JobID) (job api.Job, ranks []api.Rank, err error) {
	result, err := client.Call[api.JobGetResult](ctx, c, "job.get", api.JobSelect{Job: id})
	if err != nil {
		return job, nil, err
	}
	if err := result.Job.Decode(&job); err != nil {
		return job, nil, err
	}
	for _, d := range result.Ranks {
		var rank api.Rank
		if err := d.Decode(&rank); err != nil {
			return job, nil, err
		}
		ranks = append(ranks, rank)
	}
	return job, ranks, nil
}

// until waits until what a node's daemon knows of a job fits.
func (j *jobs) until(t *testing.T, at *testcluster.Node, id api.JobID, what string, within time.Duration, fits func(api.Job, []api.Rank) bool) (job api.Job, ranks []api.Rank) {
	t.Helper()
	deadline := time.Now().Add(within)
	for {
		ctx, cancel := context.WithDeadline(t.Context(), deadline)
		nowJob, nowRanks, err := jobOf(ctx, at.Client, id)
		cancel()
		if err == nil {
			if job, ranks = nowJob, nowRanks; fits(job, ranks) {
				return job, ranks
			}
		}
		if time.Now().After(deadline) {
			text, _ := json.MarshalIndent(map[string]any{"job": job, "ranks": ranks}, "", " ")
			t.Fatalf("%s: %s: no %s in %v (%v); it has:\n%s", at.Mac, id, what, within, err, text)
		}
		pause()
	}
}

// isRunning reports whether a job and so many ranks of it run.
func isRunning(size int) func(api.Job, []api.Rank) bool {
	return func(job api.Job, ranks []api.Rank) bool {
		return job.Phase == api.JobRunning && len(ranks) == size &&
			!slices.ContainsFunc(ranks, func(r api.Rank) bool { return r.Phase != api.RankRunning || r.PID == 0 })
	}
}

// hasEnded reports whether a job has.
func hasEnded(job api.Job, _ []api.Rank) bool { return job.Phase.Ended() }

// pidsOf are the processes of ranks.
func pidsOf(ranks []api.Rank) []int {
	var all []int
	for _, r := range ranks {
		if r.PID != 0 {
			all = append(all, r.PID)
		}
	}
	return all
}

// grantsAreBack waits until no node lends anything to a job. Each is asked for itself: what
// a daemon that was killed had lent, others have on their lists for up to a minute.
func (j *jobs) grantsAreBack(t *testing.T) {
	t.Helper()
	for _, n := range j.Nodes {
		documents(t, n.Mac, n.Client, "return of all grants", after, api.StateSelect{Kinds: []api.Kind{api.KindGrant}, Nodes: []api.NodeRef{api.NodeRef(n.ID)}}, func(v *client.View) bool {
			return !slices.ContainsFunc(v.Docs(), func(d api.Document) bool {
				var grant api.Grant
				return d.Decode(&grant) != nil || grant.State == api.GrantHeld || grant.State == api.GrantWaiting
			})
		})
	}
}

// live is a program that runs, with what it has printed.
type live struct {
	*exec.Cmd
	in    io.WriteCloser
	ended chan struct{}

	mu      sync.Mutex
	all     bytes.Buffer
	printed chan struct{} // closed when more is printed
}

// begin starts a command whose output is awaited.
func begin(t *testing.T, c *exec.Cmd) *live {
	t.Helper()
	l := &live{Cmd: c, ended: make(chan struct{}), printed: make(chan struct{})}
	var err error
	l.in, err = c.StdinPipe()
	must(t, "its input", err)
	c.Stdout, c.Stderr = l, l
	must(t, "starting it", c.Start())
	go func() {
		c.Wait()
		close(l.ended)
	}()
	t.Cleanup(func() {
		c.Process.Kill()
		<-l.ended
	})
	return l
}

// Write takes output.
func (l *live) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all.Write(p)
	close(l.printed)
	l.printed = make(chan struct{})
	return len(p), nil
}

// until waits until what was printed fits, and gives it.
func (l *live) until(t *testing.T, what string, fits func(string) bool) string {
	t.Helper()
	deadline := time.After(timeout)
	for {
		l.mu.Lock()
		text, printed := l.all.String(), l.printed
		l.mu.Unlock()
		if fits(text) {
			return text
		}
		select {
		case <-printed:
		case <-l.ended:
			l.mu.Lock()
			text = l.all.String()
			l.mu.Unlock()
			if fits(text) {
				return text
			}
			t.Fatalf("it ended (%v) without %s:\n%s", l.ProcessState, what, cut(text))
		case <-deadline:
			t.Fatalf("no %s in %v:\n%s", what, timeout, cut(text))
		}
	}
}

// status waits for the end.
func (l *live) status(t *testing.T, within time.Duration) int {
	t.Helper()
	select {
	case <-l.ended:
		return statusOf(l.Cmd)
	case <-time.After(within):
		t.Fatalf("it has not ended in %v:\n%s", within, l.until(t, "", func(string) bool { return true }))
		return 0
	}
}
