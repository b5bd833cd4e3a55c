package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// TestJobs runs real programs as jobs over real daemons.
func TestJobs(t *testing.T) {
	t.Parallel()
	needJobs(t)
	j := newJobs(t, 3, unhurried)
	for _, test := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"ranks add up", j.testAddUp},
		{"as whom and where", j.testSurroundings},
		{"exit status", j.testStatus},
		{"a rank dies", j.testDies},
		{"what a program leaves behind", j.testForks},
		{"a full disk", j.testFull},
		{"a gigabyte", j.testFlood},
		{"no end of line", j.testAsk},
		{"input for whom", j.testInput},
		{"a conversation", j.testConversation},
		{"input from two nodes", j.testInputElsewhere},
		{"a terminal", j.testTerminal},
		{"Ctrl-C", j.testInterrupt},
		{"a client that goes", j.testGone},
		{"a daemon that is back late", j.testBackLate},
		{"from another node", j.testElsewhere},
		{"retry and delete", j.testRetry},
		{"what a file declares", j.testApply},
		{"silence", j.testSilence},
		{"what does not get on", j.testStalled},
		{"what is kept", j.testKept},
		{"what makes room", j.testMakesRoom},
		{"where a model lies", j.testModel},
		{"a model over two ranks", j.testGenerate},
		{"a chat", j.testChat},
		{"a model that is served", j.testServe},
		{"a model that is served several times", j.testReplicas},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.run(t)
			j.leavesNothing(t)
		})
	}
}

// leavesNothing waits until nothing of jobs is left but their records.
func (j *jobs) leavesNothing(t *testing.T) {
	t.Helper()
	eventually(t, "end of all programs", after, func() bool { return len(j.processes(t)) == 0 })
	j.grantsAreBack(t)
}

func (j *jobs) testAddUp(t *testing.T) {
	j.needPython(t)
	for ranks, sum := range map[int]int{2: 3, 3: 6} {
		got := end(t, j.run(t, "-n", fmt.Sprint(ranks), "--backend", "ring", "--", j.Python, j.Program("all_sum.py"), "10"))
		for rank := range ranks {
			if line := fmt.Sprintf("[%d] rank %d of %d: the sum is %d\n", rank, rank, ranks, sum); got.status != 0 || strings.Count(got.out, line) != 1 {
				t.Errorf("%q is not there once: %+v", line, got)
			}
		}
	}
}

func (j *jobs) testSurroundings(t *testing.T) {
	is := is.New(t)
	got := end(t, j.run(t, "-n", "2", "--backend", "ring", "--allow-solo", "--env", "E2E_WORD=fee fi", "--", j.Program("environment.sh")))
	t.Logf("%+v", got)
	is.Equal(got.status, 0)
	for rank := range 2 {
		for _, want := range []string{
			fmt.Sprintf(`uid=%d gid=%d dir=%s`, j.Account.UID, j.Account.GID, regexp.QuoteMeta(j.Work)),
			fmt.Sprintf(`rank=%d job=j[0-9a-z]{8} fulmen_rank=%d world=2`, rank, rank),
			`hostfile=\[\[.*"[^"]+:\d+".*\],? ?\[.*"[^"]+:\d+".*\]\]`,
			`word=fee fi`,
		} {
			is.True(regexp.MustCompile(fmt.Sprintf(`(?m)^\[%d\] %s$`, rank, want)).MatchString(got.out))
		}
	}
}

func (j *jobs) testStatus(t *testing.T) {
	sh, plain := j.Program("status.sh"), filepath.Join(j.Folder, "programs", "plain")
	must(t, "a file that is no program", os.WriteFile(plain, []byte("#!/bin/sh\n"), 0o644))
	for _, test := range []struct {
		name   string
		args   []string
		status int
	}{
		{"success", []string{"--", sh, "0"}, 0},
		{"42", []string{"--", sh, "42"}, 42},
		{"42 of two ranks", []string{"-n", "2", "--backend", "ring", "--allow-solo", "--", sh, "42"}, 42},
		{"a signal", []string{"--", sh, "-9"}, 128 + 9},
		{"SIGTERM", []string{"--", sh, "-15"}, 128 + 15},
		{"not executable", []string{"--", plain}, api.ExitNotExecutable},
		{"not there", []string{"--", j.Program("nothing")}, api.ExitProgramMissing},
		{"not on the PATH", []string{"--", "fulmen-e2e-nothing"}, api.ExitProgramMissing},
		{"no place", []string{"-n", "9", "--deadline-placing", "500ms", "--", sh, "0"}, api.ExitNotStarted},
		{"no command", nil, api.ExitUsage},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := end(t, j.run(t, test.args...))
			if got.status != test.status {
				t.Errorf("status %d, not %d: %+v", got.status, test.status, got)
			}
			if test.status != 0 && got.err == "" {
				t.Errorf("it does not say why: %+v", got)
			}
			if test.name == "no place" && !strings.Contains(got.err, "with --ranks-per-node 3, 3 would do") {
				t.Errorf("it does not say how it could be tried: %+v", got)
			}
		})
	}
	t.Run("no daemon", func(t *testing.T) {
		c := j.run(t, "--", sh, "0")
		c.Env = append(c.Env, api.EnvHome+"="+filepath.Join(j.Folder, "nowhere"))
		if got := end(t, c); got.status != api.ExitNotStarted {
			t.Errorf("status %d: %+v", got.status, got)
		}
	})
}

