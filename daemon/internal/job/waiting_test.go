package job

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/job/phase"
)

// refused submits what is to be refused, and gives the field.
func (m *machine) refused(t *testing.T, r api.JobRequest) string {
	t.Helper()
	_, err := m.Submit(t.Context(), m.person(), api.JobSubmitParams{Request: r})
	if err == nil {
		t.Fatal("it was taken")
	}
	if api.AsError(err).Data.Remedy == "" {
		t.Errorf("%v: no remedy", err)
	}
	return api.AsError(err).Data.Subject
}

// A job that runs after others begins when all have succeeded, and fails, with the name,
// where one does not.
func TestAJobAfterOthers(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		named := program(words("sleep", "20s"), b)
		named.Name = "prep"
		first := a.submits(named)
		second := a.submits(program(words("sleep", "30s"), a))
		r := program(words("sleep", "1s"), a)
		r.After = []string{"prep", second.String(), first.String()}
		r.Deadlines.PlacingS = new(5.0) // does not begin before
		third := a.submits(r)
		pass(10 * time.Second)
		job := a.sees(third)
		is.Equal(job.Phase, api.JobQueued)
		is.Equal(job.Reason, api.ReasonWaitingForJob)
		is.True(strings.Contains(job.WaitingFor, "prep ("+first.String()+"), "))
		other := a.submits(program(words("sleep", "1s"), b)) // what it wants nobody keeps from others
		a.until(other, api.JobSucceeded, 30*time.Second)
		a.until(second, api.JobSucceeded, time.Minute)
		job = a.until(third, api.JobSucceeded, 5*time.Second)
		is.Equal(a.sees(first).Phase, api.JobSucceeded)

		failing := program(words("exit", "3", "0", "20s"), b)
		failing.Name = "prep"
		failed := a.submits(failing)
		fourth := a.submits(r) // the newest of the name counts
		pass(time.Second)
		is.Equal(a.sees(fourth).Reason, api.ReasonWaitingForJob)
		a.kill()
		a.start() // it is waited for after a restart too
		job = a.until(fourth, api.JobFailed, time.Minute)
		is.Equal(job.Reason, api.ReasonJobBeforeFailed)
		is.True(strings.Contains(job.Message, "The job prep ("+failed.String()+"), after which this one was to run, failed: Rank 0 on"))
		is.Equal(len(job.Attempts), 0)

		stopped := a.submits(program(words("sleep", "20s"), b))
		r.After = []string{stopped.String()}
		fifth := a.submits(r)
		pass(time.Second)
		is.NoErr(a.Stop(t.Context(), a.person(), api.JobStopParams{Job: stopped}))
		job = a.until(fifth, api.JobFailed, 20*time.Second)
		is.True(strings.Contains(job.Message, "was stopped"))
		is.NoErr(a.Delete(t.Context(), a.person(), api.JobDeleteParams{Job: fifth}))
		pass(time.Second)
		r.After = []string{fifth.String()}
		is.Equal(a.refused(t, r), "request.after")
	})
}

// Nothing can run after itself, what never ends, or what is not the caller's.
func TestWhatAJobCannotRunAfter(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		r := program(words("sleep", "1s"), a)
		r.After = []string{"nobody"}
		is.Equal(a.refused(t, r), "request.after")
		r.After = make([]string, maxAfter+1)
		is.Equal(a.refused(t, r), "request.after")
		theirs := b.submits(program(words("sleep", "1h"), b))
		pass(time.Second)
		r.After = []string{theirs.String()}
		is.Equal(a.refused(t, r), "request.after")
		kept := program(words("sleep", "1h"), a)
		kept.Kept = true
		r.After = []string{a.submits(kept).String()}
		is.Equal(a.refused(t, r), "request.after")

		declare := func(name string, after ...string) error {
			r := program(words("sleep", "1h"), a)
			r.Name, r.After = name, after
			_, err := a.Apply(t.Context(), a.person(), api.JobApplyParams{Request: r, Replace: true})
			return err
		}
		is.NoErr(declare("one"))
		is.NoErr(declare("two", "one"))
		is.NoErr(declare("three", "two"))
		for _, after := range []string{"one", "two", "three"} { // itself, its follower, and one further
			err := declare("one", after)
			is.True(errors.Is(err, api.ReasonSpecConflict))
			is.Equal(api.AsError(err).Data.Subject, "request.after")
		}
		is.NoErr(declare("three", "one"))
	})
}

