package job

import (
	"fmt"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// The wall clock is set while a job runs: no lease, no deadline and no beat counts
// on it. The job goes on to its end as it would have.
func TestClockSteps(t *testing.T) {
	for _, step := range []time.Duration{-365 * 24 * time.Hour, -time.Minute, 31 * time.Second, 1000 * time.Hour} {
		in(t, 3, func(t *testing.T, w *world) {
			is := is.New(t)
			a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
			r := program(words("sleep", "100s"), a, b)
			limit := 120.0
			r.Deadlines.RunS = &limit
			began := time.Now()
			id := a.submits(r)
			a.until(id, api.JobRunning, time.Second)
			pass(7 * time.Second)
			a.step.Store(int64(step)) // of the home
			pass(20 * time.Second)
			b.step.Store(int64(-step)) // and of a member
			pass(20 * time.Second)
			a.step.Store(0)
			for _, m := range w.nodes {
				is.Equal(m.sees(id).Phase, api.JobRunning)
			}
			job := c.until(id, api.JobSucceeded, time.Minute)
			is.True(time.Since(began) < 102*time.Second)
			is.Equal(len(job.Attempts), 1)
			is.Equal(w.starts, 2)
			pass(time.Second)
			for _, m := range w.nodes {
				is.Equal(len(m.grants), 0)
			}
		})
	}
}

// A home that is started again under another wall clock finds its ranks, and one
// that is gone is replaced when its time has come, whatever clocks say.
func TestClockStepsWhileTheHomeIsAway(t *testing.T) {
	for _, step := range []time.Duration{-9 * time.Minute, 9 * time.Minute} {
		in(t, 3, func(t *testing.T, w *world) {
			is := is.New(t)
			a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
			r := program(words("sleep", "60s"), a, b)
			r.Placement.Nodes, r.Placement.Rank0, r.Retries = nil, "", 1
			id := a.submits(r)
			a.until(id, api.JobRunning, time.Second)
			a.kill()
			a.step.Store(int64(step))
			a.start()
			pass(10 * time.Second)
			is.Equal(a.sees(id).Phase, api.JobRunning)
			is.Equal(w.starts, 2)
			a.kill()
			pass(5 * time.Second)
			b.step.Store(int64(step))
			c.step.Store(int64(-step))
			pass(10 * time.Second)
			is.Equal(b.sees(id).Phase, api.JobHomeLost) // its ranks may live
			is.Equal(w.living(id), 2)
			is.Equal(c.until(id, api.JobSucceeded, 5*time.Minute).Home, b.id)
		})
	}
}

// By a spec that has expired, or that is of a time to come, nothing more is started;
// what runs runs on.
func TestAnExpiredSpecStartsNothing(t *testing.T) {
	for _, step := range []time.Duration{-20 * time.Minute, api.SpecLifetime + 20*time.Minute} {
		in(t, 2, func(t *testing.T, w *world) {
			is := is.New(t)
			a, b := w.nodes[0], w.nodes[1]
			id := a.submits(program(words("sleep", "60s"), a))
			a.until(id, api.JobRunning, time.Second)
			r := program(words("sleep", "1s"), a, b)
			late := a.submits(r) // waits for the other
			pass(5 * time.Second)
			b.step.Store(int64(step))
			a.until(id, api.JobSucceeded, 2*time.Minute)
			is.Equal(a.until(late, api.JobFailed, time.Minute).Reason, api.ReasonSpecExpired)
			is.Equal(w.starts, 1)
		})
	}
}

// A kept job is started however late, and its end is remembered while its submitter's
// node is a member.
func TestAKeptJobHasNoExpiry(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		r := program(words("sleep", "1s"), a, b)
		r.Kept = true
		a.submits(program(words("sleep", "60s"), b))
		id := a.submits(r) // waits for the other
		pass(5 * time.Second)
		late := int64(2 * api.SpecLifetime)
		a.step.Store(late)
		b.step.Store(late)
		a.until(id, api.JobBackoff, 2*time.Minute) // its program has ended, and is started again
		is.NoErr(a.Stop(t.Context(), a.person(), api.JobStopParams{Job: id}))
		a.until(id, api.JobStopped, 2*time.Minute)
		ordinary := a.submits(program(words("sleep", "1s"), a))
		a.until(ordinary, api.JobSucceeded, 2*time.Minute)
		remembers := func() (kept, other bool) {
			b.kill()
			b.start()
			pass(2 * time.Second)
			_, kept = b.Jobs.memory[id]
			_, other = b.Jobs.memory[ordinary]
			return kept, other
		}
		for _, id := range []api.JobID{id, ordinary} {
			is.NoErr(a.Delete(t.Context(), a.person(), api.JobDeleteParams{Job: id}))
		}
		pass(time.Second)
		kept, other := remembers()
		is.True(kept && other)
		b.step.Store(2 * late)
		kept, other = remembers()
		is.True(kept && !other)
		w.removes(a)
		kept, _ = remembers()
		is.True(!kept)
	})
}

// A clock that was set back makes no job the oldest: the last to end is kept.
func TestClockSetBackKeepsTheLastJobs(t *testing.T) {
	in(t, 1, func(t *testing.T, w *world) {
		is := is.New(t)
		a := w.nodes[0]
		a.cfg.Keep = 5
		var last api.JobID
		for n := range 8 {
			if n == 5 {
				a.step.Store(int64(-24 * time.Hour))
			}
			last = a.submits(program(words("env", "N", fmt.Sprint(n)), a))
			pass(time.Second)
		}
		pass(time.Minute)
		got, err := a.List(t.Context(), Caller{Principal: a.person().Principal, Admin: true}, api.JobListParams{Ended: true})
		is.NoErr(err)
		is.Equal(len(got.Jobs), 5)
		is.True(a.sees(last).Phase.Ended())
	})
}
