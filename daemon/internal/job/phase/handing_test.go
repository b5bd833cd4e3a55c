package phase

import (
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// A home that was asking another node to take the job, and was started again,
// cannot know whether that node has: it goes on asking and starts nothing itself.
func TestARestartRemembersToWhomTheJobWasHanded(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules())
	g.next(Planned{planOn(api.BackendRing, nodeID(1))})
	is.Equal(g.s.Job.NextHome, nodeID(1))

	var out []Effect
	g.s, out = Resume(nodeID(0), g.s.Job, rules(), at(9))
	is.True(strings.HasPrefix(words(out), "hand over to "+string(nodeID(1))))
	g.next(Presence{nodeIDs(0, 1), nodeIDs(0)}, Planned{planOn(api.BackendRing, nodeID(0))})
	is.Equal(g.did(), "") // the other may run it by now
	is.Equal(g.s.Job.Attempt, 0)

	g.next(HandOverRefused{nodeID(1), Cause{Reason: api.ReasonStopping}})
	is.Equal(g.s.Job.NextHome, api.NodeID(""))
	is.Equal(g.s.Phase(), api.JobBackoff)
}

// A node that will never take the job ends it, one that cannot now is looked for again.
func TestARefusalThatIsFinalEndsTheJob(t *testing.T) {
	for isFinal, want := range map[bool]api.JobPhase{true: api.JobFailed, false: api.JobBackoff} {
		is := is.New(t)
		g := newRig(t, rules())
		g.next(Planned{planOn(api.BackendRing, nodeID(1))}, HandOverRefused{nodeID(1), Cause{Reason: api.ReasonProgramMissing, Final: isFinal}})
		is.Equal(g.s.Phase(), want)
		is.Equal(g.s.Job.Reason, api.ReasonProgramMissing)
	}
}

// Whoever takes a job over that was being handed on counts above both.
func TestATakeOverOutranksTheNextHome(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules())
	g.next(Planned{planOn(api.BackendRing, nodeID(1))})
	third := Follow(nodeID(2), g.s.Job, rules())
	third, _ = Next(third, at(1), Presence{nodeIDs(0, 1, 2), nodeIDs(2)})
	third, _ = Next(third, at(2), TakeOver{})
	is.Equal(third.Role, RoleHome)
	is.Equal(third.Job.Epoch, api.NextTerm(2))
	is.Equal(third.Job.NextHome, api.NodeID(""))

	g.next(TakeOver{}) // so does the home itself, which asks nobody any more
	is.Equal(g.s.Role, RoleHome)
	is.Equal(g.s.Job.Home, nodeID(0))
	is.True(g.s.Job.Epoch > 2)
	is.Equal(g.s.Job.NextHome, api.NodeID(""))
}

// The node to which a job was handed does not know whom the home before told of
// it: out of sight of a majority it starts nothing.
func TestANextHomeCountsOnOthersKnowingTheJob(t *testing.T) {
	is := is.New(t)
	g := &rig{t: t}
	g.s, _ = Accept(nodeID(1), api.Job{Epoch: 2, Phase: api.JobPlacing}, rules(), at(0))
	g.next(Presence{nodeIDs(0, 1, 2, 3, 4), nodeIDs(0, 1)}, Planned{planOn(api.BackendRing, nodeID(1))})
	is.Equal(g.s.Job.Reason, api.ReasonNoMajority)
	is.Equal(g.s.Job.Attempt, 0)
}

// What members hold of an attempt that was given up for a former home's must not
// count for the next one: it has a number of its own.
func TestANumberOfAnAttemptIsUsedOnce(t *testing.T) {
	is := is.New(t)
	g := &rig{t: t, s: follower(api.JobBackoff)}
	g.s.Job.Attempts[0].EndedAt = at(2)
	g.next(all("node0", "node1", "node8")).fire(TimerHomeLost).elected()
	plan := Planned{planOn(api.BackendRing, nodeIDs(0, 1)...)}
	g.next(plan, GrantRefused{Attempt: 2, Rank: 0}).fire(TimerBackoff)
	g.next(plan, Held{3, g.s.Job.Epoch, nodeIDs(1)})
	other := follower(api.JobRunning).Job
	other.Attempt, other.Attempts[0].Attempt = 2, 2
	g.next(Seen{other}, EndAccepted{2, "node9"}).fire(TimerLease).fire(TimerBackoff)
	g.next(plan)
	is.Equal(g.s.Job.Attempt, 4)
}

// Grants that a home did not renew, for it slept, are there no more when it wants to start:
// it asks for them again, and nobody is blamed.
func TestAHomeThatSleptAsksAgainForItsGrants(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).next(Planned{planOn(api.BackendRing, nodeIDs(0, 1)...)}, Granted{1, 0, nodeID(0)}, Granted{1, 1, nodeID(1)})
	g.next(Idled{5 * time.Second, "slept"})
	is.Equal(g.did(), "renew 1 on node0, renew 1 on node1") // that is less than they last
	g.next(Idled{time.Minute, "slept"})
	is.Equal(g.did(), "renew 1 on node0, renew 1 on node1, ask 1/0 0s, ask 1/1 0s")
	g.next(Granted{1, 0, nodeID(0)}, Preflighted{Attempt: 1})
	is.Equal(g.did(), "")
	g.next(Granted{1, 1, nodeID(1)})
	is.Equal(g.did(), "start 1/0, start 1/1")
}
