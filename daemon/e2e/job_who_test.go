package e2e

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/testcluster"
)

// TestWho runs jobs of people whom a node refuses, and asks for jobs as somebody
// whose they are not.
func TestWho(t *testing.T) {
	t.Parallel() // it mostly waits
	needJobs(t)
	j := newJobs(t, 2, unhurried)
	for _, test := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"nobody is mapped", j.testUnmapped},
		{"nothing is lent", j.testUnlent},
		{"unmapped while it waits", j.testUnmappedLate},
		{"another person", j.testNonMember},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.run(t)
			j.leavesNothing(t)
		})
	}
}

// does runs a command at a node that must work.
func (j *jobs) does(t *testing.T, at *testcluster.Node, args ...string) string {
	t.Helper()
	got := end(t, j.fulmen(t.Context(), at, args...))
	if got.status != 0 {
		t.Fatalf("fulmen %s: %+v", strings.Join(args, " "), got)
	}
	return got.out
}

// bothNodes are the flags of a job that needs both.
func bothNodes(more ...string) []string {
	return append([]string{"-n", "2", "--backend", "ring", "--allow-solo"}, more...)
}

// refuses checks that a node's refusal is told in words: by fulmen plan at once,
// and by fulmen run when it has waited long enough.
func (j *jobs) refuses(t *testing.T, want string) {
	t.Helper()
	var plan ran
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("fulmen plan: %+v", plan)
		}
	})
	eventually(t, "refusal that says "+want, soon, func() bool {
		plan = end(t, j.fulmen(t.Context(), j.Nodes[0], append([]string{"plan"}, bothNodes("--", "true")...)...))
		return strings.Contains(plan.out, want)
	})
	if plan.status != 1 || !strings.Contains(plan.out, "studio-2") {
		t.Errorf("fulmen plan: %+v", plan)
	}
	got := end(t, j.run(t, bothNodes("--deadline-placing", "500ms", "--", j.Program("status.sh"), "0")...))
	if got.status != api.ExitNotStarted || !strings.Contains(got.err, want) || !strings.Contains(got.err, "studio-2") {
		t.Errorf("fulmen run does not say %q: %+v", want, got)
	}
}

func (j *jobs) testUnmapped(t *testing.T) {
	j.does(t, j.Nodes[1], "users", "unmap", "everybody")
	j.refuses(t, "has no account chosen for jobs of")
	// A job that waits for that runs as soon as somebody is mapped.
	id := j.detached(t, j.Nodes[0], bothNodes("--", j.Program("status.sh"), "0")...)
	j.until(t, j.Nodes[0], id, "wait", timeout, func(job api.Job, _ []api.Rank) bool { return job.Reason == api.ReasonPrincipalUnmapped })
	j.does(t, j.Nodes[1], "users", "map", "everybody", j.Account.Name)
	job, _ := j.until(t, j.Nodes[0], id, "end", after, hasEnded)
	is.New(t).Equal(job.Phase, api.JobSucceeded)
}

func (j *jobs) testUnlent(t *testing.T) {
	j.does(t, j.Nodes[1], "sharing", "set", "jobs=nobody")
	j.refuses(t, "does not accept jobs of")
	j.does(t, j.Nodes[1], "sharing", "set", "jobs=mapped")
	eventually(t, "place", soon, func() bool {
		return end(t, j.fulmen(t.Context(), j.Nodes[0], append([]string{"plan"}, bothNodes("--", "true")...)...)).status == 0
	})
}

// A job that waits for a node when the node refuses its owner does not start there.
func (j *jobs) testUnmappedLate(t *testing.T) {
	is := is.New(t)
	first := j.detached(t, j.Nodes[0], bothNodes("--", j.Program("stubborn.sh"))...)
	j.until(t, j.Nodes[0], first, "two ranks that run", timeout, isRunning(2))
	second := j.detached(t, j.Nodes[0], bothNodes("--", j.Program("status.sh"), "0")...)
	j.until(t, j.Nodes[0], second, "wait", soon, func(job api.Job, _ []api.Rank) bool { return job.Reason == api.ReasonGPUBusy })
	j.does(t, j.Nodes[1], "users", "unmap", "everybody")
	j.does(t, j.Nodes[0], "job", "stop", "--kill", string(first))
	j.until(t, j.Nodes[0], first, "end", after, hasEnded)
	job, ranks := j.until(t, j.Nodes[0], second, "word that nobody is mapped", soon, func(job api.Job, _ []api.Rank) bool {
		return job.Reason == api.ReasonPrincipalUnmapped
	})
	is.True(!job.Phase.Ended())
	is.Equal(len(pidsOf(ranks)), 0) // nothing has run
	j.does(t, j.Nodes[1], "users", "map", "everybody", j.Account.Name)
	job, _ = j.until(t, j.Nodes[0], second, "end", after, hasEnded)
	is.Equal(job.Phase, api.JobSucceeded)
}

