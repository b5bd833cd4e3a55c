package phase

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

var madeRoom = Preempted{Cause{Reason: api.ReasonPreempted, Message: "Job train of u on node1 goes before it."}}

// A job that is ended for another has its own grace, waits, and is started again, however
// often: that counts against nothing.
func TestPreemptedComesBack(t *testing.T) {
	is := is.New(t)
	r := rulesOf(api.JobSpec{MaxAttempts: 1})
	r.Grace = 7 * time.Second
	g := newRig(t, r).next(madeRoom)
	is.Equal(g.did(), "") // nothing runs
	for n := range 5 {
		g.started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)
		is.Equal(g.s.Job.Phase, api.JobRunning)
		is.Equal(g.s.Job.Wanted, nil)
		g.next(madeRoom)
		is.Equal(g.s.Job.Phase, api.JobEnding)
		var end EndRanks
		for _, e := range g.last {
			if e, is := e.(EndRanks); is {
				end = e
			}
		}
		is.Equal(end.Grace, r.Grace)
		is.Equal(end.Reason, api.ReasonPreempted)
		is.Equal(end.Message, madeRoom.Cause.Message)
		g.next(madeRoom)
		is.Equal(g.did(), "") // once is enough
		for rank := range 2 {
			g.next(RankEnded{Attempt: n + 1, Rank: rank, Exit: exit(0), Reason: api.ReasonPreempted})
		}
		is.Equal(g.s.Job.Phase, api.JobBackoff)
		a := g.s.Job.Attempts[n]
		is.Equal(a.Reason, api.ReasonPreempted)
		is.Equal(a.Message, madeRoom.Cause.Message)
		is.True(a.Uncounted)
		is.Equal(g.s.Job.CountedAttempts, 0)
		is.True(g.s.Job.NextAttemptAt.Sub(at(g.clock).Time) < time.Second)
		g.fire(TimerBackoff)
		is.Equal(g.did(), "AskPlan")
	}
	// Its program fails now: that is the first failure, of one that it may have.
	g.started(api.BackendRing, nodeIDs(0, 1)...).ended(0, exit(1)).ended(1, exit(1))
	is.Equal(g.s.Job.Phase, api.JobFailed)
}

// A node that says of its rank that it made room does not make it so.
func TestPreemptedByItsHomeAlone(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)
	g.next(RankEnded{Attempt: 1, Rank: 1, Exit: exit(1), Reason: api.ReasonPreempted}).ended(0, exit(143))
	is.Equal(g.s.Job.Phase, api.JobFailed)
}

// What had ended well by itself when it was to end has succeeded.
func TestPreemptedTooLate(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning).next(madeRoom)
	g.ended(0, exit(0)).ended(1, exit(0))
	is.Equal(g.s.Job.Phase, api.JobSucceeded)
}

// A kept job fails by no number of ends for others, or of sleeps.
func TestKeptIsPreemptedWithoutEnd(t *testing.T) {
	for _, why := range []api.Reason{api.ReasonPreempted, api.ReasonNodeAsleep} {
		is := is.New(t)
		g := newRig(t, rulesOf(api.JobSpec{Kept: true}))
		for n := range 2 * api.KeptInARow {
			g.started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)
			if why == api.ReasonPreempted {
				g.next(madeRoom)
			} else {
				g.next(NodeLost{Node: nodeID(1), Cause: Cause{Reason: why}})
			}
			for rank := range 2 {
				g.next(RankEnded{Attempt: n + 1, Rank: rank, Exit: exit(0), Reason: why})
			}
			is.Equal(g.s.Job.Phase, api.JobBackoff)
			g.fire(TimerBackoff)
		}
	}
}

// While others have what it needs a job holds no part, and looks for a place again; of the
// attempt nothing is left.
func TestNoPartIsHeldWhileOthersHaveOne(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).next(Planned{planOn(api.BackendRing, nodeIDs(0, 1)...)})
	is.Equal(len(g.s.Job.Wanted.Grants), 2)
	g.next(Granted{1, 0, nodeID(0)}, GrantRefused{1, 1, true, Cause{Reason: api.ReasonGPUBusy, WaitingFor: "jaaaaaaaa/1/0"}})
	is.Equal(g.did(), "release 1/0, release 1/1, AskPlan")
	is.Equal(len(g.s.Job.Attempts), 0)
	is.Equal(string(g.s.Job.Phase)+g.s.Job.WaitingFor, "placing"+"jaaaaaaaa/1/0")
	is.True(g.s.Waits())
	g.next(Granted{1, 1, nodeID(1)}) // too late
	is.Equal(g.did(), "release 1/1")
	g.started(api.BackendRing, nodeIDs(0, 1)...)
	is.Equal(g.s.Job.Attempt, 2) // no number is used twice
	is.Equal(g.s.Job.Attempts[0].Attempt, 2)

	// In a majority that is elsewhere nothing is looked for.
	g = newRig(t, rules()).next(Planned{planOn(api.BackendRing, nodeIDs(0, 1)...)})
	g.next(Presence{nodeIDs(0, 1, 2), nodeIDs(0)}, GrantRefused{1, 1, true, Cause{Reason: api.ReasonGPUBusy}})
	is.True(!g.s.Waits() || g.s.Job.Reason != api.ReasonNoMajority)
}

// What a job waits for is in its document, until it has it, and what comes before its turn
// takes no time for placing.
func TestWhatAJobWants(t *testing.T) {
	is := is.New(t)
	r := rules()
	r.Placing = time.Minute
	early := Unplaceable{Cause: Cause{Reason: api.ReasonWaitingForJob}, Early: true}
	g := newRig(t, r).next(early)
	is.Equal(string(g.s.Job.Phase)+string(g.s.Job.Reason), "queuedwaiting_for_job")
	is.Equal(startedTimer(g.all, TimerPlacing), time.Duration(-1))
	wanted := &api.Wanted{Grants: []api.WantedGrant{{Node: nodeID(1)}}, Preempts: []api.JobID{"jbbbbbbbb"}}
	g.next(Unplaceable{Cause: Cause{Reason: api.ReasonPreempting}, Wanted: wanted})
	is.Equal(string(g.s.Job.Phase)+string(g.s.Job.Reason), "placingpreempting")
	is.Equal(startedTimer(g.last, TimerPlacing), time.Minute)
	is.Equal(g.s.Job.Wanted, wanted)
	g.next(Unplaceable{Cause: Cause{Reason: api.ReasonPreempting}, Wanted: &api.Wanted{Grants: wanted.Grants, Preempts: wanted.Preempts}})
	is.Equal(len(g.last), 0) // as it was
	g.next(Unplaceable{Cause: Cause{Reason: api.ReasonPreempting}})
	is.Equal(g.s.Job.Wanted, nil)
	is.Equal(len(g.last), 1)
	g.next(Unplaceable{Cause: Cause{Reason: api.ReasonPreempting}, Wanted: wanted}, StopAsked{})
	is.Equal(g.s.Job.Wanted, nil)
}
