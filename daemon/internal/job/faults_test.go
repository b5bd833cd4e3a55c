package job

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native"
	"fulmen/native/nativetest/testkit"
)

// The home's daemon is killed at every moment of a job's life and started again:
// the job goes on, or ends and is begun anew, and ends once.
func TestHomeRestartsAtEveryMoment(t *testing.T) {
	moments := []time.Duration{0, time.Millisecond, 3 * time.Millisecond, 10 * time.Millisecond, 2 * time.Second,
		8 * time.Second, 9999 * time.Millisecond, 10 * time.Second, 10001 * time.Microsecond, 10003 * time.Millisecond}
	for _, away := range []time.Duration{0, 3 * time.Second, 50 * time.Second} {
		for _, at := range moments {
			in(t, 3, func(t *testing.T, w *world) {
				a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
				home := []*machine{a, b}[int(at/time.Millisecond)%2] // also the node to which it is handed
				r := program(words("sleep", "10s"), home, c)
				r.Retries = 3 // of 50 s leases run out, and others take over
				id := a.submits(r)
				pass(at)
				a.kill()
				home.kill()
				pass(away)
				a.start()
				if home != a {
					home.start()
				}
				job := home.until(id, api.JobSucceeded, 5*time.Minute)
				if code(t, job) != 0 || w.living(id) != 0 || away == 0 && len(job.Attempts) > 2 {
					t.Fatalf("killed at %s for %s: %+v", at, away, job)
				}
			})
		}
	}
}

// A home that is killed while it starts ranks says that, of itself and nobody else, and
// starts them again without a retry.
func TestAHomeKilledWhileItStarts(t *testing.T) {
	for _, away := range []time.Duration{0, 3 * time.Second, 20 * time.Second} {
		in(t, 2, func(t *testing.T, w *world) { // of two none takes over
			is := is.New(t)
			a, b := w.nodes[0], w.nodes[1]
			w.slowStart = 500 * time.Millisecond
			id := a.submits(program(words("sleep", "40s"), a, b))
			a.until(id, api.JobStarting, time.Second)
			a.kill()
			pass(away)
			a.start()
			job := b.until(id, api.JobSucceeded, 2*time.Minute)
			is.Equal(len(job.Attempts), 2)
			first := job.Attempts[0]
			is.Equal(first.Reason, api.ReasonHomeRestarted)
			is.Equal(first.Message, "The daemon of mac-0, which keeps the job, was restarted while it started the ranks.")
			is.True(first.FirstFailed == nil && first.ExitCode == nil && first.Uncounted)
			is.Equal(job.Retried, 0)
			is.Equal(w.living(id), 0)
		})
	}
}

// A daemon that is restarted while its ranks run finds them again: nothing ends.
func TestARestartLeavesRanksAlone(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		id := a.submits(program(words("sleep", "100s"), a, b))
		a.until(id, api.JobRunning, time.Second)
		pass(5 * time.Second)
		a.kill()
		pass(300 * time.Millisecond)
		a.start()
		job := a.until(id, api.JobSucceeded, 2*time.Minute)
		is.Equal(len(job.Attempts), 1)
		is.Equal(w.starts, 2)
	})
}

// A daemon that is killed and takes longer to be back than a Mac may be silent, and longer
// than a renewal, ends nothing: its Mac's system says that it is there.
func TestAKilledDaemonIsWaitedFor(t *testing.T) {
	for _, away := range []time.Duration{time.Second, 5600 * time.Millisecond, 12 * time.Second} {
		in(t, 2, func(t *testing.T, w *world) {
			is := is.New(t)
			a, b := w.nodes[0], w.nodes[1]
			id := a.submits(program(words("sleep", "100s"), a, b))
			a.until(id, api.JobRunning, time.Second)
			pass(6 * time.Second)
			b.kill()
			pass(away)
			b.start()
			is.Equal(len(a.until(id, api.JobSucceeded, 2*time.Minute).Attempts), 1)
			is.Equal(w.starts, 2)
		})
	}
	in(t, 2, func(t *testing.T, w *world) { // but not for ever
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		id := a.submits(program(words("sleep", "100s"), a, b))
		a.until(id, api.JobRunning, time.Second)
		b.kill()
		job := a.until(id, api.JobFailed, time.Minute)
		is.Equal(job.Reason, api.ReasonNodeLost)
		is.True(strings.HasPrefix(job.Message, "mac-1 "))
	})
}

