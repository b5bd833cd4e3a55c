package phase

import (
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// prepares are the rules of a job whose nodes are prepared.
func prepares() Rules {
	return rulesOf(api.JobSpec{MaxAttempts: 3, Program: api.Program{Prepare: []string{"true"}}})
}

func TestWhatHasToBePrepared(t *testing.T) {
	is := is.New(t)
	is.True(prepares().Prepares)
	is.True(RulesOf(api.JobSpec{Program: api.Program{Sync: true}}, DefaultTimes()).Prepares)
	is.True(!rules().Prepares)
	is.Equal(prepares().Preparing, 30*time.Minute)
	s := 7.0
	is.Equal(RulesOf(api.JobSpec{Deadlines: api.Deadlines{PreparingS: &s}}, DefaultTimes()).Preparing, 7*time.Second)
}

// prepared tells that a rank waits for the others.
func (g *rig) prepared(rank int) *rig {
	g.t.Helper()
	return g.next(RankAt{Attempt: g.s.Job.Attempt, Rank: rank, Phase: api.RankPreparing, Prepared: true})
}

func TestRanksRunOnceAllArePrepared(t *testing.T) {
	is := is.New(t)
	g := newRig(t, prepares()).started(api.BackendRing, nodeIDs(0, 1)...)
	is.Equal(g.did(), "prepare 1/0, prepare 1/1")
	is.Equal(g.s.Job.WaitingFor, "rank 0 on node0, rank 1 on node1 to be prepared")
	is.Equal(g.s.Job.Message, "node0, node1 are being prepared.")
	g.next(RankAt{Attempt: 1, Rank: 0, Phase: api.RankPreparing})
	g.prepared(1).prepared(1)
	is.Equal(g.did(), "")
	is.Equal(g.s.Job.WaitingFor, "rank 0 on node0 to be prepared")
	is.Equal(g.s.Job.Message, "node0 is being prepared.")
	g.fire(TimerRenew)
	is.Equal(g.did(), "renew 1 on node0, renew 1 on node1")
	is.True(!g.s.runs(TimerStarting)) // which counts from when all are prepared
	g.prepared(0)
	is.Equal(g.did(), "spawn 1/0, spawn 1/1")
	is.Equal(g.s.Job.WaitingFor+g.s.Job.Message, "")
	is.True(g.s.runs(TimerStarting) && !g.s.runs(TimerPreparing))
	g.prepared(0)
	is.Equal(g.did(), "")
	g.ranks(api.RankRunning)
	is.Equal(g.s.Job.Phase, api.JobRunning)
	is.Equal(g.path(), "queued placing starting running")
}

// runs reports whether a timer does.
func (s State) runs(k TimerKind) bool { return (&step{State: s}).runs(k) }

// A rank that is alone waits for nobody, and its preparation has its own time.
func TestARankAloneIsPreparedAndRuns(t *testing.T) {
	is := is.New(t)
	g := newRig(t, prepares()).started(api.BackendRing, nodeID(0))
	is.Equal(g.did(), "start 1/0")
	is.True(g.s.runs(TimerPreparing) && !g.s.runs(TimerStarting))
	g.ranks(api.RankStarting)
	is.Equal(g.did(), "")
	is.True(!g.s.runs(TimerPreparing) && g.s.runs(TimerStarting))
	is.Equal(g.ranks(api.RankRunning).s.Job.Phase, api.JobRunning)
}

// A node of an earlier version starts its rank by itself: the others are not kept.
func TestANodeThatDoesNotWaitKeepsNobody(t *testing.T) {
	for name, first := range map[string]func(g *rig){
		"it runs":    func(g *rig) { g.next(RankAt{Attempt: 1, Rank: 1, Phase: api.RankRunning}) },
		"it starts":  func(g *rig) { g.next(RankAt{Attempt: 1, Rank: 1, Phase: api.RankStarting}) },
		"it is over": func(g *rig) { g.ended(1, exit(0)) },
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			g := newRig(t, prepares()).started(api.BackendRing, nodeIDs(0, 1)...)
			first(g)
			is.Equal(g.did(), "")
			g.prepared(0)
			is.Equal(g.did(), "spawn 1/0")
			g = newRig(t, prepares()).started(api.BackendRing, nodeIDs(0, 1)...).prepared(0)
			first(g)
			is.Equal(g.did(), "spawn 1/0")
		})
	}
	is := is.New(t)
	g := newRig(t, prepares()).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)
	is.Equal(g.s.Job.Phase, api.JobRunning)
	is.True(!g.s.runs(TimerPreparing) && !g.s.runs(TimerStarting))
}

