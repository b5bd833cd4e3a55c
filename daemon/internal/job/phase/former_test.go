package phase

import (
	"fmt"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// successor is a home that took a job over whose attempt 1 had ended, and asks for the
// grants of attempt 2.
func successor(t *testing.T) *rig {
	t.Helper()
	g := &rig{t: t, s: follower(api.JobBackoff)}
	g.s.Job.Attempts[0].EndedAt = at(2)
	g.next(all("node0", "node1", "node8")).fire(TimerHomeLost).elected()
	return g.next(Planned{planOn(api.BackendRing, nodeIDs(0, 1)...)})
}

// begun is what the former home did meanwhile: it began attempt 2.
func begun() api.Job {
	job := follower(api.JobRunning).Job
	plan := *job.Attempts[0].Plan
	job.Attempt = 2
	job.Attempts = append(job.Attempts, api.Attempt{Attempt: 2, Plan: &plan})
	return job
}

// numbers are those of a job's attempts.
func numbers(job api.Job) (n []int) {
	for _, a := range job.Attempts {
		n = append(n, a.Attempt)
	}
	return n
}

// Of what a former home did a successor ends the attempt that it did not know, once.
func TestWhichAttemptOfAFormerHomeIsEnded(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*api.Job)
		want   bool
	}{
		"one it did not know":             {func(*api.Job) {}, true},
		"of a home that counts for less":  {func(j *api.Job) { j.Epoch = api.NextTerm(1) }, false},
		"of no home":                      {func(j *api.Job) { j.Epoch = 0 }, false},
		"one that it knew":                {func(j *api.Job) { j.Attempt = 1 }, false},
		"an older one":                    {func(j *api.Job) { j.Attempt, j.Attempts[0].Attempt = 0, 0 }, false},
		"of which there is no record":     {func(j *api.Job) { j.Attempts = j.Attempts[:1] }, false},
		"without a plan":                  {func(j *api.Job) { j.Attempts[1].Plan = nil }, false},
		"one that has ended":              {func(j *api.Job) { j.Attempts[1].EndedAt = at(3) }, false},
		"the job's end, without a status": {func(j *api.Job) { j.Phase = api.JobFailed }, true},
		"a status, without the end":       {func(j *api.Job) { j.ExitCode = exit(3).Code }, true},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			g, job := successor(t), begun()
			c.change(&job)
			g.next(Seen{job})
			is.True(!g.s.Job.Phase.Ended())
			if !c.want {
				is.Equal(len(g.last), 0)
				return
			}
			is.Equal(g.s.Job.Phase, api.JobEnding)
			is.Equal(numbers(g.s.Job), []int{1, 2})
			is.Equal(g.s.Nodes[0].ID, api.NodeID("node9")) // not its own attempt of this number
			is.True(g.s.Inherited(1) && g.s.Inherited(2) && !g.s.Inherited(3))
			is.True(!g.s.runs(TimerLease)) // until one of its nodes has heard of the new home
			is.Equal(g.s.Job.Attempts[1].StartedAt, at(g.clock))
			is.Equal(g.s.Job.Attempts[1].Reason, api.ReasonHomeLost)
			for _, e := range []Event{EndAccepted{1, "node9"}, EndAccepted{2, "node1"}, EndAccepted{3, "node9"}} {
				g.next(e)
				is.Equal(len(g.last), 0)
			}
			g.next(Seen{job}) // again
			is.Equal(len(g.last), 0)
			g.next(EndAccepted{2, "node9"})
			is.True(g.s.runs(TimerLease))
			g.next(EndAccepted{2, "node8"})
			is.Equal(len(g.last), 0) // their leases are counted from the first
			g.fire(TimerLease)
			is.Equal(g.did(), "release 2/0, release 2/1")
			is.Equal(g.s.Job.Phase, api.JobBackoff)
			is.Equal(g.s.failedRuns, 2)
		})
	}
}

// What a former home counted counts on.
func TestWhatAFormerHomeCounted(t *testing.T) {
	is := is.New(t)
	for _, own := range []bool{true, false} {
		g, job := successor(t), begun()
		most := &job
		if own {
			most = &g.s.Job
		}
		most.CountedAttempts, most.Retried = 2, 3
		g.next(Seen{job})
		is.Equal(g.s.Job.CountedAttempts, 2)
		is.Equal(g.s.Job.Retried, 3)
	}
}