// The answer to an order to start is lost: it is given again long before the start
// would be too late.
func TestALostAnswerToAStart(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		b.unanswered.Store(2)
		id := a.submits(program(words("sleep", "10s"), a, b))
		is.Equal(a.until(id, api.JobRunning, 12*time.Second).Attempt, 1)
		is.Equal(len(a.until(id, api.JobSucceeded, time.Minute).Attempts), 1)
		is.Equal(w.starts, 2)
		b.unanswered.Store(3) // for ever: the attempt is given up, and begun anew
		id = a.submits(program(words("sleep", "10s"), a, b))
		is.True(a.until(id, api.JobSucceeded, 3*time.Minute).Attempt > 1)
	})
}

// A rank whose start is late is not taken for lost because its node has started another.
func TestALateStartBesideAnother(t *testing.T) {
	in(t, 1, func(t *testing.T, w *world) {
		is := is.New(t)
		w.times.Renewal = time.Second
		a := w.nodes[0]
		a.unanswered.Store(1)
		r := program(words("sleep", "10s"), a)
		r.Placement.Ranks, r.Placement.RanksPerNode = 2, 2
		id := a.submits(r)
		is.Equal(a.until(id, api.JobSucceeded, time.Minute).Attempt, 1)
		is.Equal(w.starts, 2)
	})
}

// A rank that its node no longer has, without a document of its end, is lost, whatever
// the group's other nodes list meanwhile.
func TestARankThatItsNodeNoLongerHas(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		is := is.New(t)
		w.times.Renewal = time.Second
		a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
		id := a.submits(program(words("sleep", "100s"), a, b, c))
		a.until(id, api.JobRunning, time.Second)
		pass(5 * time.Second)
		b.mu.Lock()
		delete(b.procs, api.RankRef{Job: id, Attempt: 1, Rank: 1})
		b.mu.Unlock()
		job := a.until(id, api.JobFailed, 10*time.Second)
		is.Equal(job.Reason, api.ReasonRankLost)
		is.True(strings.Contains(job.Message, w.nameOf(b.id)+" no longer has the rank"))
	})
}

// Values of variables are in memory only: after a restart of the home another
// attempt is not begun without them.
func TestValuesAreLostByARestart(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		r := program(words("env", "K", "v"), b, a)
		r.Program.Variables = []string{"K"}
		b.cut(a)
		pass(2 * time.Second)
		got, err := a.Submit(t.Context(), a.person(), api.JobSubmitParams{Request: r, Environment: map[string]string{"K": "v"}})
		is.NoErr(err)
		id := got.Job
		a.kill()
		a.start()
		b.join(a)
		job := a.until(id, api.JobFailed, time.Minute)
		is.Equal(job.Reason, api.ReasonVariablesLost)
		is.True(job.Message != "")
		_, err = a.Retry(t.Context(), a.person(), api.JobSelect{Job: id})
		is.True(errors.Is(err, api.ReasonVariablesLost))
	})
}

