package job

import (
	"testing"
	"testing/synctest"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
)

func draft(name string, r api.Rank) ledger.Draft {
	return ledger.Draft{Kind: api.KindRank, Name: name, Value: r}
}

// program is a request for one rank of a program on each of the machines.
func program(command []string, on ...*machine) api.JobRequest {
	r := api.JobRequest{Program: api.Program{Command: command}, Placement: api.Placement{Ranks: len(on), Backend: api.BackendRing}, Detached: true}
	for _, m := range on {
		r.Placement.Nodes = append(r.Placement.Nodes, m.id)
	}
	return r
}

func words(w ...string) []string { return w }

// submits submits a job, which must be taken.
func (m *machine) submits(r api.JobRequest) api.JobID {
	m.w.t.Helper()
	result, err := m.Submit(m.w.t.Context(), m.person(), api.JobSubmitParams{Request: r})
	if err != nil {
		m.w.t.Fatal(err)
	}
	return result.Job
}

// get is a job as an administrator of the machine sees it.
func (m *machine) sees(id api.JobID) api.Job {
	m.w.t.Helper()
	synctest.Wait()
	got, err := m.Get(m.w.t.Context(), Caller{Principal: m.person().Principal, Admin: true}, api.JobSelect{Job: id})
	if err != nil {
		m.w.t.Fatal(err)
	}
	var job api.Job
	if err := got.Job.Decode(&job); err != nil {
		m.w.t.Fatal(err)
	}
	return job
}

// until lets time pass until the machine sees the job in a phase.
func (m *machine) until(id api.JobID, p api.JobPhase, within time.Duration) api.Job {
	m.w.t.Helper()
	for end, step := time.Now().Add(within), 4*time.Millisecond; ; step = min(step+step/4, time.Second) {
		pass(step)
		job := m.sees(id)
		if job.Phase == p {
			return job
		}
		if job.Phase.Ended() || time.Now().After(end) {
			m.w.t.Fatalf("the job is %s (%s, %s, waits for %s; broken: %s), not %s", job.Phase, job.Reason, job.Message, job.WaitingFor, m.w.broken, p)
		}
	}
}

func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// code is a job's exit code.
func code(t *testing.T, job api.Job) int {
	t.Helper()
	if job.ExitCode == nil {
		t.Fatalf("the job is %s and has no exit code", job.Phase)
	}
	return *job.ExitCode
}
