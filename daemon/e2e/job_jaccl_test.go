package e2e

import (
	"fmt"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	sidechannel "fulmen/daemon/e2e/jaccl"
	"fulmen/daemon/e2e/testcluster"
	"fulmen/native/nativetest/testkit"
)

// jaccl is a cluster with the program that takes the place of one that uses JACCL.
type jaccl struct {
	*jobs
	standin string
	size    int
}

// newJACCL starts one of the clusters on which JACCL's jobs are tried.
func newJACCL(t *testing.T, scenario, config string) *jaccl {
	t.Helper()
	macs := map[string][]string{
		"mesh-4": {"studio-1", "studio-2", "studio-3", "studio-4"},
		"hub-3":  {"macbook-1", "macbook-2", "macbook-3"},
	}[scenario]
	j := &jaccl{jobs: newJobsOn(t, scenario, macs, config), size: len(macs)}
	j.standin = j.buildStandin()
	return j
}

// args are those of a job of the stand-in over all nodes.
func (j *jaccl) args(more ...string) []string {
	return append([]string{"-n", strconv.Itoa(j.size), "--backend", "jaccl", "--", j.standin}, more...)
}

// whole runs a job to its end, and gives what became of it.
func (j *jaccl) whole(t *testing.T, more ...string) (api.Job, []api.Rank) {
	t.Helper()
	id := j.detached(t, j.Nodes[0], j.args(more...)...)
	return j.until(t, j.Nodes[0], id, "end", timeout, hasEnded)
}

// printed is what a rank printed.
func (j *jaccl) printed(t *testing.T, id api.JobID) string {
	t.Helper()
	return end(t, j.fulmen(t.Context(), j.Nodes[0], "job", "logs", string(id))).out
}

// TestJACCLJobs runs jobs of JACCL's stand-in over real daemons.
func TestJACCLJobs(t *testing.T) {
	t.Parallel() // it mostly waits
	needJobs(t)
	for _, scenario := range []string{"hub-3", "mesh-4"} {
		t.Run(scenario, func(t *testing.T) {
			j := newJACCL(t, scenario, unhurried)
			type named struct {
				name string
				run  func(*testing.T)
			}
			tests := []named{
				{"surroundings", j.testSurroundings},
				{"any order", j.testOrder},
				{"a side channel of its own", j.testOwnChannel},
				{"a stray", j.testStray},
				{"deaths at each step", j.testDeaths},
				{"an end with 0", j.testEndsWell},
				{"killed at work", j.testKilled},
				{"a daemon that hangs", j.testHungDaemon},
				{"two at once", j.testTwo},
				{"rank 0 of one of two", j.testNeighbour},
				{"an MLX of its own", j.testOwnMLX},
				{"no MLX", j.testNoMLX},
				{"several ranks a Mac", j.testBeside},
			}
			if scenario == "hub-3" && os.Getenv("FULMEN_SOAK") == "" {
				tests = nil // they are alike with three ranks and with four
			}
			if scenario == "hub-3" { // of whose Macs one has less memory
				tests = append(tests, named{"shares", j.testShares}, named{"layers by shares", j.testLayers})
			}
			for _, test := range tests {
				t.Run(test.name, func(t *testing.T) {
					test.run(t)
					j.leavesNothing(t)
				})
			}
		})
	}
}

// testSurroundings looks at what a program is given, and at what is told of it.
func (j *jaccl) testSurroundings(t *testing.T) {
	is := is.New(t)
	job, ranks := j.whole(t)
	is.Equal(job.Phase, api.JobSucceeded)
	attempt := job.Attempts[0]
	if job.Attempt != 1 {
		t.Errorf("it took another attempt than the first: %+v", attempt)
	}
	is.Equal(len(attempt.Joined), j.size)
	reported := ""
	eventually(t, "the same said to all", soon, func() bool {
		reported = j.printed(t, ranks[0].Job)
		return strings.Count(reported, fmt.Sprintf(" ring false devices %v\n", attempt.Plan.Devices)) == j.size
	})
	// The home tells of the job, and each rank's node of the rank.
	_, ranks = j.until(t, j.Nodes[0], ranks[0].Job, "end of each rank", soon, func(_ api.Job, ranks []api.Rank) bool {
		return !slices.ContainsFunc(ranks, func(r api.Rank) bool { return r.EndedAt.IsZero() || r.Handshake == nil })
	})
	for _, r := range ranks {
		is.Equal(r.Handshake.State, api.HandshakeJoined)
		is.True(r.Handshake.CarriedBytes > 0 && !r.Handshake.Severed)
	}
	is.True(!strings.Contains(reported, "attempt 0 to connect failed"))
}