// What makes no sense in line is refused with its field.
func TestLineFields(t *testing.T) {
	for field, change := range map[string]func(*api.JobRequest){
		"request.priority":        func(r *api.JobRequest) { r.Priority = 101 },
		"request.idle_s":          func(r *api.JobRequest) { r.Kept, r.IdleS = true, 0.5 },
		"request.keep_awake":      func(r *api.JobRequest) { r.Kept, r.KeepAwake = true, "often" },
		"request.kept":            func(r *api.JobRequest) { r.IdleS = 60 },
		"request.yield_when_idle": func(r *api.JobRequest) { r.Kept, r.YieldWhenIdle = true, true },
	} {
		is := is.New(t)
		r := api.JobRequest{Program: api.Program{Command: []string{"a"}}}
		is.NoErr(checkLine(r))
		change(&r)
		err := checkLine(r)
		is.Equal(api.AsError(err).Data.Subject, field)
		is.True(api.AsError(err).Data.Remedy != "")
	}
}

// Of jobs that wait that of the higher priority goes first, at whichever home, and each
// says for what it waits.
func TestTheHigherGoesFirst(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		a.submits(program(words("sleep", "60s"), b))
		pass(time.Second)
		of := func(priority int) api.JobID {
			r := program(words("sleep", "10s"), b)
			r.Priority = priority
			return a.submits(r)
		}
		low, plain, high := of(-1), of(0), of(7)
		pass(5 * time.Second)
		list, err := b.List(t.Context(), b.person(), api.JobListParams{})
		is.NoErr(err)
		positions := map[api.JobID]int{}
		for _, s := range list.Jobs {
			positions[s.Job] = s.LinePosition
		}
		is.Equal([]int{positions[high], positions[plain], positions[low]}, []int{1, 2, 3}) // everywhere alike
		is.Equal(a.sees(high).Wanted.Grants[0].Node, b.id)
		is.Equal(a.sees(low).Reason, api.ReasonWaitingInLine)

		r := program(words("sleep", "1s"), b)
		r.Priority = 3
		plan, err := a.Plan(t.Context(), a.person(), api.JobPlanParams{Request: r})
		is.NoErr(err)
		is.Equal(plan.Line.Position, 2)
		is.Equal(plan.Line.Before[0].Job, high)
		is.Equal(plan.Line.Before[0].Priority, 7)
		is.Equal(plan.Line.Before[0].Nodes, []api.NodeID{b.id})

		started := func(id api.JobID) time.Time {
			return a.until(id, api.JobSucceeded, 3*time.Minute).Attempts[0].StartedAt.Time
		}
		is.True(started(high).Before(started(plain)))
		is.True(started(plain).Before(started(low)))
	})
}

// A preemptible job makes room for one of higher priority, and comes back by itself; what
// is not preemptible does not, nor for a person whose priority does not count here.
func TestPreempted(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
		r := program(words("sleep", "60s"), a, b)
		r.Preemptible, r.Name = true, "background"
		victim := a.submits(r)
		a.until(victim, api.JobRunning, 10*time.Second)

		urgent := program(words("sleep", "20s"), b)
		urgent.Priority, urgent.Name = 100, "urgent"
		plan, err := a.Plan(t.Context(), a.person(), api.JobPlanParams{Request: urgent})
		is.NoErr(err)
		is.Equal(plan.Line.Preempts[0].Job, victim)
		is.Equal(plan.Line.Preempts[0].Name, "background")
		theirs := c.submits(urgent) // what a member says of himself is not enough
		pass(20 * time.Second)
		is.Equal(c.sees(theirs).Phase, api.JobPlacing)
		is.Equal(len(c.sees(theirs).Wanted.Preempts), 0)
		// Nor is what his home claims.
		w.stuck.Store(true) // so that it stays so
		claims := c.jobs[theirs].actor
		claims.post(func() {
			claims.event(phase.Unplaceable{Cause: phase.Cause{Reason: api.ReasonPreempting}, Wanted: &api.Wanted{
				Grants: []api.WantedGrant{{Node: b.id, GPU: api.GPUExclusive}}, Preempts: []api.JobID{victim}}})
		})
		pass(5 * time.Second)
		is.Equal(a.sees(theirs).Wanted.Preempts, []api.JobID{victim})
		is.Equal(a.sees(victim).Phase, api.JobRunning)
		is.Equal(a.sees(victim).Attempt, 1)
		w.stuck.Store(false)
		is.NoErr(c.Stop(t.Context(), c.person(), api.JobStopParams{Job: theirs}))

		own := a.submits(urgent)
		a.until(own, api.JobRunning, 10*time.Second)
		is.Equal(a.sees(own).Wanted, nil)
		job := a.sees(victim)
		is.Equal(job.Attempts[0].Reason, api.ReasonPreempted)
		is.True(strings.HasPrefix(job.Attempts[0].Message, "The job urgent of ada on "))
		is.True(job.Attempts[0].FirstFailed == nil)
		is.Equal(job.Retried+job.CountedAttempts, 0)
		a.until(own, api.JobSucceeded, time.Minute)
		job = a.until(victim, api.JobSucceeded, 2*time.Minute)
		is.Equal(len(job.Attempts), 2)
		is.Equal(w.broken, "")

		r.Preemptible = false
		firm := a.submits(r)
		a.until(firm, api.JobRunning, 10*time.Second)
		own = a.submits(urgent)
		pass(20 * time.Second)
		is.Equal(a.sees(own).Reason, api.ReasonGPUBusy)
		is.Equal(a.sees(firm).Phase, api.JobRunning)
	})
}