// One rank ends, the other one waits for it inside MLX.
func (j *jobs) testDies(t *testing.T) {
	j.needPython(t)
	for how, status := range map[string]int{"7": 7, "-9": 128 + 9} {
		got := end(t, j.run(t, "-n", "2", "--backend", "ring", "--", j.Python, j.Program("dies.py"), "1", how))
		if got.status != status || !strings.Contains(got.err, "1") {
			t.Errorf("rank 1 ends by %s, and fulmen run: %+v", how, got)
		}
	}
}

func (j *jobs) testForks(t *testing.T) {
	j.needPython(t)
	is := is.New(t)
	got := end(t, j.run(t, "--", j.Python, j.Program("forks.py"), "leave"))
	is.Equal(got.status, 0)
	is.Equal(len(pidsIn(got.out)), 3)
	areGone(t, after, pidsIn(got.out))

	l := begin(t, j.run(t, "--", j.Python, j.Program("forks.py"), "wait"))
	out := l.until(t, "its children", func(s string) bool { return len(pidsIn(s)) == 3 })
	is.NoErr(l.Process.Signal(os.Interrupt))
	is.True(l.status(t, after) != 0)
	areGone(t, after, pidsIn(out))
}

func (j *jobs) testFull(t *testing.T) {
	j.needPython(t)
	got := end(t, j.run(t, "--", j.Python, j.Program("fill.py"), "filled", "1000000"))
	if got.status != 28 || !strings.Contains(got.out, "full after 1000000: EFBIG") {
		t.Errorf("%+v", got)
	}
	small := j.smallDisk(t)
	got = end(t, j.run(t, "--", j.Python, j.Program("fill.py"), filepath.Join(small, "filled")))
	if got.status != 28 || !strings.Contains(got.out, "ENOSPC") {
		t.Errorf("%+v", got)
	}
}

// A job that prints a gigabyte ends as it would, its last line arrives, and what
// is kept of it is bounded.
func (j *jobs) testFlood(t *testing.T) {
	j.needPython(t)
	const size = 1_000_000_000
	c := j.run(t, "--", j.Python, j.Program("flood.py"), fmt.Sprint(size))
	got := end(t, c)
	if got.status != 0 || !strings.HasSuffix(got.out, fmt.Sprintf("%099d\n", size/100-1)) {
		t.Errorf("status %d, %d bytes, the last: %q; %s", got.status, len(got.out), got.out[max(0, len(got.out)-200):], cut(got.err))
	}
	var kept int64
	for _, n := range j.Nodes {
		kept += bytesUnder(t, n.Home)
	}
	if kept > size/2 {
		t.Errorf("%d bytes are kept", kept)
	}
}

func (j *jobs) testAsk(t *testing.T) {
	j.needPython(t)
	is := is.New(t)
	l := begin(t, j.run(t, "--", j.Python, j.Program("ask.py")))
	l.until(t, "the question", func(s string) bool { return strings.Contains(s, "your name? ") })
	fmt.Fprintln(l.in, "Ada")
	is.Equal(l.status(t, timeout), 0)
	l.until(t, "the greeting", func(s string) bool { return strings.Contains(s, "greets Ada") })
}

