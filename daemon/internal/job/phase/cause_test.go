package phase

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// ms is a moment of the nodes' clocks.
func ms(n int) api.Time {
	return api.TimeOf(time.Date(2026, 11, 21, 12, 0, 0, n*1e6, time.UTC))
}

// TestTheFirstCause goes through ends of which one brings the others about, in the
// orders in which a home may hear of them.
func TestTheFirstCause(t *testing.T) {
	failing := func(rank, when int, e *api.Exit, severed bool) RankFailing {
		return RankFailing{Attempt: 1, Rank: rank, Exit: e, At: ms(when), Handshake: api.HandshakeConnected, Severed: severed}
	}
	pulled := LinkLost{1, Cause{Reason: api.ReasonLinkGone, Message: "The cable of node0 is gone."}}
	for _, c := range []struct {
		name   string
		events []Event
		reason api.Reason
		rank   int
	}{
		{"the one that only complains is heard first",
			[]Event{failing(0, 1, exit(1), true), failing(1, 40, exit(1), false)}, api.ReasonNeverJoined, 1},
		{"the one that only complains is heard last, with an earlier clock",
			[]Event{failing(1, 40, exit(1), false), failing(0, 1, exit(1), true)}, api.ReasonNeverJoined, 1},
		{"only complaints: the earlier",
			[]Event{failing(0, 9, exit(1), true), failing(1, 2, exit(1), true)}, api.ReasonNeverJoined, 1},
		{"its node ended the one whose side channel broke",
			[]Event{RankEnded{Attempt: 1, Rank: 0, Exit: &api.Exit{Signal: 15}, Reason: api.ReasonSideChannelLost}, failing(1, 40, exit(1), false)}, api.ReasonNeverJoined, 1},
		{"a connection broke, and then the daemon that carried it tells that it was started again",
			[]Event{RankEnded{Attempt: 1, Rank: 0, Exit: &api.Exit{Signal: 15}, Reason: api.ReasonSideChannelLost},
				RankFailing{Attempt: 1, Rank: 1, Exit: exit(1), At: ms(40), Reason: api.ReasonDaemonRestarted}}, api.ReasonDaemonRestarted, 1},
		{"a connection broke, and then rank 0's node tells for which stranger it ended rank 0",
			[]Event{RankEnded{Attempt: 1, Rank: 1, Exit: &api.Exit{Signal: 15}, Reason: api.ReasonSideChannelLost},
				RankFailing{Attempt: 1, Rank: 0, Exit: &api.Exit{Signal: 15}, Reason: api.ReasonStrayConnection}}, api.ReasonStrayConnection, 0},
		{"a connection broke, and then rank 0 is ended for it",
			[]Event{RankEnded{Attempt: 1, Rank: 1, Exit: &api.Exit{Signal: 15}, Reason: api.ReasonSideChannelLost},
				RankFailing{Attempt: 1, Rank: 0, Exit: &api.Exit{Signal: 15}, Reason: api.ReasonPeerRankFailed}}, api.ReasonSideChannelLost, 1},
		{"a program failed, and then a stranger was seen",
			[]Event{failing(1, 3, exit(1), false), RankEnded{Attempt: 1, Rank: 0, Exit: &api.Exit{Signal: 15}, Reason: api.ReasonStrayConnection}}, api.ReasonNeverJoined, 1},
		{"a crash cannot be a complaint, whatever the clocks say",
			[]Event{failing(0, 1, exit(1), false), failing(1, 300, &api.Exit{Signal: 11}, false)}, api.ReasonRankCrashed, 1},
		{"a kill is heard first, with a later clock",
			[]Event{failing(1, 300, &api.Exit{Signal: 9}, false), failing(0, 1, exit(1), false)}, api.ReasonRankKilled, 1},
		{"far apart the clocks decide",
			[]Event{failing(1, 3000, &api.Exit{Signal: 9}, false), failing(0, 1, exit(1), false)}, api.ReasonNeverJoined, 0},
		{"an abort may be an error that nobody caught",
			[]Event{failing(1, 30, &api.Exit{Signal: 6}, false), failing(0, 1, exit(1), false)}, api.ReasonNeverJoined, 0},
		{"a pulled cable crashes the programs at its ends",
			[]Event{failing(1, 3, &api.Exit{Signal: 11}, false), failing(0, 2, &api.Exit{Signal: 11}, false), pulled}, api.ReasonLinkGone, -1},
		{"a cable is pulled, then they complain",
			[]Event{pulled, failing(1, 3, exit(1), false)}, api.ReasonLinkGone, -1},
		{"a complaint, and the node that was silent before",
			[]Event{failing(0, 2, exit(1), true), NodeLost{Node: nodeID(1), Since: at(0)}}, api.ReasonNodeLost, 1},
		{"a failure after its node's silence began",
			[]Event{failing(0, 2, exit(1), false), NodeLost{Node: nodeID(1), Since: at(0)}}, api.ReasonNodeLost, 1},
		{"the end is heard of, and then one that ended sooner",
			[]Event{RankEnded{Attempt: 1, Rank: 1, Exit: exit(1), At: ms(9), Handshake: api.HandshakeConnected}, failing(0, 2, exit(1), false)}, api.ReasonNeverJoined, 0},
		{"a failure, and then a node is lost",
			[]Event{failing(0, 2, exit(1), false), NodeLost{Node: nodeID(1), Since: at(900)}}, api.ReasonNeverJoined, 0},
		{"the earlier is heard first",
			[]Event{failing(0, 2, exit(1), false), failing(1, 9, exit(1), false)}, api.ReasonNeverJoined, 0},
		{"at one moment, the one that is heard first",
			[]Event{failing(1, 2, exit(1), false), failing(0, 2, exit(1), false)}, api.ReasonNeverJoined, 1},
		{"a second apart, a kill is the cause yet",
			[]Event{failing(1, 1001, &api.Exit{Signal: 9}, false), failing(0, 1, exit(1), false)}, api.ReasonRankKilled, 1},
		{"when the first ended nobody knows",
			[]Event{RankEnded{Attempt: 1, Rank: 1, Exit: exit(3), Handshake: api.HandshakeJoined}, failing(0, 1, exit(1), false)}, api.ReasonRankFailed, 1},
		{"one that was ended is not the cause, though its node does not say when",
			[]Event{failing(1, 3, exit(1), false), RankEnded{Attempt: 1, Rank: 0, Exit: &api.Exit{Signal: 15}}}, api.ReasonNeverJoined, 1},
		{"one that ended well, and sooner, has brought nothing about",
			[]Event{failing(1, 3, exit(1), false), RankEnded{Attempt: 1, Rank: 0, Exit: exit(0), At: ms(1), Handshake: api.HandshakeJoined}}, api.ReasonNeverJoined, 1},
		{"one that ended well, and sooner, and for which the others waited",
			[]Event{failing(1, 3, exit(1), false), RankEnded{Attempt: 1, Rank: 0, Exit: exit(0), At: ms(1), Handshake: api.HandshakeNone}}, api.ReasonNeverJoined, 0},
		{"a node is lost, and then a program fails",
			[]Event{NodeLost{Node: nodeID(1)}, failing(0, 1, exit(1), false)}, api.ReasonNodeLost, 1},
		{"a node is lost, and then a cable",
			[]Event{NodeLost{Node: nodeID(1)}, pulled}, api.ReasonNodeLost, 1},
		{"the home slept, and what it ended so complains",
			[]Event{Idled{time.Minute, "slept"}, RankEnded{Attempt: 1, Rank: 0, Exit: exit(1), At: ms(5), Reason: api.ReasonLeaseExpired, Severed: true}, failing(1, 1, exit(1), false)},
			api.ReasonLeaseExpired, -1},
		{"a program failed, and the home slept then",
			[]Event{failing(1, 5, exit(1), false), Idled{time.Minute, "slept"}, RankEnded{Attempt: 1, Rank: 0, Exit: exit(1), At: ms(1), Reason: api.ReasonLeaseExpired}},
			api.ReasonNeverJoined, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			g := newRig(t, rules()).started(api.BackendJACCL, nodeIDs(0, 1)...).ranks(api.RankHandshake)
			g.clock-- // all happens within one second
			for _, e := range c.events {
				g.clock = 100
				g.next(e)
			}
			is.Equal(g.s.Job.Phase, api.JobEnding)
			is.Equal(g.s.Job.Reason, c.reason)
			a := g.s.Job.Attempts[0]
			is.Equal(a.Reason, c.reason)
			if c.rank < 0 {
				is.Equal(a.FirstFailed, nil)
				is.Equal(a.ExitCode, nil)
			} else {
				is.Equal(*a.FirstFailed, c.rank)
			}
		})
	}
}