func TestWhatEndsAPreparation(t *testing.T) {
	for _, c := range []struct {
		name   string
		do     func(g *rig)
		reason api.Reason
		in     api.JobPhase // when the ranks have ended
	}{
		{"it fails", func(g *rig) {
			g.next(RankEnded{Attempt: 1, Rank: 0, Reason: api.ReasonPrepareFailed, Final: true})
		}, api.ReasonPrepareFailed, api.JobFailed},
		{"it takes too long", func(g *rig) { g.fire(TimerPreparing) }, api.ReasonPreparingTimeout, api.JobBackoff},
		{"a node is lost", func(g *rig) { g.next(NodeLost{Node: nodeID(0)}) }, api.ReasonNodeLost, api.JobBackoff},
		{"the nodes differ", func(g *rig) {
			g.next(Unlike{1, Cause{Reason: api.ReasonMLXVersionsDiffer, Final: true}})
		}, api.ReasonMLXVersionsDiffer, api.JobFailed},
		{"somebody stops it", func(g *rig) { g.next(StopAsked{}) }, "", api.JobStopped},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			g := newRig(t, prepares()).started(api.BackendRing, nodeIDs(0, 1)...).prepared(1)
			c.do(g)
			is.Equal(g.s.Job.Phase, api.JobEnding)
			is.Equal(g.s.Job.Attempts[0].Reason, c.reason)
			is.True(!g.s.runs(TimerPreparing) && !g.s.runs(TimerStarting))
			g.prepared(0) // which comes too late
			is.Equal(g.did(), "")
			g.ended(0, nil).ended(1, nil)
			is.Equal(g.s.Job.Phase, c.in)
		})
	}
	is := is.New(t)
	g := newRig(t, prepares()).started(api.BackendRing, nodeIDs(0, 1, 2)...).prepared(1).fire(TimerPreparing)
	is.Equal(g.s.Job.Message, "Not every rank was prepared within 1800 s: it waited for rank 0 on node0, rank 2 on node2.")
	is.Equal(g.s.Job.WaitingFor, "rank 0 on node0, rank 2 on node2")
}

// A home that was started again waits on: whoever was told to prepare does, and
// what it told before may be told again.
func TestAHomeThatComesBackWaitsForThePreparation(t *testing.T) {
	is := is.New(t)
	g := newRig(t, prepares()).started(api.BackendRing, nodeIDs(0, 1)...).prepared(1)
	resume := func() *rig {
		s, out := Resume(nodeID(0), g.s.Job, prepares(), at(100))
		is.Equal(words(out), "renew 1 on node0, renew 1 on node1")
		is.Equal(s.Job.Phase, api.JobStarting)
		is.True(slices.ContainsFunc(s.Timers, func(id TimerID) bool { return id.Kind == TimerLease })) // for whatever may live
		for _, e := range out {
			if timer, ok := e.(StartTimer); ok && timer.Timer.Kind == TimerPreparing {
				is.True(timer.After < 30*time.Minute && timer.After > 28*time.Minute) // what is left of it
			}
		}
		return &rig{t: t, s: s, clock: 100}
	}
	again := resume()
	again.prepared(1)
	is.Equal(again.did(), "")
	again.prepared(0)
	is.Equal(again.did(), "spawn 1/0, spawn 1/1")

	g.prepared(0)
	again = resume().next(RankAt{Attempt: 1, Rank: 1, Phase: api.RankStarting, Prepared: true})
	again.prepared(0)
	is.Equal(again.did(), "spawn 1/0") // the call that the former daemon may not have made
	again = resume().ended(0, nil)     // its own, which ended with its daemon
	is.Equal(again.did(), "end 1 on node1 rank_lost 2s")
}