// A home that was restarted while a job waited asks the submitter's node for them,
// which tells nobody else.
func TestValuesComeFromTheSubmittersNode(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
		w.blind = true
		first := a.submits(program(words("sleep", "30s"), b))
		a.until(first, api.JobRunning, time.Minute)
		r := program(words("env", "K", "v"), b)
		r.Program.Variables = []string{"K"}
		got, err := a.Submit(t.Context(), a.person(), api.JobSubmitParams{Request: r, Environment: map[string]string{"K": "v"}})
		is.NoErr(err)
		pass(5 * time.Second)
		job := a.sees(got.Job)
		is.Equal(job.Home, b.id)
		is.True(!job.Phase.Ended())
		ask := func(by *machine, homes []api.Succession) (reported api.PeerJobResult, err error) {
			request := api.PeerJobParams{RequestKind: api.RequestValues, Job: got.Job, By: a.person().Principal, Homes: homes}
			return reported, by.cfg.Peers.Call(t.Context(), a.id, "peer.job", request, &reported)
		}
		reported, err := ask(b, job.Homes)
		is.NoErr(err)
		is.Equal(reported.Environment, map[string]string{"K": "v"})
		own := job.StepTo(cluster, got.Job, c.id, 9).Offer(c.key) // by who is no home
		for _, homes := range [][]api.Succession{nil, job.Homes, {own}, append(slices.Clone(job.Homes), own)} {
			_, err = ask(c, homes)
			is.True(errors.Is(err, api.ReasonHomeNotProven))
		}
		b.kill()
		b.start()
		is.Equal(code(t, a.until(got.Job, api.JobSucceeded, 2*time.Minute)), 0)
		_, err = ask(b, job.Homes)
		is.True(errors.Is(err, api.ReasonJobEnded)) // and is told nothing any more
	})
}

func TestRetryWithValues(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		r := program(words("env", "K", "v"), b, a)
		r.Program.Variables, r.RequestID = []string{"K"}, "once"
		got, err := a.Submit(t.Context(), a.person(), api.JobSubmitParams{Request: r, Environment: map[string]string{"K": "v"}})
		is.NoErr(err)
		_, err = a.Retry(t.Context(), a.person(), api.JobSelect{Job: got.Job})
		is.True(errors.Is(err, api.ReasonJobRunning))
		a.until(got.Job, api.JobSucceeded, time.Minute)
		again, err := a.Retry(t.Context(), a.person(), api.JobSelect{Job: got.Job})
		is.NoErr(err)
		is.True(again.Job != got.Job)
		a.until(again.Job, api.JobSucceeded, time.Minute)
	})
}

// The home is gone for good: a majority takes the job over, and runs it again
// only when no rank of the former attempt can live.
func TestTakeOverByMajority(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
		r := program(words("sleep", "60s"), a, b)
		r.Placement.Nodes, r.Placement.Rank0 = nil, ""
		r.Retries = 1
		id := a.submits(r)
		a.until(id, api.JobRunning, time.Second)
		pass(5 * time.Second)
		a.kill()
		pass(3 * time.Second)
		is.Equal(b.sees(id).Phase, api.JobHomeLost)
		got, err := b.List(t.Context(), Caller{Principal: api.Principal{User: "ada", Node: a.id}}, api.JobListParams{})
		is.NoErr(err)
		is.Equal(got.Jobs[0].Phase, api.JobHomeLost)
		job := c.until(id, api.JobRunning, 5*time.Minute)
		is.Equal(job.Home, b.id) // the lowest of those in sight
		is.Equal(job.Epoch, api.NextTerm(1))
		is.Equal(job.Attempt, 2)
		a.start() // and follows
		c.until(id, api.JobSucceeded, 5*time.Minute)
		pass(5 * time.Second)
		is.Equal(a.sees(id).Phase, api.JobSucceeded)
	})
}

// Of two Macs none is a majority: a person says that the home is gone.
func TestTakeOverByAPerson(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		w.friend = b.person().Principal
		r := program(words("sleep", "60s"), a)
		r.Placement.Nodes, r.Retries = nil, 1
		id := a.submits(r)
		a.until(id, api.JobRunning, time.Second)
		pass(time.Second)
		err := b.TakeOver(t.Context(), b.person(), api.JobSelect{Job: id})
		is.True(errors.Is(err, api.ReasonHomeInSight))
		a.kill()
		pass(10 * time.Minute)
		is.Equal(b.sees(id).Phase, api.JobHomeLost)
		err = b.Stop(t.Context(), b.person(), api.JobStopParams{Job: id})
		is.True(errors.Is(err, api.ReasonHomeLost))
		is.NoErr(b.TakeOver(t.Context(), b.person(), api.JobSelect{Job: id}))
		job := b.until(id, api.JobSucceeded, 5*time.Minute)
		is.Equal(job.Epoch, api.NextTerm(1))
		is.Equal(job.Home, b.id)
		a.start()
		pass(5 * time.Second)
		is.Equal(a.sees(id).Phase, api.JobSucceeded)
	})
}

