package e2e

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/testcluster"
	"fulmen/native/nativetest/testkit"
)

// A database that is cut off, or overwritten, under its daemon is set aside as one
// that is found so at the start: the Mac says what that means and how to come back,
// in words for people, and after that it has what the others kept of it.
func TestDamagedDatabase(t *testing.T) {
	needJobs(t)
	is := is.New(t)
	random := testkit.Drawn(t).Source(0)
	j := newJobs(t, 2, "")
	hurt, well := j.Nodes[1], j.Nodes[0]
	for range 3 { // the jobs' home is the Mac that submits and runs them
		c := j.fulmen(t.Context(), hurt, "run", "--nodes", hurt.Mac, "--", "/bin/sh", "-c", "exit 0")
		if got := end(t, c); got.status != 0 {
			t.Fatalf("a job before the damage: %+v", got)
		}
	}
	ended := func(n *testcluster.Node) (all []string) {
		result, err := client.Call[api.JobListResult](t.Context(), n.Client, "job.list", api.JobListParams{Ended: true})
		must(t, "the jobs", err)
		for _, job := range result.Jobs {
			all = append(all, string(job.Job)+" "+string(job.Phase))
		}
		slices.Sort(all)
		return all
	}
	var before []string
	eventually(t, "the other Mac has heard that all have ended", timeout, func() bool {
		before = ended(well)
		return len(before) == 3 && !slices.ContainsFunc(before, func(job string) bool { return !strings.HasSuffix(job, " "+string(api.JobSucceeded)) })
	})
	reported := func(args ...string) string {
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		defer cancel()
		out, _ := j.fulmen(ctx, hurt, args...).CombinedOutput()
		for _, word := range []string{"runtime error", "nil pointer", "panic", "goroutine"} {
			if strings.Contains(string(out), word) {
				t.Errorf("fulmen %s says %q:\n%s", strings.Join(args, " "), word, out)
			}
		}
		return string(out)
	}
	isReported := func() bool {
		out := reported("status")
		return strings.Contains(out, "The state database was damaged and was set aside") && strings.Contains(out, "no longer in a cluster") && strings.Contains(out, "fulmen pair")
	}
	files, err := filepath.Glob(filepath.Join(hurt.Home, "state", "simulated", "*", "*", api.StateFile))
	must(t, "the database", err)
	is.Equal(len(files), 1)

	for name, damage := range map[string]func() error{
		"cut while it runs": func() error {
			info, err := os.Stat(files[0]) // its end may be free, and nothing be lost with it
			if err != nil {
				return err
			}
			return errors.Join(os.Truncate(files[0], random.Int64N(info.Size()/2)), hurt.Client.Close())
		},
		"overwritten at rest": func() error {
			hurt.End(os.Kill)
			text, err := os.ReadFile(files[0])
			if err != nil {
				return err
			}
			for range 1000 {
				text[random.IntN(len(text))] ^= byte(1 + random.IntN(255))
			}
			return errors.Join(os.WriteFile(files[0], text, 0o600), hurt.Boot(t.Context()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			done := j.detached(t, hurt, "--nodes", hurt.Mac, "--", "/bin/sh", "-c", "sleep 4")
			hangs := j.detached(t, hurt, "--nodes", hurt.Mac, "--gpu", "none", "--", "/bin/sh", "-c", "sleep 1000")
			for _, id := range []api.JobID{done, hangs} {
				j.until(t, well, id, "that it runs", timeout, func(now api.Job, _ []api.Rank) bool { return now.Phase == api.JobRunning || now.Phase.Ended() })
			}
			must(t, "the damage", damage())
			reported("run", "--detach", "--", "/bin/sh", "-c", "exit 0") // may be refused, in words
			eventually(t, "the Mac says what it has lost", timeout, isReported)
			c, err := client.Dial(t.Context(), client.Options{Addresses: []client.Address{{Socket: hurt.Socket()}}})
			must(t, "the daemon that began anew", err)
			hurt.Client = c
			must(t, "joining again", testcluster.Join(t.Context(), well.Client, well.ID, hurt.Client, ""))
			must(t, "both are alive", testcluster.SeesAlive(t.Context(), hurt.Client, 2))
			for _, n := range j.Nodes { // what ran meanwhile is not running for ever
				job, _ := j.until(t, n, done, "its end", 10*time.Second, hasEnded)
				is.Equal(job.Phase, api.JobSucceeded)
			}
			if _, err := client.Call[api.Empty](t.Context(), hurt.Client, "job.stop", api.JobStopParams{Job: hangs, Kill: true}); err != nil {
				is.True(errors.Is(err, api.ReasonJobEnded))
			}
			for _, n := range j.Nodes {
				job, _ := j.until(t, n, hangs, "its end", 10*time.Second, hasEnded)
				is.True(job.Phase == api.JobStopped || job.Reason == api.ReasonHomeForgot) // its lease may have run out before it was in the cluster again
				t.Log(job.Phase, job.Message)
			}
			var here, there []string
			defer func() {
				if t.Failed() {
					t.Logf("before %q, on the Mac that lost them %q, on the other %q", before, here, there)
				}
			}()
			eventually(t, "both list the earlier jobs", 10*time.Second, func() bool {
				here, there = ended(hurt), ended(well)
				return slices.Equal(here, there) && !slices.ContainsFunc(before, func(job string) bool { return !slices.Contains(here, job) })
			})
		})
	}
}
