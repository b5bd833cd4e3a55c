package job

import (
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
)

// wroteOf are the documents that a machine has written.
func (m *machine) wroteOf() []api.Job {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.wrote)
}

func phasesOf(all []api.Job) []api.JobPhase {
	var phases []api.JobPhase
	for _, job := range all {
		phases = append(phases, job.Phase)
	}
	return phases
}

// A new job is on disk before it has a plan: nobody waits for one to get an answer.
func TestFirstDocument(t *testing.T) {
	for _, slow := range []time.Duration{0, time.Second} {
		in(t, 3, func(t *testing.T, w *world) {
			is := is.New(t)
			a, b := w.nodes[0], w.nodes[1]
			w.slow = slow
			began := time.Now()
			id := a.submits(program(words("hang"), a, b))
			is.Equal(time.Since(began), 0*time.Second)
			_, onDisk := a.ledger.Get(a.Jobs.key(id))
			is.True(onDisk)
			job := a.wroteOf()[0]
			is.Equal(job.Phase, api.JobQueued)
			is.Equal(job.Attempt, 0)
			is.Equal(len(job.Attempts), 0)
			job = a.until(id, api.JobRunning, 5*time.Second)
			is.Equal(job.Phases[0].Phase, api.JobQueued)
			is.Equal(job.Phases[1].Phase, api.JobPlacing)
			written := phasesOf(a.wroteOf())
			written = slices.DeleteFunc(written, func(p api.JobPhase) bool { return p == api.JobHandshake })
			is.Equal(written, []api.JobPhase{api.JobQueued, api.JobPlacing, api.JobStarting, api.JobRunning})
		})
	}
}

// What a first plan comes to otherwise is in the second document.
func TestFirstPlanWithoutAPlace(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
		a.submits(program(words("env", "A", "b"), b, c))
		pass(10 * time.Millisecond)
		handed := a.wroteOf()[1]
		is.Equal(handed.Phase, api.JobPlacing)
		is.Equal(handed.NextHome, b.id)
		is.Equal(handed.Attempt, 0)
		c.kill()
		pass(2 * time.Second)
		before := len(a.wroteOf())
		id := a.submits(program(words("sleep", "1s"), a, b, c))
		pass(10 * time.Millisecond)
		none := a.wroteOf()[before:]
		is.Equal(phasesOf(none), []api.JobPhase{api.JobQueued, api.JobPlacing})
		is.Equal(none[1].Reason, api.ReasonNodeUnreachable)
		pass(time.Second)
		c.start()
		a.until(id, api.JobSucceeded, time.Minute)
	})
}

// Nothing that a plan leads to is begun before the first document is on disk, and
// where it does not get there the job was never here.
func TestFirstDocumentThatIsNotWritten(t *testing.T) {
	for _, slow := range []time.Duration{0, time.Second} {
		in(t, 2, func(t *testing.T, w *world) {
			is := is.New(t)
			a, b := w.nodes[0], w.nodes[1]
			w.slow = slow
			a.mu.Lock()
			a.full = true
			a.mu.Unlock()
			for _, on := range [][]*machine{{a, b}, {b, a}} {
				_, err := a.Submit(t.Context(), a.person(), api.JobSubmitParams{Request: program(words("hang"), on...)})
				is.Equal(api.AsError(err).Data.Reason, api.ReasonDiskFull)
			}
			pass(time.Hour)
			is.Equal(len(a.actors()), 0)
			is.Equal(len(b.actors()), 0) // neither handed over nor held
			w.mu.Lock()
			defer w.mu.Unlock()
			for _, method := range []string{"peer.grant", "peer.preflight", "peer.start"} {
				is.Equal(w.calls[method], 0)
			}
		})
	}
}

// A home does not read again what it has written: what it holds, and shares, says what
// the document says, to the letter, whatever became of the job since.
func TestWhatIsWrittenIsNotRead(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
		records := map[*ledger.Record]bool{}
		see := func() {
			synctest.Wait()
			for _, m := range w.nodes {
				for _, r := range m.ledger.List(ledger.Filter{Kinds: []api.Kind{api.KindJob}, Nodes: []api.NodeID{m.id}}) {
					records[r] = true
				}
			}
		}
		retried := program(words("exit", "7", "1", "2s"), a, b)
		retried.Retries, retried.MaxAttempts = 2, 2
		a.submits(program(words("sleep", "5s"), a, b, c))
		a.submits(program(words("env", "A", "b"), c, b)) // handed over
		b.submits(retried)
		for range 2000 {
			see()
			pass(10 * time.Millisecond)
		}
		is.True(len(records) > 12)
		for r := range records {
			job, err := ledger.Shared[api.Job](r)
			is.NoErr(err)
			text, err := json.Marshal(job)
			is.NoErr(err)
			is.Equal(string(text), string(r.Document().Value))
			var read api.Job
			is.NoErr(r.Decode(&read))
			is.Equal(job, read)
		}
	})
}

// A node that starts a rank gets all of the plan that a program is started by.
func TestToStart(t *testing.T) {
	is := is.New(t)
	plan := api.Plan{
		SpecSHA256: "a", Backend: api.BackendRing, Shape: api.ShapeRing, Ranks: []api.PlanRank{{Rank: 0}}, Links: []api.PlanLink{{To: 1}},
		Devices: [][][]string{{{"b"}}}, Hosts: [][]string{{"c"}}, ProvenBest: true, Unencrypted: true,
		Used: []api.PlanInput{{}}, Notes: []api.Cause{{}},
	}
	lean := toStart(plan)
	is.True(lean.Links == nil && lean.Used == nil && lean.Notes == nil)
	is.True(plan.Links != nil && plan.Used != nil && plan.Notes != nil) // the document's stays whole
	lean.Links, lean.Used, lean.Notes = plan.Links, plan.Used, plan.Notes
	is.Equal(lean, plan)
}
