package phase

import (
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestARingRunsToItsEnd(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules())
	is.Equal(g.did(), "AskPlan")
	g.next(Planned{planOn(api.BackendRing, nodeIDs(0, 1)...)})
	is.Equal(g.did(), "ask 1/0 0s, ask 1/1 0s, preflight 1") // everything at once
	g.next(Granted{1, 1, nodeID(1)}, Preflighted{Attempt: 1})
	is.Equal(g.did(), "")
	g.next(Granted{1, 0, nodeID(0)})
	is.Equal(g.did(), "start 1/0, start 1/1")
	g.next(RankAt{Attempt: 1, Rank: 0, Phase: api.RankRunning})
	is.Equal(g.s.Job.Phase, api.JobStarting)
	g.next(RankAt{Attempt: 1, Rank: 1, Phase: api.RankRunning})
	is.Equal(g.s.Job.Phase, api.JobRunning)
	g.fire(TimerRenew)
	is.Equal(g.did(), "renew 1 on node0, renew 1 on node1")
	g.next(Renewed{1, nodeID(0)}, Renewed{1, nodeID(1)})
	g.ended(1, exit(0))
	is.Equal(g.s.Job.Phase, api.JobRunning)
	g.ended(0, exit(0))
	is.Equal(g.did(), "release 1/0, release 1/1, tell succeeded 0")
	is.Equal(g.path(), "queued placing starting running ending succeeded")
	is.Equal(len(g.s.Job.Attempts[0].Joined), 0) // of a ring nobody sees who joined
	g.next(Granted{1, 0, nodeID(0)})
	is.Equal(g.did(), "release 1/0") // a grant that comes late
}

func TestAHandshakeIsWatchedWhereThereIsOne(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).started(api.BackendJACCL, nodeIDs(0, 1)...).ranks(api.RankHandshake)
	is.Equal(g.s.Job.Phase, api.JobHandshake)
	g.next(RankAt{Attempt: 1, Rank: 1, Phase: api.RankRunning})
	is.Equal(g.s.Job.Attempts[0].Joined, []int{1})
	g.fire(TimerHandshake)
	is.Equal(g.s.Job.Reason, api.ReasonHandshakeTimeout)
	is.Equal(g.s.Job.WaitingFor, "rank 0 on node0")
	is.Equal(*g.s.Job.Attempts[0].FirstFailed, 0)
}