func (j *jobs) testInput(t *testing.T) {
	j.needPython(t)
	for target, wants := range map[string][2]string{"all": {"Ada", "Ada"}, "0": {"Ada", "nobody"}, "none": {"nobody", "nobody"}} {
		t.Run(target, func(t *testing.T) {
			c := j.run(t, "-n", "2", "--backend", "ring", "--allow-solo", "--stdin", target, "--", j.Python, j.Program("ask.py"))
			c.Stdin = strings.NewReader("Ada\n")
			got := end(t, c)
			for rank, name := range wants {
				if got.status != 0 || !strings.Contains(got.out, fmt.Sprintf("rank %d greets %s", rank, name)) {
					t.Errorf("rank %d does not greet %s: %+v", rank, name, got)
				}
			}
		})
	}
}

// Lines that are typed one after the other reach every rank, each before the next
// is typed, and so does the end.
func (j *jobs) testConversation(t *testing.T) {
	j.needPython(t)
	for ranks := 1; ranks <= 3; ranks++ {
		t.Run(fmt.Sprint(ranks), func(t *testing.T) {
			is := is.New(t)
			l := begin(t, j.run(t, "-n", fmt.Sprint(ranks), "--backend", "ring", "--allow-solo", "--stdin", "all", "--", j.Python, j.Program("echo.py")))
			for line := range 5 {
				_, err := fmt.Fprintf(l.in, "line %d\n", line)
				is.NoErr(err)
				l.until(t, fmt.Sprintf("line %d at %d ranks", line, ranks), func(s string) bool { return strings.Count(s, fmt.Sprintf("hears line %d\n", line)) == ranks })
			}
			is.NoErr(l.in.Close())
			is.Equal(l.status(t, timeout), 0)
		})
	}
}

// named finds the id of a job that fulmen run says to run.
var named = regexp.MustCompile(`fulmen: (j[0-9a-z]{8}): running`)

// What is typed at another node follows what was typed before, and the other way
// round.
func (j *jobs) testInputElsewhere(t *testing.T) {
	j.needPython(t)
	is := is.New(t)
	here := begin(t, j.run(t, "-n", "2", "--backend", "ring", "--allow-solo", "--stdin", "all", "--", j.Python, j.Program("echo.py")))
	receive := func(line string) {
		here.until(t, line, func(s string) bool { return strings.Count(s, "hears "+line) == 2 })
	}
	_, err := fmt.Fprintln(here.in, "one")
	is.NoErr(err)
	receive("one\n")
	id := named.FindStringSubmatch(here.until(t, "its id", named.MatchString))[1]
	there := begin(t, j.fulmen(t.Context(), j.Nodes[0], "job", "attach", "--input", id)) // another client
	for turn := range 3 {
		for from, at := range map[string]*live{"there": there, "here": here} {
			line := fmt.Sprintf("%s %d\n", from, turn)
			_, err := fmt.Fprint(at.in, line)
			is.NoErr(err)
			receive(line)
		}
	}
	_, err = fmt.Fprintln(here.in, "last")
	is.NoErr(err)
	receive("last\n")
	is.NoErr(here.in.Close())
	is.Equal(here.status(t, timeout), 0)
	is.Equal(there.status(t, timeout), 0)
}

// The first Ctrl-C gives the grace, the second none.
func (j *jobs) testInterrupt(t *testing.T) {
	for _, test := range []struct {
		name, grace string
		times       int
		signal      syscall.Signal
		status      int
	}{{"once", "1s", 1, syscall.SIGINT, 130}, {"twice", "10m", 2, syscall.SIGINT, 130}, {"SIGTERM", "1s", 1, syscall.SIGTERM, 143}} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			l := begin(t, j.run(t, "-n", "2", "--backend", "ring", "--allow-solo", "--grace", test.grace, "--", j.Program("stubborn.sh")))
			out := l.until(t, "both ranks", func(s string) bool { return len(pidsIn(s)) == 2 })
			for range test.times {
				is.NoErr(l.Process.Signal(test.signal))
				// Two of the same signal that are not taken between are one. Other words than
				// this answer may come just then, such as that the job runs.
				if test.times > 1 {
					l.until(t, "an answer", func(s string) bool { return strings.Contains(s, "stopping the job; Ctrl-C again kills it") })
				}
			}
			is.Equal(l.status(t, after), test.status)
			areGone(t, after, pidsIn(out))
		})
	}
}

