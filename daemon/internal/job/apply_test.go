package job

import (
	"errors"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// applies declares a job.
func (m *machine) applies(r api.JobRequest, change func(*api.JobApplyParams)) (api.JobApplyResult, error) {
	m.w.t.Helper()
	r.Name = "train"
	p := api.JobApplyParams{Request: r}
	if change != nil {
		change(&p)
	}
	return m.Apply(m.w.t.Context(), m.person(), p)
}

func TestApplyingTwiceChangesNothing(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a := w.nodes[0]
		sleep := program(words("sleep", "2s"), a)
		first, err := a.applies(sleep, nil)
		is.NoErr(err)
		is.Equal(first.Outcome, api.ApplyCreated)
		a.until(first.Job, api.JobRunning, time.Second)
		for _, phase := range []api.JobPhase{api.JobRunning, api.JobSucceeded} {
			a.until(first.Job, phase, 10*time.Second)
			again, err := a.applies(sleep, func(p *api.JobApplyParams) { p.Request.Detached = false })
			is.NoErr(err)
			is.Equal(again, api.JobApplyResult{Outcome: api.ApplyUnchanged, Job: first.Job})
		}
		list, err := a.List(t.Context(), a.person(), api.JobListParams{Ended: true})
		is.NoErr(err)
		is.Equal(len(list.Jobs), 1)
		is.True(list.Jobs[0].Declared)
	})
}

func TestAChangeOfARunningProgramIsSaidToBeOne(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a := w.nodes[0]
		first, err := a.applies(program(words("sleep", "1h"), a), nil)
		is.NoErr(err)
		a.until(first.Job, api.JobRunning, time.Second)

		changed := program(words("sleep", "2h"), a)
		changed.Retries = 2
		dry, err := a.applies(changed, func(p *api.JobApplyParams) { p.DryRun = true })
		is.NoErr(err)
		is.Equal(dry, api.JobApplyResult{Outcome: api.ApplyReplaced, Before: first.Job, Changes: []api.FieldChange{
			{Field: "program.command", From: `["sleep","1h"]`, To: `["sleep","2h"]`}, {Field: "retries", From: "0", To: "2"},
		}})
		_, err = a.applies(changed, nil)
		is.True(errors.Is(err, api.ReasonJobRunning))
		is.Equal(a.until(first.Job, api.JobRunning, time.Second).Phase, api.JobRunning) // nothing happened to it

		second, err := a.applies(changed, func(p *api.JobApplyParams) { p.Replace = true })
		is.NoErr(err)
		is.Equal(second.Outcome, api.ApplyReplaced)
		was := a.until(first.Job, api.JobStopped, time.Second) // before anything else ran
		is.Equal(was.Reason, api.ReasonReplaced)
		is.True(was.StopRequested.IsReplaced())
		a.until(second.Job, api.JobRunning, 10*time.Second)
		again, err := a.applies(changed, nil)
		is.NoErr(err)
		is.Equal(again, api.JobApplyResult{Outcome: api.ApplyUnchanged, Job: second.Job})
	})
}

func TestAChangeOfWhatWaitsOrHasEnded(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		holder := a.submits(program(words("sleep", "1h"), a))
		a.until(holder, api.JobRunning, time.Second)
		waits, err := a.applies(program(words("sleep", "1h"), a), nil)
		is.NoErr(err)
		a.until(waits.Job, api.JobPlacing, time.Second)
		elsewhere, err := a.applies(program(words("sleep", "1s"), b), nil)
		is.NoErr(err)
		is.Equal(elsewhere.Outcome, api.ApplyChanged)
		is.Equal(elsewhere.Before, waits.Job)
		a.until(elsewhere.Job, api.JobSucceeded, 10*time.Second)
		third, err := a.applies(program(words("sleep", "2s"), b), nil)
		is.NoErr(err)
		is.Equal(third.Outcome, api.ApplyChanged)
		a.until(third.Job, api.JobSucceeded, 10*time.Second)
	})
}

// A job that has begun at its home is no job that waits, whatever this node has heard.
func TestAChangeDoesNotEndWhatHasJustBegun(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		holder := a.submits(program(words("hang"), b))
		a.until(holder, api.JobRunning, time.Second)
		waits, err := a.applies(program(words("sleep", "1h"), b), nil)
		is.NoErr(err)
		b.until(waits.Job, api.JobPlacing, time.Second)
		pass(time.Second)
		is.NoErr(b.Stop(t.Context(), a.person(), api.JobStopParams{Job: holder, Kill: true}))
		for !hasProgram(b.sees(waits.Job).Phase) {
			pass(100 * time.Microsecond)
		}
		is.True(!hasProgram(a.sees(waits.Job).Phase)) // it is told in a moment
		changed := program(words("sleep", "2h"), b)
		_, err = a.applies(changed, nil)
		is.True(errors.Is(err, api.ReasonJobRunning))
		is.Equal(a.until(waits.Job, api.JobRunning, time.Second).Phase, api.JobRunning)
		replaced, err := a.applies(changed, func(p *api.JobApplyParams) { p.Replace = true })
		is.NoErr(err)
		is.Equal(replaced.Outcome, api.ApplyReplaced)
	})
}

