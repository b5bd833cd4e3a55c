package phase

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// asking is a job that asks for the grants of two ranks.
func asking(t *testing.T) *rig {
	t.Helper()
	return newRig(t, rules()).next(Planned{planOn(api.BackendRing, nodeIDs(0, 1)...)})
}

// Why there is no place is told when it changes.
func TestWhyThereIsNoPlace(t *testing.T) {
	is := is.New(t)
	why := Cause{Reason: api.ReasonNotEnoughMemory, Message: "Too little.", WaitingFor: "node1"}
	g := newRig(t, rules()).next(Unplaceable{why}, Unplaceable{why})
	is.Equal(len(g.last), 0)
	for _, other := range []Cause{
		{Reason: api.ReasonNotEnoughNodes, Message: "Too little.", WaitingFor: "node1"},
		{Reason: api.ReasonNotEnoughNodes, Message: "Too few.", WaitingFor: "node1"},
		{Reason: api.ReasonNotEnoughNodes, Message: "Too few.", WaitingFor: "node2"},
	} {
		g.next(Unplaceable{other})
		is.Equal(Cause{Reason: g.s.Job.Reason, Message: g.s.Job.Message, WaitingFor: g.s.Job.WaitingFor}, other)
	}
	g.next(Planned{planOn(api.BackendRing, nodeID(0))}, Unplaceable{why})
	is.Equal(g.s.Job.Reason, api.Reason("")) // it has one by now
}

// A job that nobody could place, and that waits for no reason that is known, ends for want
// of nodes.
func TestPlacingEndsForAReason(t *testing.T) {
	is := is.New(t)
	r := rules()
	r.Placing = time.Minute
	g := newRig(t, r).next(Planned{planOn(api.BackendRing, nodeIDs(0, 1)...)})
	is.Equal(startedTimer(g.all, TimerPlacing), time.Minute)
	is.Equal(g.s.Job.Phases[1].Attempt, 0) // the look for nodes is before the first attempt
	g.fire(TimerPlacing)
	is.Equal(g.s.Job.Reason, api.ReasonNotEnoughNodes)
	is.Equal(startedTimer(newRig(t, r).next(Unplaceable{Cause{Reason: api.ReasonOnBattery}}).all, TimerPlacing), time.Minute)
}

// The time for placing is over for a start that came to run: what is repeated after has its
// own.
func TestPlacingIsCountedAnewAfterARun(t *testing.T) {
	is := is.New(t)
	r := rules()
	r.Placing, r.Retries = 20*time.Second, 1
	g := newRig(t, r).started(api.BackendRing, nodeIDs(0, 1)...).fire(TimerPlacing).ranks(api.RankRunning)
	g.ended(0, exit(1)).ended(1, nil).fire(TimerBackoff)
	is.Equal(startedTimer(g.last, TimerPlacing), r.Placing)
	g.started(api.BackendRing, nodeIDs(0, 1)...).next(NodeLost{Node: nodeID(1)}).ended(0, nil).ended(1, nil)
	is.Equal(g.s.Job.Phase, api.JobBackoff)
}

// What is told of another attempt, or after the start, changes nothing.
func TestWhatIsToldOfAnotherAttempt(t *testing.T) {
	note := api.Cause{Reason: api.ReasonGPUUsedByOtherProgram, Subject: "node1"}
	why := Cause{Reason: api.ReasonProgramMissing, Final: true}
	started := func(t *testing.T) *rig { return newRig(t, rules()).started(api.BackendRing, nodeIDs(0, 1)...) }
	granted := func(t *testing.T) *rig { return asking(t).next(Granted{1, 0, nodeID(0)}, Granted{1, 1, nodeID(1)}) }
	closed := func(t *testing.T) *rig {
		return asking(t).next(GrantRefused{1, 1, false, Cause{Reason: api.ReasonOnBattery}})
	}
	for name, c := range map[string]struct {
		to func(*testing.T) *rig
		e  Event
	}{
		"passed, another":       {granted, Preflighted{Attempt: 2}},
		"passed, started":       {started, Preflighted{Attempt: 1, Notes: []api.Cause{note}}},
		"failed, another":       {granted, PreflightFailed{Attempt: 2, Cause: why}},
		"failed, started":       {started, PreflightFailed{Attempt: 1, Cause: why}},
		"noted, another":        {asking, Noted{2, note}},
		"noted, closed":         {closed, Noted{1, note}},
		"link, another":         {started, LinkLost{2, why}},
		"end accepted, another": {started, EndAccepted{2, nodeID(0)}},
		"at, another":           {started, RankAt{Attempt: 2, Rank: 0, Phase: api.RankRunning}},
		"ended, another":        {started, RankEnded{Attempt: 2, Rank: 0}},
		"granted twice":         {granted, Granted{1, 0, nodeID(0)}},
		"granted by another":    {asking, Granted{1, 0, nodeID(1)}},
	} {
		t.Run(name, func(t *testing.T) {
			g := c.to(t)
			if g.next(c.e); len(g.last) > 0 {
				t.Errorf("%v", g.last)
			}
		})
	}
}