// The daemon of whoever submitted a job is killed, and back after the ranks have
// ended elsewhere: all that they printed comes.
func (j *jobs) testBackLate(t *testing.T) {
	is := is.New(t)
	held := filepath.Join(j.Work, "held")
	l := begin(t, j.run(t, "-n", "2", "--nodes", j.Nodes[1].Mac+","+j.Nodes[2].Mac, "--backend", "ring", "--allow-solo", "--stdin", "none", "--",
		j.Program("held.sh"), held))
	out := l.until(t, "both ranks", func(s string) bool { return len(pidsIn(s)) == 2 && named.MatchString(s) })
	j.Nodes[0].End(syscall.SIGKILL)
	must(t, "letting it go on", os.WriteFile(held, nil, 0o644))
	areGone(t, after, pidsIn(out))
	must(t, "a new start", j.Nodes[0].Boot(t.Context()))
	is.Equal(l.status(t, after), 0)
	out = l.until(t, "the rest", func(string) bool { return true })
	for rank := range 2 {
		for n := range 8 {
			is.Equal(strings.Count(out, fmt.Sprintf("[%d] rest %d of %d\n", rank, n+1, rank)), 1)
		}
	}
	is.Equal(len(pidsIn(out)), 2)
	// What is kept of it outlives the daemon of the Mac where it was printed.
	j.Nodes[1].End(syscall.SIGKILL)
	must(t, "a new start", j.Nodes[1].Boot(t.Context()))
	must(t, "a whole cluster", j.Whole(t.Context()))
	id := api.JobID(named.FindStringSubmatch(out)[1])
	is.Equal(strings.Count(end(t, j.fulmen(t.Context(), j.Nodes[0], "job", "logs", string(id))).out, "rest "), 16)
}

// An attached job ends with its client, however that ends.
func (j *jobs) testGone(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGHUP, syscall.SIGKILL} {
		t.Run(signal.String(), func(t *testing.T) {
			l := begin(t, j.run(t, "--", j.Program("stubborn.sh")))
			out := l.until(t, "the rank", func(s string) bool { return len(pidsIn(s)) == 1 })
			is.New(t).NoErr(l.Process.Signal(signal))
			l.status(t, after)
			areGone(t, after, pidsIn(out))
		})
	}
}

// A job that goes on without its client is seen and stopped elsewhere.
func (j *jobs) testElsewhere(t *testing.T) {
	is := is.New(t)
	id := j.detached(t, j.Nodes[0], "-n", "2", "--backend", "ring", "--allow-solo", "--", j.Program("stubborn.sh"))
	_, ranks := j.until(t, j.Nodes[2], id, "two ranks that run", timeout, isRunning(2))
	attached := begin(t, j.fulmen(t.Context(), j.Nodes[0], "job", "attach", string(id)))
	attached.until(t, "output of both ranks", func(s string) bool { return len(pidsIn(s)) == 2 })
	logs := begin(t, j.fulmen(t.Context(), j.Nodes[0], "job", "logs", "--follow", "--rank", "1", string(id)))
	logs.until(t, "output of rank 1", func(s string) bool { return len(pidsIn(s)) == 1 })
	j.until(t, j.Nodes[1], id, "two ranks that run", timeout, isRunning(2))
	is.True(strings.Contains(end(t, j.fulmen(t.Context(), j.Nodes[2], "jobs")).out, string(id)))
	is.True(strings.Contains(end(t, j.fulmen(t.Context(), j.Nodes[1], "job", "show", string(id))).out, "running"))
	is.Equal(end(t, j.fulmen(t.Context(), j.Nodes[0], "job", "stop", string(id))).status, 0)
	is.True(attached.status(t, after) != 0)
	logs.status(t, after)
	for _, n := range j.Nodes {
		job, _ := j.until(t, n, id, "end", after, hasEnded)
		is.Equal(job.Phase, api.JobStopped)
	}
	areGone(t, after, pidsOf(ranks))
}

func (j *jobs) testRetry(t *testing.T) {
	is := is.New(t)
	first := j.detached(t, j.Nodes[0], "--", j.Program("status.sh"), "42")
	job, _ := j.until(t, j.Nodes[0], first, "end", timeout, hasEnded)
	is.Equal(job.Phase, api.JobFailed)
	is.True(job.ExitCode != nil && *job.ExitCode == 42)
	again := call[api.JobSubmitResult](t, j.Nodes[0].Client, "job.retry", api.JobSelect{Job: first})
	is.True(again.Job != first)
	j.until(t, j.Nodes[0], again.Job, "end", timeout, hasEnded)
	for _, id := range []api.JobID{first, again.Job} {
		is.Equal(end(t, j.fulmen(t.Context(), j.Nodes[0], "job", "delete", string(id))).status, 0)
		for _, n := range j.Nodes {
			eventually(t, "end of what "+n.Mac+" knows of it", soon, func() bool {
				_, _, err := jobOf(t.Context(), n.Client, id)
				return err != nil
			})
		}
	}
}
