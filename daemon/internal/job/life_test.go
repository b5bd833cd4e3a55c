package job

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestSuccess(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
		id := a.submits(program(words("sleep", "20s"), a, b))
		began := time.Now()
		job := a.until(id, api.JobRunning, time.Second)
		is.True(time.Since(began) < 50*time.Millisecond)
		is.Equal(job.Home, a.id)
		is.Equal(job.Epoch, uint64(1))
		is.Equal(w.living(id), 2)
		job = c.until(id, api.JobSucceeded, 30*time.Second) // everybody knows
		is.Equal(code(t, job), 0)
		is.Equal(len(job.Attempts), 1)
		pass(time.Second)
		for _, m := range w.nodes {
			is.Equal(len(m.grants), 0)
			is.Equal(len(m.actors()), 0)
		}
	})
}

// A node with several ranks grants once, and each of them is looked after: one that fails
// ends them all.
func TestSeveralRanksANode(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		r := program(words("exit", "42", "4", "2m"), a, b)
		r.Placement.Ranks, r.Placement.RanksPerNode = 6, 3
		id := a.submits(r)
		a.until(id, api.JobRunning, time.Second)
		is.Equal(w.living(id), 6)
		for i, m := range []*machine{a, b} {
			is.Equal(slices.Collect(maps.Keys(m.grants)), []string{api.RankRef{Job: id, Attempt: 1, Rank: 3 * i}.String()})
		}
		got, err := a.Get(t.Context(), a.person(), api.JobSelect{Job: id})
		is.NoErr(err)
		is.Equal(len(got.Ranks), 6)
		list, err := a.List(t.Context(), a.person(), api.JobListParams{})
		is.NoErr(err)
		is.Equal(list.Jobs[0].Nodes, []api.NodeID{a.id, b.id})
		is.Equal(list.Jobs[0].Ranks, 6)
		pass(time.Minute) // renewals list all of them
		is.Equal(w.living(id), 6)
		job := a.until(id, api.JobFailed, 2*time.Minute)
		is.Equal(code(t, job), 42)
		is.Equal(*job.Attempts[0].FirstFailed, 4)
		pass(time.Second)
		is.Equal(w.living(id), 0)
		is.Equal(len(a.grants)+len(b.grants), 0)
	})
}

// A job whose rank 0 is elsewhere has its home there: the submitter may leave.
func TestHandOver(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
		r := program(words("env", "TOKEN", "s3cret"), b, c)
		r.Program.Variables = []string{"TOKEN"}
		got, err := a.Submit(t.Context(), a.person(), api.JobSubmitParams{Request: r, Environment: map[string]string{"TOKEN": "s3cret"}})
		is.NoErr(err)
		job := c.until(got.Job, api.JobRunning, time.Second)
		is.Equal(job.Home, b.id)
		is.Equal(job.Epoch, uint64(2))
		a.kill()
		job = b.until(got.Job, api.JobSucceeded, time.Minute)
		is.Equal(code(t, job), 0) // the value was there
	})
}

func TestFirstCause(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
		id := a.submits(program(words("exit", "42", "1", "5s"), a, b, c))
		a.until(id, api.JobRunning, time.Second)
		job := a.until(id, api.JobFailed, 20*time.Second)
		is.Equal(code(t, job), 42)
		is.Equal(job.Reason, api.ReasonRankFailed)
		is.Equal(*job.Attempts[0].FirstFailed, 1)
		is.Equal(len(job.Attempts), 1) // nothing is repeated after the start
		is.Equal(w.living(id), 0)
		got, err := a.Get(t.Context(), a.person(), api.JobSelect{Job: id})
		is.NoErr(err)
		is.Equal(len(got.Ranks), 3)
		named := 0
		for _, d := range got.Ranks {
			var r api.Rank
			is.NoErr(d.Decode(&r))
			if r.Reason != api.ReasonPeerRankFailed {
				named++
			}
		}
		is.Equal(named, 1) // the others say that they were ended for it
	})
}

func TestStopAndKill(t *testing.T) {
	for _, kill := range []bool{false, true} {
		in(t, 3, func(t *testing.T, w *world) {
			is := is.New(t)
			a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
			id := a.submits(program(words("hang"), b, c))
			a.until(id, api.JobRunning, time.Second)
			began := time.Now()
			is.NoErr(a.Stop(t.Context(), a.person(), api.JobStopParams{Job: id, Kill: kill})) // at another home
			job := a.until(id, api.JobStopped, 20*time.Second)
			is.Equal(job.Reason, api.ReasonStoppedByPerson)
			is.Equal(code(t, job), 128+15)
			is.Equal(kill, time.Since(began) < time.Second)
			is.NoErr(a.Stop(t.Context(), a.person(), api.JobStopParams{Job: id})) // as it is
		})
	}
}