// testOwnChannel runs a program that never dials the side channel that it was given.
func (j *jaccl) testOwnChannel(t *testing.T) {
	is := is.New(t)
	id := j.detached(t, j.Nodes[0], append([]string{"--allow-solo"}, j.args("-own", "-work", "1s")...)...)
	job, ranks := j.until(t, j.Nodes[0], id, "end", timeout, hasEnded)
	is.Equal(job.Phase, api.JobSucceeded)
	is.Equal(job.Attempt, 1)
	is.True(slices.ContainsFunc(job.Phases, func(p api.PhaseTime) bool { return p.Phase == api.JobRunning }))
	for _, r := range ranks {
		is.Equal(r.Handshake, nil)
	}
}

// testStray has a program that says nothing connect to rank 0, which takes it for a rank
// and waits for its number: the start ends with the name of that program, and the next
// has another port.
func (j *jaccl) testStray(t *testing.T) {
	is := is.New(t)
	id := j.detached(t, j.Nodes[0], j.args("-late", "1:2s")...)
	j.until(t, j.Nodes[0], id, "a rank 0 that listens", timeout, func(_ api.Job, ranks []api.Rank) bool {
		return slices.ContainsFunc(ranks, func(r api.Rank) bool { return r.Handshake != nil && r.Handshake.State == api.HandshakeListening })
	})
	at := ""
	eventually(t, "the address at which it listens", soon, func() bool { // it is said a moment before, and read when it comes
		_, reported, _ := strings.Cut(end(t, j.fulmen(t.Context(), j.Nodes[0], "job", "logs", string(id), "--rank", "0")).out, "coordinator ")
		address, _, isWhole := strings.Cut(reported, " ")
		at = address
		return isWhole
	})
	stray, err := net.Dial("tcp", at)
	is.NoErr(err)
	defer stray.Close()
	job, _ := j.until(t, j.Nodes[0], id, "end", timeout, hasEnded)
	t.Log(job.Attempts[0].Message)
	is.Equal(job.Phase, api.JobSucceeded)
	is.Equal(job.Attempt, 2)
	is.Equal(job.Attempts[0].Reason, api.ReasonStrayConnection)
	// A daemon that is no administrator may not look which of another account's it is.
	account, err := user.Current()
	is.NoErr(err)
	is.True(strings.Contains(job.Attempts[0].Message, " of "+account.Username))
}

// tries is how often a start may be tried whose outcome hangs on bounds of a second:
// so long others wait for word of a death before they tell what they saw of it, and a
// busy machine may hold that up for longer, but not each time.
const tries = 3

// some are the ranks that a test takes for all of them: the first, the last, and in soak
// those between.
func (j *jaccl) some() []int {
	if os.Getenv("FULMEN_SOAK") == "" {
		return []int{0, j.size - 1}
	}
	all := make([]int, j.size)
	for i := range all {
		all[i] = i
	}
	return all
}

// testOrder starts ranks one after the other, some of them last once.
func (j *jaccl) testOrder(t *testing.T) {
	for _, last := range j.some() {
		inOne := false
		for try := 0; try < tries && !inOne; try++ {
			job, _ := j.whole(t, "-late", fmt.Sprintf("%d:600ms", last))
			if inOne = job.Phase == api.JobSucceeded && job.Attempt == 1; !inOne {
				t.Logf("rank %d last: %s in attempt %d: %s; the first: %s %s", last, job.Phase, job.Attempt, job.Message, job.Attempts[0].Reason, job.Attempts[0].Message)
			}
		}
		if !inOne {
			t.Errorf("rank %d last: never in one attempt", last)
		}
	}
}

