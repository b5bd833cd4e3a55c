package job

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// A deleted job is forgotten everywhere, also by a node that was away, and by one
// that was restarted before it could.
func TestDelete(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
		id := a.submits(program(words("sleep", "1s"), b, c)) // a has a document of its own, from before
		a.until(id, api.JobSucceeded, 10*time.Second)
		pass(time.Second)
		c.kill()
		pass(2 * time.Second)
		is.NoErr(a.Delete(t.Context(), a.person(), api.JobDeleteParams{Job: id, Output: api.OutputKeep}))
		pass(time.Second)
		for _, m := range []*machine{a, b} {
			_, err := m.Get(t.Context(), m.person(), api.JobSelect{Job: id})
			is.True(errors.Is(err, api.ReasonJobDeleted))
			_, err = m.List(t.Context(), m.person(), api.JobListParams{Ended: true})
			is.NoErr(err)
			is.Equal(len(m.procs), 0)
		}
		is.Equal(b.forgot, []string{string(id) + " keep"})
		is.Equal(len(c.forgot), 0)
		c.start()
		pass(3 * time.Second)
		is.Equal(c.forgot, []string{string(id) + " delete"}) // of the policy it knows the spec's only
		is.Equal(len(c.procs), 0)
		b.forgot = nil
		b.kill()
		b.start()
		pass(3 * time.Second)
		is.Equal(b.forgot, []string{string(id) + " "}) // said again after a restart
		for _, m := range w.nodes {
			is.Equal(m.disk.Len(), w.nodes[0].disk.Len())
			_, err := m.Get(t.Context(), m.person(), api.JobSelect{Job: id})
			is.True(errors.Is(err, api.ReasonJobDeleted))
		}
		err := a.Delete(t.Context(), a.person(), api.JobDeleteParams{Job: id})
		is.True(errors.Is(err, api.ReasonJobDeleted))
	})
}

// A home whose daemon is away for a moment is waited for; one that stays so is named.
func TestDeleteWhileTheHomeIsAway(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		id := b.submits(program(words("sleep", "1s"), a))
		b.until(id, api.JobSucceeded, 10*time.Second)
		a.kill()
		err := b.Delete(t.Context(), b.person(), api.JobDeleteParams{Job: id})
		is.True(errors.Is(err, api.ReasonHomeLost))
		is.Equal(api.AsError(err).Message, "mac-0, which keeps the job, did not answer, so that it was not deleted.")
		is.Equal(api.AsError(err).Data.Remedy, "Delete it when mac-0 is back.")
		time.AfterFunc(3*time.Second, a.start)
		is.NoErr(b.Delete(t.Context(), b.person(), api.JobDeleteParams{Job: id}))
		pass(time.Second)
		_, err = b.Get(t.Context(), b.person(), api.JobSelect{Job: id})
		is.True(errors.Is(err, api.ReasonJobDeleted))
	})
}

// A former home that was away while its job was taken over, ended and deleted does
// not begin it again.
func TestADeletedJobDoesNotComeBack(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
		w.friend = b.person().Principal
		r := program(words("sleep", "30s"), a)
		r.Placement.Nodes, r.Retries = nil, 3
		id := a.submits(r)
		a.until(id, api.JobRunning, time.Second)
		a.cut(b, c)
		pass(5 * time.Second)
		a.kill()
		pass(2 * time.Second)
		is.NoErr(b.TakeOver(t.Context(), b.person(), api.JobSelect{Job: id})) // no node of the attempt is in sight
		b.until(id, api.JobSucceeded, 10*time.Minute)
		is.NoErr(b.Delete(t.Context(), b.person(), api.JobDeleteParams{Job: id}))
		a.join(b, c)
		a.start()
		pass(5 * time.Minute)
		_, err := a.Get(t.Context(), a.person(), api.JobSelect{Job: id})
		is.True(errors.Is(err, api.ReasonJobDeleted))
		is.Equal(w.living(id), 0)
		for _, m := range w.nodes {
			is.Equal(len(m.actors()), 0)
		}
	})
}