func TestClientGone(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		r := program(words("hang"), b, a)
		detached := a.submits(r)
		a.until(detached, api.JobRunning, time.Second)
		is.NoErr(a.ClientGone(t.Context(), detached))
		pass(20 * time.Second)
		is.Equal(a.sees(detached).Phase, api.JobRunning)
		is.NoErr(a.Stop(t.Context(), a.person(), api.JobStopParams{Job: detached, Kill: true}))
		r.Detached = false
		id := a.submits(r)
		a.until(id, api.JobRunning, time.Minute)
		is.NoErr(a.ClientGone(t.Context(), id))
		is.Equal(a.until(id, api.JobStopped, 20*time.Second).Reason, api.ReasonClientGone)
	})
}

func TestNodeLostEndsTheGroup(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
		id := a.submits(program(words("hang"), a, b, c))
		a.until(id, api.JobRunning, time.Second)
		pass(10 * time.Second)
		is.Equal(a.sees(id).Phase, api.JobRunning)
		cut := time.Now()
		c.cut(a, b)
		job := a.until(id, api.JobEnding, 3*time.Second)
		is.True(time.Since(cut) <= 3*time.Second)
		is.Equal(job.Reason, api.ReasonNodeLost)
		pass(time.Until(cut.Add(4 * time.Second)))
		is.Equal(w.living(id), 1)                                     // what is in sight was signalled at once
		job = a.until(id, api.JobFailed, a.w.times.Lease+time.Minute) // and what is not has outlived no lease
		is.Equal(w.living(id), 0)
		is.Equal(job.Attempts[0].Reason, api.ReasonNodeLost)
		is.Equal(code(t, job), api.ExitNotStarted)
	})
}

// Two jobs want the same GPUs: the second stands in line, and says for whom.
func TestWaitsForGrants(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		first := a.submits(program(words("sleep", "90s"), a, b))
		a.until(first, api.JobRunning, time.Second)
		second := b.submits(program(words("sleep", "1s"), b, a))
		pass(10 * time.Second)
		job := b.sees(second)
		is.Equal(job.Phase, api.JobPlacing)
		is.Equal(job.Reason, api.ReasonGPUBusy)
		is.True(job.WaitingFor != "")
		b.until(second, api.JobSucceeded, 3*time.Minute)
		is.Equal(a.sees(first).Phase, api.JobSucceeded)
	})
}

// A node that lends its GPU although other programs use it says so, and the attempt
// keeps it for people.
func TestTheGPUIsSharedWithOtherPrograms(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		b.beside = api.ReasonGPUUsedByOtherProgram
		id := a.submits(program(words("sleep", "1s"), a, b))
		job := a.until(id, api.JobSucceeded, time.Minute)
		is.Equal(job.Attempts[0].Plan.Notes, []api.Cause{{Reason: api.ReasonGPUUsedByOtherProgram, Subject: string(b.id),
			Message: "other programs used the GPU of mac-1 when the job started, which may be slow"}})
	})
}

func TestPreflightFails(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		w.lack["nothing"] = api.Cause{Reason: api.ReasonProgramMissing, Message: "nothing is not there on mac-0."}
		id := a.submits(program(words("nothing"), a, b))
		job := a.until(id, api.JobFailed, 5*time.Second)
		is.Equal(job.Reason, api.ReasonProgramMissing)
		is.Equal(job.Message, "nothing is not there on mac-0.")
		is.Equal(code(t, job), api.ExitProgramMissing)
		is.Equal(w.starts, 0)
	})
}

// A preflight for which a Mac was too slow is repeated, and says meanwhile what it was.
func TestPreflightTakesTooLong(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		w.lack["sleep"] = api.Cause{Reason: api.ReasonDeadline, Message: "mac-0: the login shell was not done in time", Remedy: "Try again."}
		id := a.submits(program(words("sleep", "1s"), a, b))
		job := a.until(id, api.JobBackoff, 5*time.Second)
		is.Equal(job.Message, "mac-0: the login shell was not done in time. Try again.")
		w.mu.Lock()
		delete(w.lack, "sleep")
		w.mu.Unlock()
		a.until(id, api.JobSucceeded, time.Minute)
	})
}