// testDeaths has some ranks die at each step. Before any has joined the start is
// repeated at once, and its cause is the rank that died.
func (j *jaccl) testDeaths(t *testing.T) {
	for _, step := range sidechannel.Steps() {
		for _, victim := range j.some() {
			problem := ""
			for try := range tries {
				if problem = j.dies(t, step, victim, try); problem == "" {
					break
				}
				t.Log(problem)
			}
			if problem != "" {
				t.Error(problem)
			}
		}
	}
}

// dies has a rank die at a step, and says what is wrong with what came of it.
func (j *jaccl) dies(t *testing.T, step sidechannel.Step, victim, try int) string {
	t.Helper()
	how := []string{"exit", "kill"}[(victim+len(step))%2]
	once := filepath.Join(j.Work, fmt.Sprintf("died-%s-%d-%d", step, victim, try))
	job, _ := j.whole(t, "-work", "200ms", "-again", once, "-die", fmt.Sprintf("%d:%s:%s", victim, step, how))
	first := job.Attempts[0]
	t.Logf("rank %d dies at %s (%s): %s", victim, step, how, first.Message)
	switch {
	case first.FirstFailed == nil || *first.FirstFailed != victim || !strings.HasPrefix(first.Message, fmt.Sprintf("Rank %d on ", victim)):
		return fmt.Sprintf("rank %d dies at %s (%s): the cause is %v: %s %s", victim, step, how, value(first.FirstFailed), first.Reason, first.Message)
	case step == sidechannel.StepWaited: // whether some have joined is a matter of moments
	case step == sidechannel.StepJoined:
		if job.Phase != api.JobFailed || len(job.Attempts) != 1 {
			return fmt.Sprintf("rank %d dies at %s (%s): %s in attempt %d: %s", victim, step, how, job.Phase, job.Attempt, job.Message)
		}
	case job.Phase != api.JobSucceeded || job.Attempt != 2 || len(first.Joined) > 0:
		return fmt.Sprintf("rank %d dies at %s (%s): %s in attempt %d, of the first %v had joined: %s", victim, step, how, job.Phase, job.Attempt, first.Joined, job.Message)
	}
	return ""
}

func value(n *int) int {
	if n == nil {
		return -1
	}
	return *n
}

// testEndsWell has a rank end with 0 before it has joined, as MLX does that finds no
// group: that is no success.
func (j *jaccl) testEndsWell(t *testing.T) {
	is := is.New(t)
	job, _ := j.whole(t, "-die", "1:begin:well")
	is.Equal(job.Phase, api.JobFailed)
	is.Equal(job.Reason, api.ReasonNeverJoined)
	t.Log(job.Message)
}

// testKilled kills a rank at its work, where the others spin for ever and take no
// notice of SIGTERM: all end, and the devices are suspect until a job has used them.
func (j *jaccl) testKilled(t *testing.T) {
	is := is.New(t)
	id := j.detached(t, j.Nodes[0], j.args("-work", "-1s", "-stubborn")...)
	_, ranks := j.until(t, j.Nodes[0], id, "ranks that run", timeout, isRunning(j.size))
	endOf(ranks[1].PID)
	job, _ := j.until(t, j.Nodes[0], id, "end", after, hasEnded)
	is.Equal(job.Phase, api.JobFailed)
	is.Equal(value(job.Attempts[0].FirstFailed), ranks[1].Rank)
	areGone(t, after, pidsOf(ranks))
	suspects := func(want int, at ...*testcluster.Node) {
		t.Helper()
		for _, n := range at {
			documents(t, n.Mac, n.Client, fmt.Sprintf("%d suspect devices", want), after, api.StateSelect{Kinds: []api.Kind{api.KindCondition}, Nodes: []api.NodeRef{api.NodeRef(n.ID)}}, func(v *client.View) bool {
				return len(slices.DeleteFunc(v.Docs(), func(d api.Document) bool { return !strings.HasPrefix(d.Name, string(api.ReasonRDMAPortSuspect)) })) == want
			})
		}
	}
	suspects(j.size-1, j.Nodes...) // a cable to each other node
	j.testClear(t)
	suspects(j.size-2, j.Nodes[0])
	suspects(j.size-1, j.Nodes[1:]...)
	again, _ := j.whole(t)
	is.Equal(again.Phase, api.JobSucceeded)
	suspects(0, j.Nodes...)
}