// Somebody else on the same Mac sees that a job is there and what it takes, and
// neither its arguments nor its output, and cannot end it.
func (j *jobs) testNonMember(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	is := is.New(t)
	home := j.Nodes[0].Home
	for _, folder := range []string{filepath.Dir(home), home, filepath.Dir(j.Nodes[0].Socket())} {
		is.NoErr(os.Chmod(folder, 0o711)) // as where a daemon for all people has its socket
	}
	id := j.detached(t, j.Nodes[0], "--name", "secret-name", "--label", "project=secret-label", "--env", "WORD=secret-value", "--", j.Program("status.sh"), "-0", "secret-argument")
	j.until(t, j.Nodes[0], id, "end", timeout, hasEnded)
	running := j.detached(t, j.Nodes[0], "--name", "secret-name", "--label", "project=secret-label", "--", j.Program("stubborn.sh"), "secret-argument")
	_, ranks := j.until(t, j.Nodes[0], running, "a rank that runs", timeout, isRunning(1))
	other := testcluster.Account{Name: "nobody", UID: 65534, GID: 65534, Home: "/nonexistent", Other: true}
	if other.UID == j.Account.UID {
		other.UID, other.GID = 12345, 12345
	}
	ask := func(args ...string) ran {
		c := j.stage.Stage.Command(t.Context(), j.Fulmen, args...)
		c.SysProcAttr, c.Env, c.Dir = nil, nil, "/"
		other.Runs(c, home)
		return end(t, c)
	}
	list := ask("jobs", "--all", "--json")
	is.Equal(list.status, 0)
	is.True(strings.Contains(list.out, string(running)))
	is.True(strings.Contains(list.out, "stubborn.sh")) // the program, by its name
	for _, id := range []api.JobID{id, running} {
		for _, args := range [][]string{{"job", "show"}, {"job", "logs"}, {"job", "attach"}, {"job", "stop"}, {"job", "stop", "--kill"}, {"job", "retry"}, {"job", "delete"}, {"job", "take-over"}} {
			got := ask(append(args, string(id))...)
			if got.status == 0 || strings.Contains(got.out+got.err, "secret") {
				t.Errorf("fulmen %v: %+v", args, got)
			}
		}
	}
	is.True(!strings.Contains(list.out+list.err, "secret"))
	for _, args := range [][]string{{"jobs"}, {"jobs", "--all"}, {"status"}, {"nodes"}, {"users"}} {
		if got := ask(args...); strings.Contains(got.out+got.err, "secret") {
			t.Errorf("fulmen %v: %+v", args, got)
		}
	}
	j.hidesJobs(t, other)
	// What was refused is known to administrators, and of all others to the one who tried.
	name := other.Name
	if account, err := user.LookupId(strconv.Itoa(int(other.UID))); err != nil || account.Username != name {
		name = strconv.Itoa(int(other.UID)) // as which the daemon knows it
	}
	is.True(ask("sharing", "set", "jobs=nobody").status != 0)
	for who, audit := range map[string]string{"the owner": j.does(t, j.Nodes[0], "events", "--audit", "--json"), "the stranger": ask("events", "--audit", "--json").out} {
		tried, changed := false, false
		for line := range strings.Lines(audit) {
			var e api.AuditEntry
			is.NoErr(json.Unmarshal([]byte(line), &e))
			if who == "the stranger" && e.By.User != name && e.Account != name {
				t.Errorf("%s reads %s", who, line)
			}
			tried = tried || e.What == "job.stop" && e.Subject == string(running) && e.Why == api.AuditRefused && e.Reason == api.ReasonNotYourJob
			changed = changed || e.What == "cluster.set_sharing" && e.By.User == name && e.Reason == api.ReasonAdminRequired
		}
		if !tried || !changed || strings.Contains(audit, "secret") {
			t.Errorf("%s reads %s", who, audit)
		}
	}
	job, _, err := jobOf(context.Background(), j.Nodes[0].Client, running)
	is.NoErr(err)
	is.Equal(job.Phase, api.JobRunning)
	is.True(!isGone(ranks[0].PID))
	j.haltJob(t, running)
}

// hidesJobs checks that the documents of jobs and ranks are for their owner and
// administrators, by whatever method they are read.
func (j *jobs) hidesJobs(t *testing.T, other testcluster.Account) {
	t.Helper()
	j.needPython(t)
	is := is.New(t)
	open := filepath.Join(j.Folder, "open")
	is.NoErr(os.Mkdir(open, 0o700))
	is.NoErr(os.Chown(open, int(other.UID), int(other.GID)))
	through := filepath.Join(open, "s")
	python, err := os.Readlink(j.Python)
	is.NoErr(err)
	c := exec.CommandContext(t.Context(), python, j.Program("through.py"), through, j.Nodes[0].Socket())
	other.Runs(c, "")
	carrier := begin(t, c)
	defer func() { carrier.Process.Kill(); <-carrier.ended }()
	carrier.until(t, "a socket", func(s string) bool { return strings.Contains(s, "listening") })
	nonMember, err := client.Dial(t.Context(), client.Options{Addresses: []client.Address{{Socket: through}}})
	is.NoErr(err)
	defer nonMember.Close()
	kinds := api.StateSelect{Kinds: []api.Kind{api.KindJob, api.KindRank, api.KindIdentity}}
	for who, c := range map[string]*client.Client{"root": j.Nodes[0].Client, "a stranger": nonMember} {
		count := map[api.Kind]int{}
		for event, err := range c.Watch(t.Context(), kinds) {
			is.NoErr(err)
			for _, d := range event.Put {
				count[d.Kind]++
			}
			break
		}
		is.Equal(count[api.KindIdentity], 2)
		if seen := count[api.KindJob] > 0 && count[api.KindRank] > 0; seen != (who == "root") {
			t.Errorf("%s reads %v", who, count)
		}
	}
}