// A job without a place takes the first there is.
func TestAPlaceAppears(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
		c.kill()
		pass(2 * time.Second)
		id := a.submits(program(words("sleep", "1s"), a, b, c))
		pass(time.Minute)
		is.Equal(a.sees(id).Reason, api.ReasonNodeUnreachable)
		second := a.submits(program(words("sleep", "1s"), a, b, c))
		pass(time.Second)
		is.Equal(a.sees(second).Reason, api.ReasonWaitingInLine) // it waits for what the first waits for
		c.start()
		a.until(id, api.JobSucceeded, 10*time.Second)
		a.until(second, api.JobSucceeded, 10*time.Second)
	})
}

// What changes while a plan is made counts for it too.
func TestAPlaceAppearsWhilePlanning(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
		c.kill()
		pass(2 * time.Second)
		w.slow = 10 * time.Second
		id := a.submits(program(words("sleep", "1s"), a, b, c))
		pass(time.Second)
		c.start()
		a.until(id, api.JobSucceeded, 2*time.Minute)
	})
}

func TestFullDisk(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		full := func(on bool) { a.mu.Lock(); a.full = on; a.mu.Unlock() }
		full(true)
		_, err := a.Submit(t.Context(), a.person(), api.JobSubmitParams{Request: program(words("hang"), a, b)})
		is.Equal(api.AsError(err).Data.Reason, api.ReasonDiskFull) // refused, and nothing is left of it
		pass(0)
		is.Equal(len(a.actors()), 0)
		full(false)
		id := a.submits(program(words("sleep", "10s"), a, b))
		a.until(id, api.JobRunning, time.Second)
		full(true)
		pass(20 * time.Second) // the end cannot be written
		is.Equal(a.sees(id).Phase, api.JobRunning)
		full(false)
		a.until(id, api.JobSucceeded, 5*time.Second)

		id = b.submits(program(words("hang"), a, b))
		b.until(id, api.JobRunning, time.Second)
		full(true)
		for range 2 {
			began := time.Now()
			err = b.Stop(t.Context(), b.person(), api.JobStopParams{Job: id})
			is.True(errors.Is(err, api.ReasonDiskFull)) // at once, and says that it will
			is.True(time.Since(began) < time.Second)
		}
		full(false)
		is.Equal(b.until(id, api.JobStopped, 10*time.Second).Reason, api.ReasonStoppedByPerson)
	})
}

// A home that could not write what it was about to do renews nobody meanwhile, and says so.
func TestADiskThatIsFullForLongerThanALease(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		a.preparing.takes, b.preparing.takes = 10*time.Second, 10*time.Second
		spec := program(words("hang"), a, b)
		spec.Program.Prepare, spec.MaxAttempts = []string{"make ready"}, 1
		id := a.submits(spec)
		a.until(id, api.JobStarting, time.Second)
		a.mu.Lock()
		a.full = true
		a.mu.Unlock()
		pass(80 * time.Second)
		a.mu.Lock()
		a.full = false
		a.mu.Unlock()
		job := a.until(id, api.JobFailed, time.Minute)
		is.Equal(job.Reason, api.ReasonLeaseExpired)
		is.Equal(job.Attempts[0].FirstFailed, nil)
		is.True(strings.HasPrefix(job.Message, "mac-0, which keeps the job, could not write to its disk for 1m"))
	})
}

// A job of which no rank prints is ended after a while. Printing is learnt of with the
// renewals, and asked for before the verdict where these come more seldom.
func TestSilence(t *testing.T) {
	for _, limit := range []float64{1, 5, 12} {
		for ranks := 1; ranks <= 2; ranks++ {
			for _, isDetached := range []bool{false, true} {
				in(t, 2, func(t *testing.T, w *world) {
					is := is.New(t)
					a := w.nodes[0]
					r := program(words("hang"), w.nodes[:ranks]...)
					r.Deadlines.SilenceS, r.Detached = &limit, isDetached
					set := func(n int64) { w.mu.Lock(); w.prints = n; w.mu.Unlock() }
					set(10)
					id := a.submits(r)
					a.until(id, api.JobRunning, time.Second)
					pass(time.Minute)
					is.Equal(a.sees(id).Phase, api.JobRunning)
					set(0)
					from := time.Now()
					job := a.until(id, api.JobFailed, 30*time.Second)
					is.Equal(job.Reason, api.ReasonSilentTooLong)
					took := time.Since(from).Seconds()
					is.True(took >= limit && took < limit+2*api.DefaultLeaseRenewal.Seconds()+2)
				})
			}
		}
	}
}
