package phase

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// running is a job of two ranks that runs.
func running(t *testing.T, r Rules) *rig {
	t.Helper()
	return newRig(t, r).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)
}

// A job that was stopped has the status of what had failed before, else of the lowest rank
// that did not end well; where no rank ran, that of a job that was not started.
func TestTheStatusOfAJobThatWasStopped(t *testing.T) {
	for name, c := range map[string]struct {
		before, first, second *api.Exit
		want                  int
	}{
		"both ended well":           {nil, exit(0), exit(0), 0},
		"the second did not":        {nil, exit(0), exit(5), 5},
		"neither did":               {nil, &api.Exit{Signal: 15}, exit(5), 143},
		"of one nobody knows":       {nil, nil, exit(5), 5},
		"of neither":                {nil, nil, nil, api.ExitNotStarted},
		"one ended, of one unknown": {nil, exit(0), nil, 0},
		"one had failed before":     {exit(7), exit(5), nil, 7},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			g := running(t, rules())
			if c.before != nil {
				g.ended(1, c.before)
			}
			g.next(StopAsked{}).ended(0, c.first).ended(1, c.second)
			is.Equal(g.s.Job.Phase, api.JobStopped)
			is.Equal(*g.s.Job.ExitCode, c.want)
			is.Equal(g.s.Job.Attempts[0].Reason == api.ReasonStoppedByPerson, c.before == nil)
		})
	}
}

// Whoever ends a job in a person's place says why.
func TestWhatStandsForARequest(t *testing.T) {
	is := is.New(t)
	g := running(t, rules()).next(StopAsked{Reason: api.ReasonClientGone})
	is.Equal(g.did(), "end 1 on node0 client_gone 10s, end 1 on node1 client_gone 10s")
	is.Equal(g.s.Job.Reason, api.ReasonClientGone)
	g.ended(0, nil).ended(1, nil)
	is.Equal(g.s.Job.Reason, api.ReasonClientGone)
	is.Equal(g.s.Job.Attempts[0].Reason, api.ReasonClientGone)

	g = newRig(t, rules()).next(Planned{planOn(api.BackendRing, nodeIDs(0, 1)...)}, StopAsked{Reason: api.ReasonClientGone})
	is.Equal(g.s.Job.Attempts[0].Reason, api.ReasonClientGone)
	is.True(g.s.Job.Attempts[0].Uncounted) // nothing of it was started
}

// Where all programs ended by themselves, and well, nothing is held against their Macs; but
// a deadline is one.
func TestAllEndedWell(t *testing.T) {
	is := is.New(t)
	g := running(t, rules()).next(NodeLost{Node: nodeID(1)}).ended(0, exit(0))
	is.Equal(*g.s.Job.Attempts[0].FirstFailed, 1)
	g.ended(1, exit(0))
	is.Equal(g.s.Job.Phase, api.JobSucceeded)
	is.Equal(*g.s.Job.ExitCode, 0)
	is.Equal(g.s.Job.Reason, api.Reason(""))
	a := g.s.Job.Attempts[0]
	is.Equal(string(a.Reason)+a.Message, "")
	is.Equal(a.FirstFailed, nil)
	is.Equal(a.ExitCode, nil)

	g = running(t, rules()).next(RankFailing{Attempt: 1, Rank: 1, Exit: exit(3)}).ended(0, exit(0)).ended(1, exit(0))
	is.Equal(g.s.Job.Attempts[0].ExitCode, nil)

	for name, last := range map[string]*api.Exit{"one did not end well": exit(1), "of one nobody knows": nil} {
		g = running(t, rules()).next(NodeLost{Node: nodeID(1)}).ended(0, exit(0)).ended(1, last)
		if g.s.Job.Reason != api.ReasonNodeLost {
			t.Error(name)
		}
	}
}

// What is told of an attempt stays when the job goes on without it.
func TestAnAttemptKeepsItsReason(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).next(Planned{planOn(api.BackendRing, nodeIDs(0, 1)...)}, GrantRefused{1, 1, false, Cause{Reason: api.ReasonOnBattery}})
	g.fire(TimerBackoff).next(Unplaceable{Cause: Cause{Reason: api.ReasonNotEnoughMemory, Final: true}})
	is.Equal(g.s.Job.Reason, api.ReasonNotEnoughMemory)
	is.Equal(g.s.Job.Attempts[0].Reason, api.ReasonOnBattery)
	is.Equal(*g.s.Job.ExitCode, 125)
}

// Ranks are told to end only while the job ends, and only of an attempt that is open.
func TestNothingIsEndedTwice(t *testing.T) {
	for name, s := range map[string]State{
		"closed": {Job: api.Job{Phase: api.JobEnding}},
		"runs":   {Job: api.Job{Phase: api.JobRunning}, open: true},
	} {
		s.Nodes, s.Ranks = []Node{{ID: nodeID(0)}}, []Rank{{Node: nodeID(0), Started: true}}
		m := &step{State: s}
		if m.endAll(); len(m.out) > 0 {
			t.Errorf("%s: %v", name, m.out)
		}
	}
}

// The wait doubles with whatever kept the job from starting, and each node that refuses the
// job is one.
func TestWhateverFailsMakesTheWaitLonger(t *testing.T) {
	refuse := func(g *rig) {
		g.next(Planned{planOn(api.BackendRing, nodeIDs(0, 1)...)}, GrantRefused{g.s.Job.Attempt + 1, 1, false, Cause{Reason: api.ReasonOnBattery}})
	}
	is := is.New(t)
	g := newRig(t, rules())
	g.next(Planned{planOn(api.BackendRing, nodeID(1))}, HandOverRefused{nodeID(1), Cause{Reason: api.ReasonStopping}})
	for n := 1; n < 6; n++ {
		wait := g.s.Job.NextAttemptAt.Sub(at(g.clock).Time)
		least := 250 * time.Millisecond << n
		is.True(wait >= least && wait <= least*5/4)
		is.Equal(g.s.failedRuns, n)
		g.fire(TimerBackoff)
		is.True(g.s.Job.NextAttemptAt.IsZero())
		refuse(g)
	}
}

// A job that was handed on, and stopped, ends at a home that has lost what it knew as
// stopped; its ranks have been told nothing.
func TestAStopIsTakenBack(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).next(Planned{planOn(api.BackendRing, nodeID(1))}, StopAsked{})
	is.Equal(g.s.Job.Phase, api.JobPlacing)
	s, out := TakeBack(nodeID(0), g.s.Job, rules(), at(9))
	is.Equal(words(out), "tell stopped 125")
	is.Equal(s.Job.NextHome, api.NodeID(""))
}
