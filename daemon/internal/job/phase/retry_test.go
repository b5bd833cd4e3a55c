package phase

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// again takes a job in backoff to its next start.
func (g *rig) again(b api.Backend) *rig {
	g.t.Helper()
	return g.fire(TimerBackoff).started(b, nodeIDs(0, 1)...)
}

func TestAProgramThatFailsBeforeTheHandshakeIsTriedThreeTimes(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).started(api.BackendJACCL, nodeIDs(0, 1)...)
	for n := 1; n <= 3; n++ {
		is.Equal(g.s.Job.Attempt, n)
		g.ended(1, exit(7)).ended(0, &api.Exit{Signal: 15})
		is.True(!g.s.Job.Attempts[n-1].Uncounted)
		if n < 3 {
			is.Equal(g.s.Job.Phase, api.JobBackoff)
			is.True(g.s.Job.NextAttemptAt.After(at(g.clock).Time))
			g.again(api.BackendJACCL)
		}
	}
	is.Equal(g.s.Job.Phase, api.JobFailed)
	is.Equal(*g.s.Job.ExitCode, 7)
}

func TestWhatNobodyJoinedIsRepeatedFreely(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).started(api.BackendJACCL, nodeIDs(0, 1)...)
	attempts := 0
	for g.s.Job.Phase != api.JobFailed {
		attempts++
		g.next(NodeLost{Node: nodeID(1)}).ended(0, &api.Exit{Signal: 15}).ended(1, nil)
		is.Equal(g.s.Job.Attempts[len(g.s.Job.Attempts)-1].Uncounted, attempts <= api.MaxFreeRestarts)
		if g.s.Job.Phase == api.JobBackoff {
			g.again(api.BackendJACCL)
		}
	}
	is.Equal(attempts, api.MaxFreeRestarts+3) // then they count

	g = newRig(t, rules()).started(api.BackendJACCL, nodeIDs(0, 1)...)
	for range 2 * api.MaxFreeRestarts { // once a window is over, they are free again
		g.next(NodeLost{Node: nodeID(1)}).ended(0, nil).ended(1, nil).fire(TimerFree).again(api.BackendJACCL)
	}
	is.Equal(g.s.Job.Phase, api.JobStarting)
}

func TestRetriesAfterTheStartAreThoseAskedFor(t *testing.T) {
	is := is.New(t)
	r := rules()
	r.Retries = 1
	g := newRig(t, r).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)
	g.ended(0, exit(1)).ended(1, nil)
	is.Equal(g.s.Job.Phase, api.JobBackoff)
	g.again(api.BackendRing).ranks(api.RankRunning).ended(0, exit(2)).ended(1, nil)
	is.Equal(g.s.Job.Phase, api.JobFailed)
	is.Equal(*g.s.Job.ExitCode, 2)
	is.Equal(*g.s.Job.Attempts[0].ExitCode, 1) // each attempt keeps its own first cause
}

func TestWhatCannotHelpIsNotRetried(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).next(Planned{planOn(api.BackendRing, nodeIDs(0, 1)...)}, Granted{1, 0, nodeID(0)},
		PreflightFailed{1, Cause{Reason: api.ReasonProgramMissing, Final: true}})
	is.Equal(g.did(), "release 1/0, release 1/1, tell failed 127")

	g = newRig(t, rules()).started(api.BackendJACCL, nodeIDs(0, 1)...)
	g.next(RankEnded{Attempt: 1, Rank: 0, Reason: api.ReasonSpawnFailed, Final: true}).ended(1, nil)
	is.Equal(g.s.Job.Phase, api.JobFailed)
}

func TestEndingWellWithoutJoining(t *testing.T) {
	for _, solo := range []bool{false, true} {
		is := is.New(t)
		r := rules()
		r.AllowSolo, r.MaxAttempts = solo, 1
		g := newRig(t, r).started(api.BackendJACCL, nodeIDs(0, 1)...).ended(1, exit(0)).ended(0, exit(0))
		if solo {
			is.Equal(g.s.Job.Phase, api.JobSucceeded)
		} else {
			is.Equal(g.s.Job.Reason, api.ReasonNeverJoined)
			is.Equal(*g.s.Job.ExitCode, api.ExitNotStarted) // not 0: the job failed
		}
	}
}

func TestStandingInLineHoldsInOrderOfNodes(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).next(Preflighted{1}, Planned{planOn(api.BackendRing, nodeIDs(0, 2, 1)...)}, Preflighted{1})
	g.next(Granted{1, 0, nodeID(0)}, GrantRefused{1, 1, true, Cause{Reason: api.ReasonGPUBusy, WaitingFor: "jaaaaaaaa/1/0"}})
	is.Equal(g.did(), "") // not all have answered
	is.Equal(g.s.Job.WaitingFor, "jaaaaaaaa/1/0")
	g.next(Granted{1, 2, nodeID(1)})
	is.Equal(g.did(), "release 1/0, release 1/1, release 1/2, ask 1/0 1m0s")
	g.next(Granted{1, 0, nodeID(0)})
	is.Equal(g.did(), "ask 1/2 1m0s")
	g.next(GrantRefused{1, 2, true, Cause{Reason: api.ReasonGPUBusy}})
	is.Equal(g.did(), "ask 1/2 1m0s") // goes on waiting
	g.fire(TimerRenew)
	is.Equal(g.did(), "renew 1 on node0") // what is held is kept meanwhile
	g.next(Renewed{1, nodeID(0)}, Granted{1, 2, nodeID(1)}, Granted{1, 1, nodeID(2)})
	is.Equal(g.did(), "start 1/0, start 1/1, start 1/2")
}

func TestPlacingHasADeadlineAndAReason(t *testing.T) {
	is := is.New(t)
	r := rules()
	r.Placing = time.Minute
	g := newRig(t, r).next(Unplaceable{Cause{Reason: api.ReasonNotEnoughMemory, WaitingFor: "40 GB on node1"}})
	is.Equal(g.s.Job.WaitingFor, "40 GB on node1")
	g.next(Planned{planOn(api.BackendRing, nodeIDs(0, 1)...)}, GrantRefused{1, 1, false, Cause{Reason: api.ReasonOnBattery}})
	is.Equal(g.did(), "release 1/0")
	is.Equal(g.s.Job.Phase, api.JobBackoff)
	is.Equal(g.s.Job.Reason, api.ReasonOnBattery)
	g.fire(TimerPlacing) // counts from the first look on
	is.Equal(g.did(), "tell failed 125")
	is.Equal(g.s.Job.Reason, api.ReasonOnBattery)
}

func TestBackoffGrowsToItsBound(t *testing.T) {
	is := is.New(t)
	r := rules()
	is.Equal(r.backoff(1), 500*time.Millisecond)
	is.Equal(r.backoff(3), 2*time.Second)
	is.Equal(r.backoff(1000), 30*time.Second)
	is.Equal(r.Window(), 41500*time.Millisecond)
}

func TestSpecDecides(t *testing.T) {
	is := is.New(t)
	grace, run := 0.5, -1.0
	r := RulesOf(api.JobSpec{MaxAttempts: 99, Retries: 2, Deadlines: api.Deadlines{GraceS: &grace, RunS: &run}}, DefaultTimes())
	is.Equal(r.MaxAttempts, api.MaxCountedAttempts)
	is.Equal(r.Grace, 500*time.Millisecond)
	is.Equal(r.Run, time.Duration(0)) // nonsense is no bound
}