func TestRequestID(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		r := program(words("sleep", "5s"), b)
		r.RequestID = "one"
		id := a.submits(r)
		again := func() api.JobSubmitResult {
			t.Helper()
			got, err := a.Submit(t.Context(), a.person(), api.JobSubmitParams{Request: r})
			is.NoErr(err)
			return got
		}
		is.Equal(again(), api.JobSubmitResult{Job: id, Existing: true})
		a.until(id, api.JobSucceeded, time.Minute)
		a.kill()
		a.start()
		pass(time.Second)
		is.Equal(again(), api.JobSubmitResult{Job: id, Existing: true}) // also after a restart
		other := r
		other.Name = "another"
		_, err := a.Submit(t.Context(), a.person(), api.JobSubmitParams{Request: other})
		is.True(errors.Is(err, api.ReasonDuplicateRequest))
		bob := Caller{Principal: api.Principal{User: "bob", Node: a.id}}
		got, err := a.Submit(t.Context(), bob, api.JobSubmitParams{Request: r}) // somebody else's is another
		is.NoErr(err)
		is.True(!got.Existing && got.Job != id)
		_, err = a.Submit(t.Context(), b.person(), api.JobSubmitParams{Request: r})
		is.True(errors.Is(err, api.ReasonNotTheWriter))
	})
}

// A watcher sees every phase's end, and exactly one end; one that comes after the
// end sees it too.
func TestWatchHasOneEnd(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
		id := a.submits(program(words("exit", "7", "0", "3s"), b, c))
		watch := func(m *machine) int {
			s, err := m.Watch(t.Context(), a.person(), api.JobSelect{Job: id})
			is.NoErr(err)
			defer s.Close()
			is.Equal(s.First.Job.Name, id.String())
			terminals := 0
			for {
				change, err := s.Next(t.Context())
				if errors.Is(err, ErrEnded) {
					is.Equal(terminals, 1)
					return 0
				}
				is.NoErr(err)
				if change.Terminal {
					terminals++
					is.Equal(*change.ExitCode, 7)
				} else {
					is.True(len(change.Put) > 0)
				}
			}
		}
		watch(a)
		watch(a)
		pass(time.Second)
		watch(c)
		is.NoErr(a.Delete(t.Context(), a.person(), api.JobDeleteParams{Job: id}))
		_, err := a.Watch(t.Context(), a.person(), api.JobSelect{Job: id})
		is.True(errors.Is(err, api.ReasonJobDeleted))
	})
}

// A thousand jobs leave behind what is kept of the last ones, and no goroutine.
func TestAThousandJobs(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		a.cfg.Keep = 50
		pass(5 * time.Second)
		count := func() int { synctest.Wait(); return runtime.NumGoroutine() }
		before := count()
		all := 1000
		if testing.Short() {
			all = 60
		}
		for i := range all {
			r := program(words("sleep", "10ms"), a, b)
			r.RequestID = fmt.Sprint(i)
			id := a.submits(r)
			for !a.sees(id).Phase.Ended() {
				time.Sleep(10 * time.Millisecond)
			}
		}
		pass(time.Minute)
		is.True(count() <= before+20) // the runtime has some of its own, and a job that leaves one leaves a thousand
		for _, m := range w.nodes {
			ended, err := m.List(t.Context(), m.person(), api.JobListParams{Ended: true})
			is.NoErr(err)
			is.Equal(len(ended.Jobs), 50)
			is.Equal(len(m.procs), 100/2)
			is.Equal(len(m.actors()), 0)
			is.True(len(m.requests) <= 50)
		}
	})
}

// A daemon that starts has not read its documents yet when it looks which files belong to
// deleted jobs: those of jobs that have ended stay.
func TestWhatHasEndedIsNotDeleted(t *testing.T) {
	is := is.New(t)
	const ended, gone, running = api.JobID("jaaaaaaaa"), api.JobID("jbbbbbbbb"), api.JobID("jcccccccc")
	j := &Jobs{jobs: map[api.JobID]*known{}, memory: map[api.JobID]Remembered{ended: {Ended: true}, gone: {Ended: true, Gone: true}}}
	is.True(!j.Deleted(ended))
	is.True(j.Deleted(gone))
	is.True(!j.Deleted(running))
}