// What is heard after a person's request is no cause, and the one before it stays.
func TestARequestIsTheCause(t *testing.T) {
	is := is.New(t)
	pulled := LinkLost{1, Cause{Reason: api.ReasonLinkGone, Message: "The cable of node0 is gone."}}
	running := func() *rig {
		return newRig(t, rules()).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)
	}
	g := running().next(StopAsked{}, RankFailing{Attempt: 1, Rank: 1, Exit: exit(7), At: ms(5)})
	is.Equal(g.s.Cause, nil)
	is.Equal(g.s.Job.Reason, api.ReasonStoppedByPerson)
	g.next(pulled).ended(0, &api.Exit{Signal: 15}).ended(1, exit(7))
	is.Equal(g.s.Job.Phase, api.JobStopped)
	is.Equal(g.s.Job.Reason, api.ReasonStoppedByPerson)
	is.Equal(*g.s.Job.ExitCode, 143) // of the lowest rank

	g = running().ended(1, exit(7)).next(StopAsked{})
	g.clock--
	g.next(pulled)
	is.Equal(g.s.Job.Attempts[0].Reason, api.ReasonRankFailed)
	is.Equal(*g.ended(0, &api.Exit{Signal: 15}).s.Job.ExitCode, 7)
}

// A node of which was heard for the last time after the failure has not brought that
// about, whatever became the cause meanwhile.
func TestANodeThatIsLostLater(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).started(api.BackendJACCL, nodeIDs(0, 1, 2)...).ranks(api.RankRunning)
	g.next(RankFailing{Attempt: 1, Rank: 1, Exit: exit(1), At: ms(9)})
	received := g.clock
	g.clock += 10
	g.next(RankFailing{Attempt: 1, Rank: 0, Exit: exit(3), At: ms(1)})
	is.Equal(*g.s.Job.Attempts[0].ExitCode, 3)
	g.next(NodeLost{Node: nodeID(2), Since: at(received + 1)})
	is.Equal(*g.s.Job.Attempts[0].FirstFailed, 0)
	g.next(NodeLost{Node: nodeID(2), Since: at(received)}) // not later
	is.Equal(*g.s.Job.Attempts[0].FirstFailed, 2)
}