// While ranks of an attempt may live, no other one is taken up; and what a successor has
// started itself goes on, whatever a former home did.
func TestOneAttemptAtATime(t *testing.T) {
	is := is.New(t)
	ended := begun()
	ended.Phase, ended.ExitCode = api.JobSucceeded, exit(0).Code

	g := lost(t, api.JobRunning).elected()
	is.Equal(g.path(), "running home_lost ending")
	is.Equal(g.s.Job.Attempts[0].StartedAt, at(1)) // as it was
	is.Equal(g.s.Job.Attempts[0].Reason, api.ReasonHomeLost)
	is.Equal(g.s.Ranks[0], Rank{Node: "node9", Phase: api.RankStarting, Asked: true, Granted: true, Started: true})
	g.next(Seen{begun()})
	is.Equal(g.s.Job.Attempt, 1)
	is.Equal(len(g.last), 0)

	started := successor(t)
	started.next(Granted{2, 0, nodeID(0)}, Granted{2, 1, nodeID(1)}, Preflighted{Attempt: 2}, Held{2, started.s.Job.Epoch, []api.NodeID{"node1", "node8"}})
	is.Equal(started.s.Job.Phase, api.JobStarting)
	for _, job := range []api.Job{begun(), ended} {
		started.next(Seen{job})
		is.Equal(len(started.last), 0)
	}

	handing := newRig(t, rules()) // it asks another node to keep the job, which may have it
	handing.s.Job.Epoch = 3
	handing.next(Planned{planOn(api.BackendRing, nodeID(1))}, Seen{ended})
	is.Equal(len(handing.last), 0)
}

// The end of a job that a former home told is the end.
func TestAFormerHomesEnd(t *testing.T) {
	is := is.New(t)
	g, job := successor(t), begun()
	job.Phase, job.ExitCode, job.Reason, job.Message, job.EndedAt = api.JobFailed, exit(4).Code, api.ReasonRankFailed, "Rank 0 ended.", at(3)
	job.Attempts[1].EndedAt = at(3)
	g.next(Seen{job})
	is.Equal(g.did(), "release 2/0, release 2/1, tell failed 4")
	is.Equal(g.path(), "backoff home_lost placing home_lost ending failed")
	is.Equal(numbers(g.s.Job), []int{1, 2})
	is.Equal(g.s.Job.Message, "Rank 0 ended.")
	is.Equal(g.s.Job.EndedAt, at(3))

	g = successor(t)
	job.Epoch = 0
	g.next(Seen{job})
	is.Equal(len(g.last), 0)
}

// An attempt that was asking for grants when its home was heard of last may have started
// since: it is ended like one that runs. What it is granted yet is given back.
func TestAnAttemptThatMayHaveStarted(t *testing.T) {
	is := is.New(t)
	s := follower(api.JobPlacing)
	s.Job.Attempts[0].StartedAt = api.Time{}
	g := (&rig{t: t, s: s}).next(all("node0", "node1", "node8")).fire(TimerHomeLost).elected()
	is.Equal(g.did(), "end 1 on node9 home_lost 2s, end 1 on node8 home_lost 2s")
	is.True(g.s.Live())
	is.Equal(g.s.Job.Attempts[0].StartedAt, at(g.clock))
	g.next(Granted{1, 0, "node9"})
	is.Equal(g.did(), "release 1/0")
	g.next(EndAccepted{1, "node8"}).fire(TimerLease)
	is.Equal(g.did(), "release 1/0, release 1/1")
	is.Equal(g.s.failedRuns, 1)
}

// A job that was between two attempts is looked for a place.
func TestATakeOverBetweenTwoAttempts(t *testing.T) {
	is := is.New(t)
	s := follower(api.JobBackoff)
	s.Job.Attempts[0].EndedAt = at(2)
	g := (&rig{t: t, s: s}).next(all("node0", "node1", "node8")).fire(TimerHomeLost).elected()
	is.Equal(g.did(), "AskPlan")
	is.Equal(g.path(), "backoff home_lost placing")
	is.Equal(g.s.Job.WaitingFor, "")
	is.Equal(fmt.Sprint(g.s.Job.Reason), "")
	is.True(g.s.Inherited(1) && !g.s.Inherited(2))
}