// testClear has an administrator say that a device works: that counts for this Mac's
// end alone, and is on record.
func (j *jaccl) testClear(t *testing.T) {
	is := is.New(t)
	at := j.Nodes[0]
	cables := slices.DeleteFunc(call[api.RDMAListResult](t, at.Client, "rdma.list", nil).Links, func(r api.RDMAReadiness) bool {
		return r.Link.Low.Node != at.ID && r.Link.High.Node != at.ID
	})
	link := cables[0].Link
	own, isHere := link.End(at.ID)
	is.True(isHere)
	is.Equal(call[api.RDMAReadiness](t, at.Client, "rdma.clear", api.LinkSelect{Link: api.LinkRef(link.String())}).Link, link)
	_, err := client.Call[api.RDMAReadiness](t.Context(), at.Client, "rdma.clear", api.LinkSelect{Link: api.LinkRef(link.String())})
	is.Equal(api.AsError(err).Data.Reason, api.ReasonRDMAPortSuspect) // the other end's, which is for who is there
	is.True(strings.HasPrefix(api.AsError(err).Data.Remedy, "Run `fulmen rdma clear "))
	is.True(api.AsError(err).Data.Subject != own.String())
	entries := call[api.EventAuditResult](t, at.Client, "event.audit", api.EventAuditParams{}).Entries
	is.True(slices.ContainsFunc(entries, func(e api.AuditEntry) bool {
		return e.What == "rdma.clear" && e.Subject == link.String() && e.Reason == ""
	}))
}

// testHungDaemon stops the daemon of a node in the midst of a handshake, which parts
// it from the others without a word: the start is repeated once it is back.
func (j *jaccl) testHungDaemon(t *testing.T) {
	is := is.New(t)
	id := j.detached(t, j.Nodes[0], j.args("-late", "0:3s", "-work", "100ms")...)
	job, _ := j.until(t, j.Nodes[0], id, "a rank that is held", timeout, func(_ api.Job, ranks []api.Rank) bool {
		return slices.ContainsFunc(ranks, func(r api.Rank) bool { return r.Handshake != nil && r.Handshake.State == api.HandshakeHeld })
	})
	for _, n := range j.Nodes {
		if n.ID != job.Home && n != j.Nodes[0] {
			must(t, "a stop", n.Signal(syscall.SIGSTOP))
			defer n.Signal(syscall.SIGCONT)
			j.until(t, j.Nodes[0], id, "word that the attempt ends", timeout, func(job api.Job, _ []api.Rank) bool {
				return job.Phase != api.JobStarting && job.Phase != api.JobHandshake
			})
			must(t, "going on", n.Signal(syscall.SIGCONT))
			break
		}
	}
	must(t, "a whole cluster", j.Whole(t.Context()))
	job, _ = j.until(t, j.Nodes[0], id, "end", timeout, hasEnded)
	t.Log(job.Attempts[0].Message)
	is.Equal(job.Phase, api.JobSucceeded)
	is.True(len(job.Attempts) > 1)
	is.Equal(len(job.Attempts[0].Joined), 0)
}

// testTwo runs jobs of two ranks beside each other, in every order of their ranks:
// nobody finds a rank of another group in its own.
func (j *jaccl) testTwo(t *testing.T) {
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			late := fmt.Sprintf("%d:%dms", i%2, 100*i)
			c := j.run(t, "-n", "2", "--gpu", "shared", "--backend", "jaccl", "--", j.standin, "-late", late, "-work", "100ms")
			if got := end(t, c); got.status != 0 {
				t.Errorf("job %d ends with %d: %s", i, got.status, got.err)
			}
		})
	}
	all.Wait()
}