// A handshake is watched of ranks that talk over RDMA and have to join a group.
func TestWhichAttemptsHaveAHandshake(t *testing.T) {
	jaccl, ring := planOn(api.BackendJACCL, nodeIDs(0, 1)...), planOn(api.BackendRing, nodeIDs(0, 1)...)
	for name, c := range map[string]struct {
		attempts []api.Attempt
		ranks    int
		solo     bool
		want     bool
	}{
		"jaccl":                   {[]api.Attempt{{Plan: &jaccl}}, 2, false, true},
		"a ring":                  {[]api.Attempt{{Plan: &ring}}, 2, false, false},
		"one rank":                {[]api.Attempt{{Plan: &jaccl}}, 1, false, false},
		"no rank has to join":     {[]api.Attempt{{Plan: &jaccl}}, 2, true, false},
		"no attempt":              {nil, 2, false, false},
		"an attempt without plan": {[]api.Attempt{{}}, 2, false, false},
	} {
		m := &step{State: State{Rules: Rules{AllowSolo: c.solo}, Ranks: make([]Rank, c.ranks), Job: api.Job{Attempts: c.attempts}}}
		if m.handshakes() != c.want {
			t.Error(name)
		}
	}
}

// A cable that is pulled long after a rank failed has not brought that about.
func TestALaterPullIsNotTheCause(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).started(api.BackendJACCL, nodeIDs(0, 1)...).ranks(api.RankRunning)
	g.next(RankFailing{Attempt: 1, Rank: 1, Exit: exit(4), At: ms(1)})
	g.clock += 5
	g.next(LinkLost{1, Cause{Reason: api.ReasonLinkGone}})
	is.Equal(g.s.Job.Reason, api.ReasonRankFailed)
	g.ended(0, nil).ended(1, exit(4))
	is.Equal(*g.s.Job.ExitCode, 4)

	g = newRig(t, rules()).started(api.BackendJACCL, nodeIDs(0, 1)...).ranks(api.RankRunning)
	g.next(RankFailing{Attempt: 1, Rank: 1, Exit: exit(4), At: ms(1)}, LinkLost{1, Cause{Reason: api.ReasonLinkGone}})
	is.Equal(g.s.Job.Reason, api.ReasonLinkGone) // within a second
}