// TestWhatEndsAGroup goes through the ways in which a running group ends badly.
func TestWhatEndsAGroup(t *testing.T) {
	for _, c := range []struct {
		name   string
		do     func(g *rig)
		reason api.Reason
		rank   int // that failed first; -1: none
		code   int
	}{
		{"exit code", func(g *rig) { g.ended(1, exit(42)).ended(0, &api.Exit{Signal: 15}) }, api.ReasonRankFailed, 1, 42},
		{"crash", func(g *rig) { g.ended(0, &api.Exit{Signal: 11}).ended(1, exit(3)) }, api.ReasonRankCrashed, 0, 139},
		{"kill", func(g *rig) { g.ended(0, &api.Exit{Signal: 9}).ended(1, exit(3)) }, api.ReasonRankKilled, 0, 137},
		{"memory", func(g *rig) { g.ended(0, &api.Exit{Signal: 9, OutOfMemory: true}).ended(1, exit(3)) }, api.ReasonRankOutOfMemory, 0, 137},
		{"nobody knows", func(g *rig) { g.ended(0, nil).ended(1, exit(3)) }, api.ReasonRankLost, 0, 125},
		{"node lost", func(g *rig) {
			g.next(NodeLost{Node: nodeID(1)}).ended(0, &api.Exit{Signal: 15}).fire(TimerLease)
		}, api.ReasonNodeLost, 1, 125},
		{"node silent", func(g *rig) {
			g.fire(TimerRenew).next(Renewed{1, nodeID(0)})
			for range 4 { // it may be started again: for half a lease only it is asked
				is.New(g.t).Equal(g.s.Job.Phase, api.JobRunning)
				if g.fire(TimerRenew); g.s.Job.Phase == api.JobRunning {
					is.New(g.t).Equal(g.did(), "renew 1 on node1")
				}
			}
			g.ended(0, &api.Exit{Signal: 15}).ended(1, nil)
		}, api.ReasonNodeLost, 1, 125},
		{"home slept", func(g *rig) { g.fire(TimerLease) }, api.ReasonLeaseExpired, -1, 125},
		{"too long", func(g *rig) { g.fire(TimerRun).ended(0, exit(0)).ended(1, exit(0)) }, api.ReasonRunTooLong, -1, 125},
		{"silent", func(g *rig) { g.next(Printed{}).silence().ended(0, exit(0)).ended(1, exit(0)) }, api.ReasonSilentTooLong, -1, 125},
		{"failing before it has ended", func(g *rig) {
			g.next(RankFailing{Attempt: 1, Rank: 1, Exit: &api.Exit{Signal: 9}})
			if g.s.Job.Phase != api.JobEnding || !g.s.Ranks[1].MayLive() {
				g.t.Errorf("%s: the others wait for its end", g.s.Job.Phase)
			}
			g.ended(0, exit(1)).ended(1, &api.Exit{Signal: 9}) // the one that noticed is not the cause
		}, api.ReasonRankKilled, 1, 137},
		{"heard of later and ended sooner", func(g *rig) {
			at := func(ms int) api.Time { return api.TimeOf(time.Date(2026, 11, 21, 12, 0, 0, ms*1e6, time.UTC)) }
			g.next(RankFailing{Attempt: 1, Rank: 0, Exit: exit(1), At: at(30)})
			g.next(RankFailing{Attempt: 1, Rank: 1, Exit: &api.Exit{Signal: 9}, At: at(5)})
			g.next(RankEnded{Attempt: 1, Rank: 0, Exit: exit(1), At: at(30)}).next(RankEnded{Attempt: 1, Rank: 1, Exit: &api.Exit{Signal: 9}, At: at(5)})
		}, api.ReasonRankKilled, 1, 137},
		{"the node says why", func(g *rig) {
			g.next(RankEnded{Attempt: 1, Rank: 1, Reason: api.ReasonProgramMissing}).ended(0, nil)
		}, api.ReasonProgramMissing, 1, 127},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			r := rules()
			r.Run, r.Silence = 1, 1
			g := newRig(t, r).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)
			c.do(g)
			is.Equal(g.s.Job.Phase, api.JobFailed) // nothing is retried after the start
			is.Equal(g.s.Job.Reason, c.reason)
			is.Equal(*g.s.Job.ExitCode, c.code)
			a := g.s.Job.Attempts[0]
			is.Equal(a.Reason, c.reason)
			if c.rank < 0 {
				is.Equal(a.FirstFailed, nil)
			} else {
				is.Equal(*a.FirstFailed, c.rank)
			}
			is.True(!slices.ContainsFunc(g.s.Ranks, Rank.MayLive))
		})
	}
}

func TestEndingIsOrderedUntilEveryEndIsKnown(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).started(api.BackendRing, nodeIDs(0, 1, 2)...).ranks(api.RankRunning).ended(1, exit(1))
	is.Equal(g.did(), "end 1 on node0 peer_rank_failed 2s, end 1 on node2 peer_rank_failed 2s")
	g.ended(0, &api.Exit{Signal: 15}).fire(TimerEnd)
	is.Equal(g.did(), "end 1 on node2 peer_rank_failed 2s")
	g.next(NodeLost{Node: nodeID(2)}, NodeBack{nodeID(2)})
	is.Equal(g.did(), "end 1 on node2 peer_rank_failed 2s")
	g.next(StopAsked{Kill: true})
	is.Equal(g.did(), "end 1 on node2 peer_rank_failed 0s")
	g.fire(TimerLease)
	is.Equal(g.s.Job.Phase, api.JobStopped)
	is.Equal(*g.s.Job.ExitCode, 1)
}

// A second request can make the end harder; it stays the request of who asked first.
func TestAHarderRequestIsOfWhoAskedFirst(t *testing.T) {
	is := is.New(t)
	first, second := api.Principal{User: "ada", Node: nodeID(0)}, api.Principal{User: "bob", Node: nodeID(1)}
	g := newRig(t, rules()).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning).next(StopAsked{By: first})
	was := *g.s.Job.StopRequested
	g.did()
	g.next(StopAsked{By: second, Kill: true})
	is.Equal(g.did(), "end 1 on node0 stopped_by_person 0s, end 1 on node1 stopped_by_person 0s")
	is.Equal(*g.s.Job.StopRequested, api.StopRequest{By: first, At: was.At, Kill: true})
	g.next(StopAsked{By: second, Kill: true})
	is.Equal(g.did(), "") // nothing is harder
}