// TestNamesBelongToPeople: also one that a job was submitted with is none.
func TestNamesBelongToPeople(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a := w.nodes[0]
		plain := program(words("sleep", "1h"), a)
		plain.Name = "train"
		id := a.submits(plain)
		a.until(id, api.JobRunning, time.Second)
		mine, err := a.applies(program(words("sleep", "1s"), a), nil)
		is.NoErr(err)
		is.Equal(mine.Outcome, api.ApplyCreated)
		eve := Caller{Principal: api.Principal{User: "eve", Node: a.id}, Admin: true}
		other := program(words("sleep", "2s"), a)
		other.Name = "train"
		theirs, err := a.Apply(t.Context(), eve, api.JobApplyParams{Request: other})
		is.NoErr(err)
		is.Equal(theirs.Outcome, api.ApplyCreated)
		is.Equal(a.until(mine.Job, api.JobPlacing, time.Second).Phase, api.JobPlacing)
	})
}

func TestWhatCannotBeDeclared(t *testing.T) {
	in(t, 1, func(t *testing.T, w *world) {
		a := w.nodes[0]
		for field, change := range map[string]func(*api.JobRequest){
			"request.name":             func(r *api.JobRequest) { r.Name = "" },
			"request.request_id":       func(r *api.JobRequest) { r.RequestID = "x" },
			"request.program.stdin":    func(r *api.JobRequest) { r.Program.Stdin = api.StdinAll },
			"request.program.terminal": func(r *api.JobRequest) { r.Program.Terminal = true },
			"request.program.command":  func(r *api.JobRequest) { r.Program.Command = nil },
		} {
			is := is.New(t)
			_, err := a.applies(program(words("x"), a), func(p *api.JobApplyParams) { change(&p.Request) })
			is.Equal(api.AsError(err).Data.Subject, field)
			is.True(api.AsError(err).Data.Remedy != "")
		}
	})
}

// What a name names is ended and forgotten, with what it was before, in whatever phase, and by
// several at once.
func TestUndeclare(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a := w.nodes[0]
		declare := func(seconds string) api.JobID {
			r := program(words("sleep", seconds), w.nodes...)
			r.Name, r.Kept = "service", true
			result, err := a.Apply(t.Context(), a.person(), api.JobApplyParams{Request: r, Replace: true})
			is.NoErr(err)
			return result.Job
		}
		for _, waits := range []time.Duration{0, 100 * time.Millisecond, time.Second, 20 * time.Second} {
			first := declare("600s")
			pass(10 * time.Second)
			second := declare("500s")
			is.True(first != second)
			pass(waits)
			errs := make(chan error, 2)
			for range 2 {
				go func() { errs <- a.Undeclare(t.Context(), a.person(), "service") }()
			}
			for range 2 {
				if err := <-errs; err != nil {
					is.Equal(api.AsError(err).Data.Reason, api.ReasonNoSuchJob) // the other had done it
				}
			}
			for _, id := range []api.JobID{first, second} {
				_, err := a.Get(t.Context(), a.person(), api.JobSelect{Job: id})
				is.True(err != nil)
			}
			is.Equal(w.living(first)+w.living(second), 0)
		}
		is.Equal(api.AsError(a.Undeclare(t.Context(), a.person(), "service")).Data.Reason, api.ReasonNoSuchJob)
	})
}

// What is kept and has failed is begun anew when it is declared again, unchanged.
func TestWhatIsKeptIsBegunAnew(t *testing.T) {
	in(t, 1, func(t *testing.T, w *world) {
		is := is.New(t)
		a := w.nodes[0]
		r := program(words("sleep", "1s"), a)
		r.Name, r.Kept = "service", true
		apply := func() api.JobApplyResult {
			result, err := a.Apply(t.Context(), a.person(), api.JobApplyParams{Request: r})
			is.NoErr(err)
			return result
		}
		first := apply()
		pass(500 * time.Millisecond)
		is.Equal(apply().Outcome, api.ApplyUnchanged) // it runs
		failed := a.until(first.Job, api.JobFailed, 10*time.Minute)
		is.Equal(len(failed.Attempts), api.KeptInARow)
		second := apply()
		is.Equal(second.Outcome, api.ApplyChanged)
		is.True(second.Job != first.Job)
		is.Equal(second.Before, first.Job)
	})
}