func TestALostLinkEndsTheGroup(t *testing.T) {
	is := is.New(t)
	gone := Cause{Reason: api.ReasonLinkGone, Message: "The cable of node0 is gone."}
	g := newRig(t, rules()).started(api.BackendJACCL, nodeIDs(0, 1)...).ranks(api.RankRunning)
	g.next(LinkLost{2, gone})
	is.Equal(g.s.Job.Phase, api.JobRunning) // of another attempt
	g.next(LinkLost{1, gone})
	is.Equal(g.did(), "end 1 on node0 link_gone 2s, end 1 on node1 link_gone 2s")
	g.ended(0, &api.Exit{Signal: 15}).ended(1, &api.Exit{Signal: 15})
	is.Equal(g.s.Job.Phase, api.JobFailed) // after the handshake nothing is retried unasked
	is.Equal(g.s.Job.Message, "The cable of node0 is gone.")
	is.Equal(*g.s.Job.ExitCode, api.ExitNotStarted)

	g = newRig(t, rules()).next(Planned{planOn(api.BackendJACCL, nodeIDs(0, 1)...)}, LinkLost{1, gone})
	is.Equal(g.s.Job.Phase, api.JobBackoff) // before anything was started
	is.True(g.s.Job.Attempts[0].Uncounted)

	r := rules()
	r.Retries = 1
	g = newRig(t, r).started(api.BackendJACCL, nodeIDs(0, 1)...).ranks(api.RankRunning)
	g.next(LinkLost{1, gone}).ended(0, nil).ended(1, nil)
	is.Equal(g.s.Job.Phase, api.JobBackoff)
	g.again(api.BackendJACCL)
	is.Equal(g.s.Job.Phase, api.JobStarting)
}

// A deadline names all for whom the others waited: those that have not dialled
// where there are any.
func TestADeadlineNamesWhoIsMissing(t *testing.T) {
	is := is.New(t)
	r := rules()
	r.Name = func(n api.NodeID) string { return "mac-" + string(n) }
	g := newRig(t, r).started(api.BackendJACCL, nodeIDs(0, 1, 2)...)
	for i, s := range []api.HandshakeState{api.HandshakeListening, api.HandshakeNone, api.HandshakeConnected} {
		g.next(RankAt{Attempt: 1, Rank: i, Phase: api.RankHandshake, Handshake: s})
	}
	g.fire(TimerHandshake)
	is.Equal(g.s.Job.Message, "Not every rank joined within 60 s: it waited for rank 1 on mac-node1.")

	waits := RankAt{Attempt: 1, Rank: 0, Phase: api.RankHandshake, Handshake: api.HandshakeListening, Missing: []int{2}}
	for _, reported := range [][]RankAt{{waits}, {waits, {Attempt: 1, Rank: 0, Phase: api.RankHandshake}}} { // the latter tells nothing of it
		g = newRig(t, r).started(api.BackendJACCL, nodeIDs(0, 1, 2)...).ranks(api.RankHandshake)
		for _, e := range reported {
			g.next(e)
		}
		is.Equal(g.fire(TimerHandshake).s.Job.WaitingFor, "rank 2 on mac-node2")
	}

	g = newRig(t, r).started(api.BackendJACCL, nodeIDs(0, 1, 2)...).ranks(api.RankHandshake)
	g.next(RankAt{Attempt: 1, Rank: 1, Phase: api.RankRunning}).fire(TimerHandshake)
	is.Equal(g.s.Job.WaitingFor, "rank 0 on mac-node0, rank 2 on mac-node2")

	g = newRig(t, r).started(api.BackendJACCL, nodeIDs(0, 1)...).ranks(api.RankHandshake)
	g.next(RankAt{Attempt: 1, Rank: 1, Phase: api.RankHandshake, Handshake: api.HandshakeJoined}).fire(TimerHandshake)
	is.Equal(g.s.Job.WaitingFor, "rank 0 on mac-node0") // the other has joined, and has not said that it runs

	is.Equal((&step{}).missing(), nil) // of no ranks, as a document may have it

	g = newRig(t, r).started(api.BackendJACCL, nodeIDs(0, 1)...).next(RankAt{Attempt: 1, Rank: 0, Phase: api.RankHandshake})
	g.fire(TimerStarting)
	is.Equal(g.s.Job.Message, "Not every rank was started within 60 s: it waited for rank 1 on mac-node1.")
}