// A service that nobody asks anything yields to whatever waits, and comes back; one that is
// asked does not.
func TestAnIdleServiceYields(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		r := program(words("sleep", "10h"), b)
		r.Kept, r.YieldWhenIdle, r.IdleS, r.Publish = true, true, 60, []api.Publish{{Port: 8080}}
		service := a.submits(r)
		a.until(service, api.JobRunning, 10*time.Second)
		waits := a.submits(program(words("sleep", "30s"), b))
		pass(2 * time.Minute)
		is.Equal(a.sees(waits).Phase, api.JobPlacing) // it is not known to be idle
		b.idles(api.RankRef{Job: service, Attempt: 1}, time.Now())
		w.unhinted.Store(true)
		pass(50 * time.Second)
		is.Equal(a.sees(waits).Phase, api.JobPlacing) // it is not idle for long enough
		pass(15 * time.Second)
		is.Equal(a.sees(service).Attempts[0].Reason, api.ReasonPreempted)
		w.unhinted.Store(false)
		a.hintFirsts() // as the grant that is given back does
		a.until(waits, api.JobRunning, 5*time.Second)
		a.until(waits, api.JobSucceeded, time.Minute)
		a.until(service, api.JobRunning, 10*time.Second)
		is.NoErr(a.Stop(t.Context(), a.person(), api.JobStopParams{Job: service, Kill: true}))
	})
}

// idles has a rank of this machine say since when nobody asks anything of it.
func (m *machine) idles(ref api.RankRef, since time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.procs[ref]
	if p.doc.IdleSince = (api.Time{}); !since.IsZero() {
		p.doc.IdleSince = api.TimeOf(since)
	}
	m.notify(p)
}

// A rank keeps its Mac awake, but that of a kept job that says otherwise, or is idle.
func TestWhatKeepsAMacAwake(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		runs := func(kept bool, awake api.KeepAwake) api.RankRef {
			r := program(words("sleep", "10h"), b)
			r.Placement.GPU = api.GPUNone
			r.Kept, r.KeepAwake = kept, awake
			id := a.submits(r)
			a.until(id, api.JobRunning, 10*time.Second)
			pass(time.Second)
			return api.RankRef{Job: id, Attempt: 1}
		}
		w.blind = true
		var used atomic.Int32
		b.Jobs.mu.Lock()
		b.cfg.UseChanged = func() { used.Add(1) }
		b.Jobs.mu.Unlock()
		for _, c := range []struct {
			kept                 bool
			awake                api.KeepAwake
			followed, used, idle bool
		}{
			{false, "", true, true, true},
			{true, "", true, true, false},
			{true, api.AwakeUsed, true, true, false},
			{true, api.AwakeAlways, true, true, true},
			{true, api.AwakeNever, false, false, false},
		} {
			ref := runs(c.kept, c.awake)
			is.Equal(b.KeepsAwake(ref), c.followed) // of which nobody knows how it is used
			is.Equal(a.KeepsAwake(ref), c.followed) // where another rank would be
			before := used.Load()
			b.idles(ref, time.Now())
			pass(api.DefaultIdle - time.Minute)
			is.Equal(b.KeepsAwake(ref), c.used)
			is.Equal(used.Load(), before+1)
			pass(2 * time.Minute)
			is.Equal(b.KeepsAwake(ref), c.idle)
			is.Equal(a.KeepsAwake(ref), c.idle)
			is.Equal(used.Load(), before+2)
			b.idles(ref, time.Time{})
			pass(time.Second)
			is.Equal(b.KeepsAwake(ref), c.used)
			is.Equal(used.Load(), before+3)
			is.NoErr(a.Stop(t.Context(), a.person(), api.JobStopParams{Job: ref.Job, Kill: true}))
			pass(time.Minute)
		}
		is.True(b.KeepsAwake(api.RankRef{Job: "jzzzzzzzz"})) // of which nothing is known yet
	})
}
