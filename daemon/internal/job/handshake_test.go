package job

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// meshed is a request for one rank of a program with a handshake on each machine.
func meshed(words []string, on ...*machine) api.JobRequest {
	r := program(words, on...)
	r.Placement.Backend = api.BackendJACCL
	return r
}

func TestHandshake(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
		w.plug(a, b, c)
		id := a.submits(meshed(words("late", "20s", "1"), a, b, c))
		job := a.until(id, api.JobHandshake, time.Second)
		is.Equal(len(job.Attempts[0].Joined), 0)
		pass(18 * time.Second)
		is.Equal(a.sees(id).Phase, api.JobHandshake)
		is.NoErr(a.Stop(t.Context(), a.person(), api.JobStopParams{Job: id, Kill: true}))
		a.until(id, api.JobStopped, time.Minute)

		id = a.submits(meshed(words("join", "3s"), a, b, c))
		job = a.until(id, api.JobRunning, 10*time.Second)
		is.Equal(job.Attempts[0].Joined, []int{0, 1, 2})
		is.NoErr(a.Stop(t.Context(), a.person(), api.JobStopParams{Job: id, Kill: true}))
		a.until(id, api.JobStopped, time.Minute)
	})
}

// A start that fails before anybody has joined is repeated.
func TestAStartIsRepeated(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		w.plug(a, b)
		began := time.Now()
		id := a.submits(meshed(words("fall", "3", "1", "5"), a, b))
		job := a.until(id, api.JobRunning, 40*time.Second)
		is.Equal(job.Attempt, 6)
		is.Equal(job.CountedAttempts, 0)
		is.True(time.Since(began) > 15*time.Second && time.Since(began) < 27*time.Second) // 0.5, 1, 2, 4 and 8 s, and each ends the others, which takes half of their grace
		for _, at := range job.Attempts[:5] {
			is.True(at.Uncounted)
			is.Equal(at.Reason, api.ReasonNeverJoined)
			is.Equal(*at.FirstFailed, 1) // not the one that was heard of first and only complained
			is.Equal(at.Message, "Rank 1 on mac-1 ended with exit code 3, before it had joined the group.")
		}
	})
}

func TestAProgramThatNeverJoins(t *testing.T) {
	for _, code := range []string{"0", "9"} {
		in(t, 2, func(t *testing.T, w *world) {
			is := is.New(t)
			a, b := w.nodes[0], w.nodes[1]
			w.plug(a, b)
			id := a.submits(meshed(words("quit", code, "1", "99"), a, b))
			job := b.until(id, api.JobFailed, 30*time.Second)
			is.Equal(job.Reason, api.ReasonNeverJoined)
			is.Equal(job.Message, "Rank 1 on mac-1 ended with exit code "+code+", before it had joined the group.")
			if code == "0" { // it would do so again
				is.Equal(len(job.Attempts), 1)
			} else {
				is.Equal(job.CountedAttempts, 3)
			}
			list, err := a.List(t.Context(), a.person(), api.JobListParams{Ended: true})
			is.NoErr(err)
			is.Equal(list.Jobs[0].CountedAttempts, job.CountedAttempts)
			is.Equal(list.Jobs[0].MaxAttempts, 3)
		})
	}
}

// What a node can never do is not tried again; anything else is.
func TestWhatIsNotSupportedIsNotRepeated(t *testing.T) {
	for reason, isRepeated := range map[api.Reason]bool{
		api.ReasonNotSupportedByPlatform: false, api.ReasonNotSupportedByOS: false, api.ReasonSupervisorUnavailable: false,
		api.ReasonInternal: true, api.ReasonPortTaken: true,
	} {
		in(t, 2, func(t *testing.T, w *world) {
			is := is.New(t)
			a, b := w.nodes[0], w.nodes[1]
			w.plug(a, b)
			id := a.submits(meshed(words("fail", string(reason), "1"), a, b))
			job := a.until(id, api.JobFailed, time.Hour)
			is.Equal(job.Reason, reason)
			is.Equal(len(job.Attempts) > 1, isRepeated)
		})
	}
}

func TestAHandshakeThatNeverEnds(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		w.plug(a, b)
		r := meshed(words("late", "1h", "1"), a, b)
		r.MaxAttempts = 1
		id := a.submits(r)
		job := a.until(id, api.JobFailed, 2*time.Minute)
		is.Equal(job.Reason, api.ReasonHandshakeTimeout)
		is.Equal(job.Message, "Not every rank joined within 60 s: it waited for rank 1 on mac-1.")
	})
}

