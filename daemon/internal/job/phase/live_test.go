package phase

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// A rank goes from one phase to a later one, and never back.
func TestWhatFollowsInARank(t *testing.T) {
	for _, c := range []struct {
		from, to api.RankPhase
		want     bool
	}{
		{"", api.RankGranted, true}, {api.RankStarting, api.RankRunning, true}, {api.RankHandshake, api.RankRunning, true},
		{api.RankRunning, api.RankHandshake, false}, {api.RankRunning, api.RankRunning, false},
		{api.RankRunning, "of_later_on", false}, {api.RankExited, api.RankLost, false},
	} {
		if later(c.from, c.to) != c.want {
			t.Errorf("%q to %q", c.from, c.to)
		}
	}
}

// One that ended well, before its start was told, keeps the others from nothing.
func TestOneThatIsThroughBeforeTheOthersRun(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).started(api.BackendRing, nodeIDs(0, 1)...).next(RankAt{Attempt: 1, Rank: 0, Phase: api.RankRunning})
	g.ended(1, exit(0))
	is.Equal(g.s.Job.Phase, api.JobRunning)
	is.Equal(g.s.Ranks[1].Phase, api.RankExited)
	g.ended(0, nil)
	is.Equal(g.s.Ranks[0].Phase, api.RankLost) // how it ended nobody knows
}

// The news that a program is failing tells how far it had come; one that ended well is
// failing only where it never joined.
func TestWhatARankThatIsFailingTells(t *testing.T) {
	is := is.New(t)
	failing := func(code int, s api.HandshakeState) *rig {
		g := newRig(t, rules()).started(api.BackendJACCL, nodeIDs(0, 1)...).ranks(api.RankHandshake)
		return g.next(RankFailing{Attempt: 1, Rank: 1, Exit: exit(code), Handshake: s})
	}
	g := failing(3, api.HandshakeJoined)
	is.Equal(g.s.Job.Phase, api.JobEnding)
	is.Equal(g.s.Job.Attempts[0].Joined, []int{1})
	is.Equal(g.s.Job.Reason, api.ReasonRankFailed)
	is.Equal(failing(0, api.HandshakeJoined).s.Job.Phase, api.JobHandshake)
	is.Equal(failing(0, api.HandshakeNone).s.Job.Reason, api.ReasonNeverJoined)
}

// A node that is lost ends the attempt whose ranks it has, in its own words or in these.
func TestWhichNodeIsLost(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)
	g.next(NodeLost{Node: nodeID(7)}, NodeBack{nodeID(1)})
	is.Equal(g.s.Job.Phase, api.JobRunning)
	is.Equal(len(g.last), 0)
	g.next(NodeLost{Node: nodeID(1)})
	is.Equal(g.s.Job.Reason, api.ReasonNodeLost)
	is.Equal(g.s.Job.Message, "node1 no longer answers.")
	is.Equal(g.s.Job.WaitingFor, "node node1")

	own := Cause{Reason: api.ReasonStopping, Message: "node1 is shut down.", WaitingFor: "node1 to be back"}
	g = newRig(t, rules()).started(api.BackendRing, nodeIDs(0, 1)...).next(NodeLost{Node: nodeID(1), Cause: own})
	is.Equal(Cause{Reason: g.s.Job.Reason, Message: g.s.Job.Message, WaitingFor: g.s.Job.WaitingFor}, own)

	g.ended(0, nil).ended(1, nil)
	is.Equal(g.s.Job.Phase, api.JobBackoff)
	g.next(NodeLost{Node: nodeID(0)})
	is.Equal(len(g.last), 0) // no rank is there any more
}

// Whoever did not answer for half a lease is told, and for how long that was.
func TestANodeThatDoesNotAnswer(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)
	is.Equal(g.fire(TimerRenew).did(), "renew 1 on node0, renew 1 on node1")
	g.next(Renewed{1, nodeID(0)}, Renewed{7, nodeID(1)}, Renewed{1, nodeID(7)}) // of another attempt, and another's
	is.Equal(g.fire(TimerRenew).did(), "renew 1 on node1")
	is.Equal(startedTimer(g.last, TimerLease), time.Duration(-1)) // no lease is renewed meanwhile
	for g.s.Job.Phase == api.JobRunning {
		g.fire(TimerRenew)
	}
	is.Equal(g.s.Job.Message, "node1 did not answer for 20 s, so the leases of its ranks could not be renewed.")
}

// Nothing is renewed, given up or told to end of an attempt that is closed or ends.
func TestWhatIsOverIsLeft(t *testing.T) {
	for name, c := range map[string]struct {
		open  bool
		phase api.JobPhase
		do    func(*step)
	}{
		"renewed, closed":  {false, api.JobRunning, (*step).renew},
		"renewed, ending":  {true, api.JobEnding, (*step).renew},
		"given up, closed": {false, api.JobRunning, (*step).leaseOver},
		"given up, placed": {true, api.JobPlacing, (*step).leaseOver},
		"finished, closed": {false, api.JobEnding, (*step).finishIfEnded},
		"finished, placed": {true, api.JobPlacing, (*step).finishIfEnded},
		"finished, lives":  {true, api.JobEnding, (*step).finishIfEnded},
		"ended, closed":    {false, api.JobEnding, (*step).endAll},
		"ended, runs":      {true, api.JobRunning, (*step).endAll},
		"nobody has it":    {true, api.JobStarting, (*step).spawnIfPrepared},
	} {
		t.Run(name, func(t *testing.T) {
			plan := planOn(api.BackendRing, nodeID(0))
			m := &step{State: State{Rules: rules(), open: c.open, Job: api.Job{Phase: c.phase, Attempts: []api.Attempt{{Plan: &plan}}}}}
			m.setPlan(plan)
			m.Ranks[0].Started = name != "finished, closed" && name != "finished, placed"
			if c.do(m); len(m.out) > 0 || m.dirty || m.Ranks[0].Phase != "" {
				t.Errorf("%v, and then it is in %s", m.out, m.Job.Phase)
			}
		})
	}
}

// A lease that ran out names the ranks of which nothing was heard.
func TestWhoseLeaseRanOut(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning).ended(0, exit(0)).fire(TimerLease)
	is.Equal(g.s.Job.Attempts[0].Message, "Nothing was heard from rank 1 on node1 for so long that what runs there must have ended.")
	is.Equal(g.s.Cause.WaitingFor, "rank 1 on node1")
	is.Equal(g.s.Ranks[1].Phase, api.RankLost)
}