// What a person should know of an attempt is told once, to readers who have the former plan
// too.
func TestANote(t *testing.T) {
	is := is.New(t)
	note := api.Cause{Reason: api.ReasonProgramMLXMissing, Subject: "node1"}
	g := asking(t)
	before := g.s.Job.Attempts[0].Plan
	is.True(!(&step{State: g.s}).noted(note.Reason))
	g.next(Noted{1, note})
	is.Equal(g.s.Job.Attempts[0].Plan.Notes, []api.Cause{note})
	is.Equal(len(before.Notes), 0)
	is.True((&step{State: g.s}).noted(note.Reason))
	g.next(Noted{1, note})
	is.Equal(len(g.last), 0)

	is.True(!(&step{}).noted(note.Reason)) // no attempt
	m := &step{State: State{open: true, Job: api.Job{Attempts: []api.Attempt{{}}}}}
	is.True(!m.noted(note.Reason)) // no plan
	m.note(Noted{0, note})
	is.True(!m.dirty)
}

// A grant that nobody waits for any more is given back.
func TestAGrantThatComesLate(t *testing.T) {
	is := is.New(t)
	busy := GrantRefused{1, 0, true, Cause{Reason: api.ReasonGPUBusy}}
	g := asking(t).next(busy, Granted{1, 1, nodeID(1)})
	is.Equal(g.did(), "release 1/0, release 1/1, ask 1/0 1m0s")
	g.next(Granted{1, 1, nodeID(1)}) // for the request that was withdrawn
	is.Equal(g.did(), "release 1/1")
	g.next(Granted{2, 0, nodeID(0)})
	is.Equal(g.did(), "release 2/0")
	g.next(Granted{1, 0, nodeID(0)})
	is.Equal(g.did(), "ask 1/1 1m0s")

	g.next(Idled{time.Minute, "slept"}) // all are asked for anew, and no longer in line
	is.Equal(g.did(), "renew 1 on node0, ask 1/0 0s, ask 1/1 0s")
	g.next(GrantRefused{1, 1, true, Cause{Reason: api.ReasonGPUBusy}})
	is.Equal(g.did(), "")
	g.next(Granted{1, 0, nodeID(0)})
	is.Equal(g.did(), "release 1/0, release 1/1, ask 1/0 1m0s")
}

// Another plan is looked for, and nothing that kept the first from starting is in the way.
func TestWhatAReplacedPlanLeaves(t *testing.T) {
	is := is.New(t)
	g := asking(t).next(GrantRefused{1, 1, true, Cause{Reason: api.ReasonGPUBusy, WaitingFor: "node1"}})
	g.next(PreflightFailed{Attempt: 1, Cause: Cause{Reason: api.ReasonJACCLMissing}, Replan: true})
	is.True(g.s.Job.Attempts[0].Replanned)
	is.Equal(string(g.s.Job.Reason)+g.s.Job.WaitingFor, "")
}

// Renewals begin anew with the start, so that no node is asked for ranks of which it has
// not heard.
func TestRenewalsBeginWithTheStart(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).started(api.BackendRing, nodeIDs(0, 1)...)
	is.Equal(g.did(), "start 1/0, start 1/1")
	is.Equal(startedTimer(g.last, TimerRenew), rules().Renewal)
	is.Equal(startedTimer(g.last, TimerStarting), rules().Starting)
	is.Equal(startedTimer(g.last, TimerLease), rules().Window())
}