// What goes while ranks run ends the group within milliseconds of its being known,
// and the job goes on with what is left, or fails and says why.
func TestLinksGo(t *testing.T) {
	pulled := func(w *world) { w.change(func() { w.cables = w.cables[1:] }) }
	slower := func(w *world) { w.change(func() { n := int64(40e9); w.cables[0].ForwardBitsPerS = &n }) }
	unready := func(w *world) { w.change(func() { w.cables[0].RDMA = api.RDMACanEnable }) }
	for name, c := range map[string]struct {
		change  func(w *world)
		reason  api.Reason
		message string
	}{
		"pulled":    {pulled, api.ReasonLinkGone, "The cable mac-0:2 - mac-1:1 was pulled."},
		"retrained": {slower, api.ReasonLinkChanged, "The cable mac-0:2 - mac-1:1 runs at another speed now: 40/80 Gb/s, where it had 80 Gb/s."},
		"no RDMA":   {unready, api.ReasonRDMANotReady, "RDMA is no longer ready over the cable mac-0:2 - mac-1:1."},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, 3, func(t *testing.T, w *world) {
				is := is.New(t)
				a, b, x := w.nodes[0], w.nodes[1], w.nodes[2]
				w.plug(a, b, x)
				id := a.submits(meshed(words("join", "1s"), a, b))
				a.until(id, api.JobRunning, 10*time.Second)
				c.change(w)
				pass(5 * time.Millisecond)
				job := a.sees(id)
				is.Equal(job.Phase, api.JobEnding)
				is.Equal(job.Message, c.message)
				job = a.until(id, api.JobFailed, 10*time.Second) // after the handshake it is not repeated unasked
				is.Equal(job.Reason, c.reason)

				id = a.submits(meshed(words("join", "1s"), x, b)) // over a cable that is left
				a.until(id, api.JobRunning, 10*time.Second)
				w.change(func() {}) // what is not of the plan does not matter
				pass(time.Second)
				is.Equal(a.sees(id).Phase, api.JobRunning)
			})
		})
	}
}

// joins plugs two machines together and has a job run on both, of which the first is the home.
func (w *world) joins(a, b *machine) api.JobID {
	w.plug(a, b)
	id := a.submits(meshed(words("join", "1s"), a, b))
	a.until(id, api.JobRunning, 10*time.Second)
	return id
}

// A home that lost its database while it ended a group learns from the ranks why it did.
func TestAHomeThatForgotKnowsWhichCableWasPulled(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		id := w.joins(a, b)
		a.cut(b)
		w.change(func() { w.cables = nil })
		pass(5 * time.Millisecond)
		is.Equal(a.sees(id).Phase, api.JobEnding)
		a.forgets(5 * time.Second)
		a.join(b)
		pass(20 * time.Second)
		job := w.agree(id, api.JobFailed)
		is.Equal(job.Reason, api.ReasonLinkGone)
		is.Equal(job.Message, "The cable mac-0:2 - mac-1:1 was pulled.")
	})
}

// A home that was started again learns of the cables only later, and of those it
// never saw it does not say that they were pulled.
func TestLinksAreLearntAfterARestart(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		id := w.joins(a, b)
		a.kill()
		all := w.cablesNow()
		w.change(func() { w.cables = nil })
		a.start()
		pass(time.Second)
		w.change(func() {})
		pass(time.Second)
		is.Equal(a.sees(id).Phase, api.JobRunning)
		w.change(func() { w.cables = all })
		pass(time.Second)
		is.Equal(a.sees(id).Phase, api.JobRunning)
		w.change(func() { w.cables = nil })
		is.Equal(a.until(id, api.JobFailed, 10*time.Second).Reason, api.ReasonLinkGone)
	})
}

// A node that goes to sleep says so before, and the group is ended for it by name.
func TestANodeGoesToSleep(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		w.plug(a, b)
		r := meshed(words("join", "1s"), a, b)
		id := a.submits(r)
		a.until(id, api.JobRunning, 10*time.Second)
		b.reports(api.NodeState{State: api.SelfAsleep, Reason: api.ReasonLidClosed})
		pass(10 * time.Millisecond)
		job := a.sees(id)
		is.Equal(job.Phase, api.JobEnding)
		is.Equal(job.Reason, api.ReasonNodeAsleep)
		is.Equal(job.Message, "mac-1: lid closed.")
		pass(2 * time.Second)
		is.Equal(w.living(id), 0) // also there, before it sleeps
		job = a.until(id, api.JobFailed, 10*time.Second)
		is.Equal(*job.Attempts[0].FirstFailed, 1)
		is.Equal(job.Message, "mac-1: lid closed.")
		is.Equal(code(t, job), api.ExitNotStarted)
	})
}

// Which MLX there is is known after the preflight: auto is planned anew with that,
// and who asked for jaccl-ring is refused.
func TestMLXThatComputesWrongly(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		w.plug(a, b)
		w.mlx = "0.32.2"
		r := meshed(words("join", "1s"), a, b)
		r.Placement.Backend = api.BackendJACCLRing
		id := a.submits(r)
		job := a.until(id, api.JobFailed, 5*time.Second)
		is.Equal(job.Reason, api.ReasonMLXTooOld)
		is.Equal(w.starts, 0)
		w.mlx = "0.32.4"
		id = a.submits(r)
		a.until(id, api.JobRunning, 5*time.Second)
		is.NoErr(a.Stop(t.Context(), a.person(), api.JobStopParams{Job: id, Kill: true}))
		a.until(id, api.JobStopped, time.Minute)
		w.mlx = "0.32.2"
		r.Placement.Backend, r.Program.Command = api.BackendAuto, words("sleep", "1s")
		id = a.submits(r)
		job = a.until(id, api.JobSucceeded, 20*time.Second)
		is.Equal(job.Attempts[0].Reason, api.ReasonMLXTooOld)
		is.Equal(job.Attempts[1].Plan.Backend, api.BackendRing)
	})
}