// testNeighbour kills rank 0 of one of two jobs on the same Macs, at any moment of its
// start: that is its own end alone.
func (j *jaccl) testNeighbour(t *testing.T) {
	random, rounds := testkit.Drawn(t).Source(0), 2
	if os.Getenv("FULMEN_SOAK") != "" {
		rounds = 50
	}
	for round := range rounds {
		var ids [2]api.JobID
		for i := range ids {
			late := fmt.Sprintf("%d:%dms", random.IntN(j.size), random.IntN(700))
			ids[i] = j.detached(t, j.Nodes[random.IntN(j.size)], "-n", strconv.Itoa(j.size), "--gpu", "shared", "--rank0", string(j.Nodes[random.IntN(j.size)].ID),
				"--backend", "jaccl", "--max-attempts", "1", "--", j.standin, "-late", late, "-work", "300ms")
		}
		<-time.After(time.Duration(random.IntN(1500)) * time.Millisecond) // at any moment
		isKilled := false
		for _, p := range j.parts(t) {
			if p.ref.Job == ids[0] && p.ref.Rank == 0 && p.rank != 0 {
				isKilled = syscall.Kill(p.rank, syscall.SIGKILL) == nil
			}
		}
		for i, id := range ids {
			job, _ := j.until(t, j.Nodes[0], id, "end", timeout, hasEnded)
			switch {
			case i == 0 && isKilled && job.Phase == api.JobFailed && job.Reason != api.ReasonRankKilled,
				(i == 1 || !isKilled) && job.Phase != api.JobSucceeded:
				t.Errorf("round %d, job %d, rank 0 of 0 killed %v: %s %s %s", round, i, isKilled, job.Phase, job.Reason, job.Message)
			}
		}
	}
}

// Rank 0 comes later than JACCL waits for it: that costs nothing but the wait.
func TestJACCLRank0Late(t *testing.T) {
	t.Parallel() // it mostly waits
	needJobs(t)
	is := is.New(t)
	j := newJACCL(t, "hub-3", strings.Replace(unhurried, "starting = \"1m\"", "starting = \"15s\"", 1))
	job, ranks := j.whole(t, "-late", "0:20s")
	is.Equal(job.Phase, api.JobSucceeded)
	is.Equal(job.Attempt, 1)
	reported := j.printed(t, ranks[0].Job)
	is.True(!strings.Contains(reported, "to connect failed"))
	t.Log(reported)
}

// A rank that hangs in the midst of joining, all others connected, is waited for by name,
// and ends the start by its deadline.
func TestJACCLHandshakeDeadline(t *testing.T) {
	t.Parallel() // it mostly waits
	needJobs(t)
	is := is.New(t)
	j := newJACCL(t, "hub-3", unhurried+"handshake = \"2s\"\n")
	once := filepath.Join(j.Work, "hung")
	id := j.detached(t, j.Nodes[0], j.args("-again", once, "-die", "2:numbered:stop", "-stubborn")...)
	j.until(t, j.Nodes[0], id, "word that rank 2 alone is waited for", soon, func(_ api.Job, ranks []api.Rank) bool {
		return slices.ContainsFunc(ranks, func(r api.Rank) bool { return r.Handshake != nil && slices.Equal(r.Handshake.Missing, []int{2}) })
	})
	job, _ := j.until(t, j.Nodes[0], id, "end", timeout, hasEnded)
	t.Log(job.Attempts[0].Message)
	is.Equal(job.Attempts[0].Reason, api.ReasonHandshakeTimeout)
	is.Equal(value(job.Attempts[0].FirstFailed), 2)
	is.Equal(job.Phase, api.JobSucceeded)
}

// TestJACCLJobsWhileEverythingIsKilled is what its namesake is for rings, with
// ranks that joined by side channels.
func TestJACCLJobsWhileEverythingIsKilled(t *testing.T) {
	t.Parallel() // it mostly waits
	needJobs(t)
	rounds := 6
	if os.Getenv("FULMEN_SOAK") != "" {
		rounds = 200
	}
	j := newJACCL(t, "hub-3", shortly)
	random := testkit.Drawn(t).Source(0)
	hang := []string{"--backend", "jaccl", "--", j.standin, "-work", "-1s"}
	for round := range rounds {
		f := anyFault(random)
		if !t.Run(fmt.Sprintf("%d: %v", round, f), func(t *testing.T) { j.killOnce(t, random, f, hang, append(hang, "-stubborn")) }) {
			t.FailNow() // the next round begins where this one ends
		}
	}
}
