package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/e2e/netns"
	"fulmen/daemon/e2e/testcluster"
)

// cutLease is how long a rank lives whose home is out of sight.
const cutLease = 9 * time.Second

// cutTimes leave the beats as they are by default, which say how fast a loss is
// noticed.
const cutTimes = "[times]\nlease = \"9s\"\nlease_renewal = \"3s\"\ngrace = \"1s\"\nfailed_grace = \"500ms\"\nstarting = \"15s\"\n"

// signalledWithin is how long after the loss of a node the home, which is with rank
// 0, has told the ranks that it still reaches to end.
//
// It takes 1 to 2 s; the bound is what it would take at the least if only leases told.
const signalledWithin = cutLease - 3500*time.Millisecond

// TestJobsOverNetworks runs a job over two machines whose daemons are root's, as
// a person's account, and cuts their networks: the ranks end on both sides, and
// the record is one again afterwards.
func TestJobsOverNetworks(t *testing.T) {
	t.Parallel() // it mostly waits
	needJobs(t)
	is := is.New(t)
	s := newStage(t)
	s.needPython(t)
	if !s.Account.Other {
		t.Skip("only root makes networks, and only root's daemons run jobs as others")
	}
	if s.Account.Name == "nobody" {
		t.Skip("root's daemons run jobs as people's accounts only, and there is none here")
	}
	s.buildFulmen()
	l := newLab(t, cutTimes)
	for _, h := range l.all {
		must(t, "opening "+h.folder, os.Chmod(h.folder, 0o755)) // the socket is for everybody
		if h != l.north {
			must(t, "joining", testcluster.Join(t.Context(), l.north.client, l.north.id, h.client, s.Account.Name))
		}
	}
	must(t, "lending", testcluster.Lend(t.Context(), l.north.client, s.Account.Name))
	isWhole(t, soon, l.all...)

	j := &jobs{s, &testcluster.Cluster{}}
	for _, h := range l.all {
		j.Nodes = append(j.Nodes, &testcluster.Node{Mac: h.Name, Daemon: testcluster.Daemon{Home: h.folder, ID: h.id, Client: h.client}})
	}
	run := func(args ...string) ran {
		t.Helper()
		return end(t, j.asNorth(t, l, args...))
	}
	pair := []string{"--nodes", "north,south", "--backend", "ring", "--network", "10.77.0.0/24"}
	got := run(append(append([]string{"run"}, pair...), "--", s.Python, s.Program("all_sum.py"), "10")...)
	if got.status != 0 || !strings.Contains(got.out, "[1] rank 1 of 2: the sum is 3\n") {
		t.Fatalf("a job over the network: %+v", got)
	}
	got = run(append(append([]string{"run"}, pair...), "--allow-solo", "--", s.Program("environment.sh"))...)
	is.Equal(strings.Count(got.out, "uid="+itoa(s.Account.UID)+" gid="+itoa(s.Account.GID)+" "), 2)

	t.Run("a model over cables", func(t *testing.T) { j.testModelsOverCables(t, l) })
	for retries := range 1 {
		t.Run(fmt.Sprintf("%d retries", retries), func(t *testing.T) {
			is := is.New(t)
			noted := filepath.Join(s.Work, fmt.Sprint("noted", retries))
			must(t, "a folder", os.Mkdir(noted, 0o700))
			must(t, "giving it", s.Account.Owns(noted))
			nobody := "9" // is mortal
			flags := append([]string{"run", "--detach", "--allow-solo", "--retries", fmt.Sprint(retries)}, pair...)
			id, err := api.ParseJobID(strings.TrimSpace(run(append(flags, "--", s.Python, s.Program("signalled.py"), noted, nobody)...).out))
			is.NoErr(err)
			j.cut(t, l, id, noted)
			if retries > 0 {
				job, ranks := j.until(t, j.Nodes[0], id, "second attempt that runs", after, isRunning(2))
				is.Equal(job.Attempt, 2)
				is.Equal(len(j.processes(t)), len(ranks)) // and nothing of the first one
				is.Equal(run("job", "stop", string(id)).status, 0)
			}
			for _, n := range j.Nodes {
				job, _ := j.until(t, n, id, "end", after, hasEnded)
				is.Equal(job.Phase, []api.JobPhase{api.JobFailed, api.JobStopped}[retries])
				is.Equal(job.Attempts[0].Reason, api.ReasonNodeLost)
			}
			j.leavesNothing(t)
		})
	}
}

// cut cuts south off while a job of north and south runs, and joins it again when
// the ranks have ended.
func (j *jobs) cut(t *testing.T, l *lab, id api.JobID, noted string) {
	t.Helper()
	is := is.New(t)
	job, ranks := j.until(t, j.Nodes[0], id, "two ranks that run", timeout, func(job api.Job, ranks []api.Rank) bool {
		return job.Phase.Ended() || isRunning(2)(job, ranks)
	})
	if job.Phase.Ended() {
		t.Fatalf("it has ended: %+v", job)
	}
	stat, err := os.Stat(filepath.Join("/proc", itoa(uint32(ranks[0].PID))))
	is.NoErr(err)
	is.Equal(stat.Sys().(*syscall.Stat_t).Uid, j.Account.UID)
	eventually(t, "both ranks' own word", soon, func() bool {
		return strings.Count(end(t, j.asNorth(t, l, "job", "logs", string(id))).out, "ready") == 2
	})
	networks := append([]*netns.Network{l.lan}, l.cables...)
	start := time.Now()
	for _, n := range networks {
		must(t, "a cut", n.Cut(l.south.Space))
	}
	areGone(t, after, pidsOf(ranks)) // on both sides, though only one knows of the other's end
	for rank, within := range []time.Duration{signalledWithin, 2 * cutLease} {
		text, err := os.ReadFile(filepath.Join(noted, "n."+itoa(uint32(rank))))
		must(t, "when a rank was signalled", err)
		at, err := strconv.ParseInt(string(text), 10, 64)
		must(t, "when a rank was signalled", err)
		took := time.Unix(0, at).Sub(start)
		t.Logf("rank %d was signalled %v after the cut", rank, took)
		is.True(took < within)
	}
	for _, n := range networks {
		must(t, "its end", n.Heal(l.south.Space))
	}
	isWhole(t, soon, l.all...)
	l.hasPaths(t, "every path again", after)
}

// asNorth is the command line at north.
func (j *jobs) asNorth(t *testing.T, l *lab, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	t.Cleanup(cancel)
	c := j.Command(ctx, j.Fulmen, args...)
	c.Env = append(c.Env, api.EnvHome+"="+l.north.folder)
	return c
}
