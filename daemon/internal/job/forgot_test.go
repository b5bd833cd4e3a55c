package job

import (
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// agree waits until all that are there say the same of the end of a job.
func (w *world) agree(id api.JobID, phase api.JobPhase) (job api.Job) {
	w.t.Helper()
	for _, m := range w.nodes {
		if m.isUp() {
			job = m.until(id, phase, 10*time.Second)
		}
	}
	return job
}

// A home that has lost its database takes its job back from what the others kept: what
// runs goes on, and what ended by itself meanwhile has ended so.
func TestAHomeThatForgotItsJob(t *testing.T) {
	for name, c := range map[string]struct {
		program []string
		away    time.Duration
		phase   api.JobPhase
	}{
		"its ranks run":                  {words("sleep", "40s"), time.Second, api.JobSucceeded},
		"its ranks have ended":           {words("sleep", "2s"), 4 * time.Second, api.JobSucceeded},
		"a rank has failed":              {words("exit", "42", "1", "2s"), 4 * time.Second, api.JobFailed},
		"nobody has renewed their lease": {words("hang"), 2 * api.DefaultLease, api.JobFailed},
	} {
		for _, handed := range []bool{false, true} { // by another node, whose document comes back first
			in(t, 2, func(t *testing.T, w *world) { // of two none is a majority, so that no other takes it over
				is := is.New(t)
				submitter, a, b := w.nodes[0], w.nodes[0], w.nodes[1]
				if handed {
					a, b = b, a
				}
				r := program(c.program, a, b)
				r.Retries = 3
				id := submitter.submits(r)
				is.Equal(a.until(id, api.JobRunning, time.Second).Home, a.id)
				pass(100 * time.Millisecond)
				a.forgets(c.away)
				pass(max(0, 42*time.Second-c.away))
				job := w.agree(id, c.phase)
				is.Equal(len(job.Attempts), 1) // nothing is started again
				is.Equal(w.living(id), 0)
				switch {
				case name == "a rank has failed":
					is.Equal(code(t, job), 42)
					is.True(strings.Contains(job.Message, w.nameOf(b.id)))
				case c.phase == api.JobFailed:
					is.Equal(job.Reason, api.ReasonHomeForgot)
					is.True(strings.HasPrefix(job.Message, w.nameOf(a.id)+", which keeps the job, lost its database while the job ran"))
				}
			})
		}
	}
}

// What had not begun is not begun by a home that forgot it: the document may be old, and
// the program may have run since.
func TestAHomeThatForgotStartsNothing(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
		c.kill()
		pass(2 * time.Second)
		first := a.submits(program(words("hang"), a, b))
		a.until(first, api.JobRunning, time.Second)
		waits := a.submits(program(words("sleep", "1s"), a, c))
		b.until(waits, api.JobPlacing, 5*time.Second)
		pass(time.Second)
		a.forgets(time.Second)
		job := w.agree(waits, api.JobFailed)
		is.Equal(job.Reason, api.ReasonHomeForgot)
		is.Equal(code(t, job), api.ExitNotStarted)
		is.Equal(w.living(waits), 0)
		pass(2 * api.DefaultLease) // which its home renews
		is.Equal(b.sees(first).Phase, api.JobRunning)
		is.NoErr(a.Stop(t.Context(), a.person(), api.JobStopParams{Job: first, Kill: true}))
		w.agree(first, api.JobStopped)
	})
}

// A home that forgot a job does not end it when another node is the home by now, to which
// it was handed: an end that any home has written keeps it from being started again.
func TestAHomeThatForgotEndsNobodyElsesJob(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		r := program(words("exit", "42", "1", "20s"), b, a)
		r.Retries = 1
		id := a.submits(r)
		is.Equal(b.until(id, api.JobRunning, 5*time.Second).Home, b.id)
		pass(time.Second)
		a.forgets(time.Second)
		pass(10 * time.Second)
		for _, m := range w.nodes {
			known, found := m.Known(id)
			is.True(found && !known.Ended)
		}
		job := b.until(id, api.JobFailed, 2*time.Minute)
		is.Equal(len(job.Attempts), 2)
		is.Equal(code(t, job), 42)
	})
}

// A node that says that it keeps a job, and loses its database before it has told anybody
// else, is asked again: the job goes on.
func TestANewHomeThatForgotAtOnceIsAskedAgain(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
		b.cut(c) // so that it finds no place, and asks nobody to hold the document
		id := a.submits(program(words("sleep", "1s"), b, a, c))
		hasWritten := func() bool {
			b.mu.Lock()
			defer b.mu.Unlock()
			return len(b.wrote) > 0
		}
		for range 5000 {
			if hasWritten() {
				break
			}
			pass(time.Millisecond) // what it wrote comes to the others after two
		}
		is.True(hasWritten()) // it has taken the job
		_, isReported := a.ledger.Get(b.Jobs.key(id))
		is.True(!isReported) // and nobody knows
		b.join(c)
		b.forgets(time.Second)
		job := w.agree(id, api.JobSucceeded)
		is.Equal(job.Home, b.id)
		is.Equal(job.Attempt, 1)
	})
}