func TestStopping(t *testing.T) {
	for _, c := range []struct {
		name string
		to   func(g *rig) *rig
		want string
	}{
		{"queued", func(g *rig) *rig { return g }, "tell stopped 125"},
		{"waiting for a place", func(g *rig) *rig {
			return g.next(Unplaceable{Cause: Cause{Reason: api.ReasonNotEnoughNodes}})
		}, "tell stopped 125"},
		{"asking for grants", func(g *rig) *rig {
			return g.next(Planned{planOn(api.BackendRing, nodeIDs(0, 1)...)}, Granted{1, 0, nodeID(0)})
		}, "release 1/0, release 1/1, tell stopped 125"},
		{"backing off", func(g *rig) *rig {
			return g.next(Planned{planOn(api.BackendRing, nodeIDs(0)...)}, NodeLost{Node: nodeID(0)})
		}, "tell stopped 125"},
		{"running", func(g *rig) *rig {
			return g.started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)
		}, "end 1 on node0 stopped_by_person 10s, end 1 on node1 stopped_by_person 10s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			g := c.to(newRig(t, rules())).next(StopAsked{By: api.Principal{User: "u", Node: nodeID(0)}})
			is.Equal(g.did(), c.want)
			g.next(StopAsked{}) // a second request that is not harder changes nothing
			is.Equal(g.did(), "")
			if len(g.s.Ranks) > 0 && g.s.Live() {
				g.ended(1, exit(0)).ended(0, &api.Exit{Signal: 15})
				is.Equal(g.did(), "release 1/0, release 1/1, tell stopped 143")
			}
			is.Equal(g.s.Job.Reason, api.ReasonStoppedByPerson)
		})
	}
}

// A rank that has joined is told at once, while the others have not.
func TestWhoHasJoinedIsTold(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).started(api.BackendJACCL, nodeIDs(0, 1)...).ranks(api.RankHandshake)
	g.next(RankAt{Attempt: 1, Rank: 0, Phase: api.RankRunning})
	is.Equal(g.s.Job.Phase, api.JobHandshake)
	is.Equal(g.s.Job.Attempts[0].Joined, []int{0})
	is.True(slices.ContainsFunc(g.last, func(e Effect) bool { _, isPut := e.(PutDocument); return isPut }))
}

// A refusal counts for what is being placed, and for a rank of it.
func TestARefusalOfNothing(t *testing.T) {
	is := is.New(t)
	why := Cause{Reason: api.ReasonOnBattery}
	placing := newRig(t, rules()).next(Planned{planOn(api.BackendRing, nodeIDs(0, 1)...)})
	placing.next(GrantRefused{2, 0, false, why}, GrantRefused{1, 2, false, why})
	is.Equal(placing.s.Job.Phase, api.JobPlacing)
	started := newRig(t, rules()).started(api.BackendRing, nodeIDs(0, 1)...)
	started.next(GrantRefused{1, 0, false, why})
	is.Equal(started.s.Job.Phase, api.JobStarting)
	is.Equal(started.s.Cause, nil)
}

// What comes of one state changes nothing of what else comes of it.
func TestStatesShareNothing(t *testing.T) {
	is := is.New(t)
	all := nodeIDs(0, 1, 2, 3, 4, 5)
	g := newRig(t, rules()).next(Presence{all, all}, Planned{planOn(api.BackendRing, all[:2]...)})
	held := func(s State, n int) State {
		s, _ = Next(s, at(9), Held{1, s.Job.Epoch, all[n : n+1]})
		return s
	}
	before := held(held(held(g.s, 1), 2), 3)
	one := held(before, 4)
	held(before, 5)
	is.Equal(one.holders, all[1:5])

	sees := func(s State, n int) State {
		s, _ = Next(s, at(9), Presence{all, all[n : n+1]})
		return s
	}
	seen := sees(newRig(t, rules()).s, 2)
	three := sees(seen, 3)
	sees(seen, 4)
	is.Equal(three.reported, all[:4])

	waits := asking(t).next(GrantRefused{1, 0, false, Cause{Reason: api.ReasonOnBattery}})
	stopped, _ := Next(waits.s, at(9), StopAsked{})
	waits.fire(TimerBackoff)
	is.Equal(stopped.Job.Phases[3].Phase, api.JobStopped)
}