// Whatever is cut, killed and joined, ranks of two attempts never live at once (the
// rig looks at every start), and once all is well every job ends.
func TestRandomFaults(t *testing.T) {
	starts, takenOver := 0, 0
	rounds := 20
	if testing.Short() {
		rounds = 12
	}
	if os.Getenv("FULMEN_SOAK") != "" {
		rounds = 200
	}
	for seed := range testkit.Upto(t, rounds) {
		in(t, 2+int(seed%4), func(t *testing.T, w *world) {
			rng := seed.Source(1)
			a := w.nodes[rng.IntN(len(w.nodes))]
			r := program(words("sleep", fmt.Sprint(5+rng.IntN(200), "s")))
			r.Placement.Ranks, r.Retries = 1+rng.IntN(len(w.nodes)), 50
			id := a.submits(r)
			for range 4 + rng.IntN(12) {
				pass(time.Duration(rng.Int64N(int64(80 * time.Second))))
				x, y := w.nodes[rng.IntN(len(w.nodes))], w.nodes[rng.IntN(len(w.nodes))]
				switch rng.IntN(5) {
				case 0:
					x.kill()
				case 1:
					if !x.isUp() {
						x.start()
					}
				case 2:
					x.cut(y)
				case 3:
					x.cut(w.nodes...)
				case 4:
					x.join(y)
				}
			}
			for _, m := range w.nodes {
				m.join(w.nodes...)
				if !m.isUp() {
					m.start()
				}
			}
			var job api.Job
			for end := time.Now().Add(30 * time.Minute); ; pass(time.Second) {
				if job = w.nodes[0].sees(id); job.Phase.Ended() {
					break
				}
				if w.broken != "" || time.Now().After(end) {
					t.Fatalf("round %d: the job hangs in %s for %s %s; broken: %s", seed, job.Phase, job.Reason, job.WaitingFor, w.broken)
				}
			}
			pass(5 * time.Second)
			if w.living(id) != 0 {
				t.Fatalf("round %d: an orphan runs", seed)
			}
			pass(w.times.Lease)
			for _, m := range w.nodes {
				for holder, until := range m.grants {
					if until.After(time.Now()) {
						t.Fatalf("round %d: the grant %s outlives its job", seed, holder)
					}
				}
			}
			starts += w.starts
			if job.Epoch > 2 {
				takenOver++
			}
		})
	}
	if starts < 2*rounds || takenOver == 0 {
		t.Fatalf("%d starts, %d take-overs: the test tests nothing", starts, takenOver)
	}
}

// Whatever a call came to, the cause names the Mac that was called, and the end of its
// time is no fault inside Fulmen.
func TestAFailedCallNamesItsMac(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		for _, c := range []struct {
			err     error
			reason  api.Reason
			message string
		}{
			{api.NewError(api.ReasonDiskFull, ""), api.ReasonDiskFull, "mac-1: the disk is full."},
			{api.Errorf(api.ReasonDiskFull, "", "The disk of mac-1 is full."), api.ReasonDiskFull, "The disk of mac-1 is full."},
			{api.NewError(api.ReasonUnreachable, b.id.Display()), api.ReasonNodeUnreachable, "mac-1: the node does not answer on any path."},
			{errors.New("a nil map"), api.ReasonInternal, "mac-1: something went wrong inside Fulmen."},
			{context.Canceled, api.ReasonNodeUnreachable, "mac-1 did not answer in time."},
			{api.AsError(&native.DeadlineError{WaitingFor: "it"}), api.ReasonNodeUnreachable, "mac-1 did not answer in time."},
			{&native.DeadlineError{WaitingFor: "it", After: time.Second}, api.ReasonNodeUnreachable, "mac-1 did not answer within 1s."},
		} {
			got := a.causeOf(c.err, b.id)
			is.Equal(got.Reason, c.reason)
			is.Equal(got.Message, c.message)
		}
	})
}
