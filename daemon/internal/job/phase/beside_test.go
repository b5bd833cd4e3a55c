package phase

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// Of several ranks on a node the first is granted what all need, and all are started then.
func TestOneGrantANode(t *testing.T) {
	is := is.New(t)
	plan := planOn(api.BackendRing, nodeIDs(0, 0, 1, 1)...)
	for i := range plan.Ranks {
		plan.Ranks[i].MemoryBytes = int64(1) << i
	}
	g := newRig(t, rules()).next(Planned{plan})
	is.Equal(g.did(), "ask 1/0 0s, ask 1/2 0s, preflight 1")
	asked := map[int]int64{}
	for _, e := range g.last {
		if ask, ok := e.(AskGrant); ok {
			asked[ask.Rank.Rank] = ask.Rank.MemoryBytes
		}
	}
	is.Equal(asked, map[int]int64{0: 1 + 2, 2: 4 + 8})

	// One node lends to another job: one after the other, in the order of nodes, as ever.
	g.next(Preflighted{Attempt: 1}, Granted{1, 2, nodeID(1)}, GrantRefused{1, 0, true, Cause{Reason: api.ReasonMeasurementRunning}})
	is.Equal(g.did(), "release 1/0, release 1/2, ask 1/0 1m0s")
	g.next(Granted{1, 0, nodeID(0)})
	is.Equal(g.did(), "ask 1/2 1m0s")
	g.next(Granted{1, 2, nodeID(1)})
	is.Equal(g.did(), "start 1/0, start 1/1, start 1/2, start 1/3")
	g.ranks(api.RankRunning)
	is.Equal(g.s.Job.Phase, api.JobRunning)

	// A rank that is lost ends those beside it and all others.
	g.ended(3, exit(7))
	is.Equal(g.did(), "end 1 on node0 peer_rank_failed 2s, end 1 on node1 peer_rank_failed 2s")
	is.Equal(*g.s.Job.Attempts[0].FirstFailed, 3)
	g.ended(2, exit(143)).ended(0, exit(143))
	is.Equal(g.s.Job.Phase, api.JobEnding)
	g.ended(1, exit(143))
	is.Equal(g.did(), "release 1/0, release 1/2, tell failed 7")
}

// A home that was restarted before the start gives each node's grant back once.
func TestAGrantOfSeveralRanksIsGivenBackOnce(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).next(Planned{planOn(api.BackendRing, nodeIDs(0, 0, 1, 1)...)})
	_, out := Resume(nodeID(0), g.s.Job, rules(), at(1))
	is.Equal(words(out), "release 1/0, release 1/2, AskPlan")
}
