package phase

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// Whatever ends a job, and with whatever words or none, its document names a Mac or a
// rank, and so does that of the attempt.
func TestNoEndWithoutAName(t *testing.T) {
	for _, row := range api.Reasons() {
		for _, text := range []string{"", "It is over."} {
			why := Cause{Reason: row.Reason, Message: text, Final: true}
			for name, end := range map[string]func(*rig){
				"rank": func(g *rig) {
					g.next(RankEnded{Attempt: 1, Rank: 1, Reason: why.Reason, Message: text, Final: true}).ended(0, nil)
				},
				"node": func(g *rig) { g.next(NodeLost{Node: nodeID(1), Cause: why}).ended(0, nil).ended(1, nil) },
				"link": func(g *rig) { g.next(LinkLost{1, why}).ended(0, nil).ended(1, nil) },
				"stop": func(g *rig) {
					g.next(StopAsked{By: api.Principal{User: "ada", Node: nodeID(1)}}).ended(0, nil).ended(1, nil)
				},
				"gone":  func(g *rig) { g.next(StopAsked{Reason: why.Reason}).ended(0, nil).ended(1, nil) },
				"lease": func(g *rig) { g.fire(TimerLease) },
			} {
				g := newRig(t, rules()).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)
				end(g) // every document is looked at by checkStep
				if !g.s.Job.Phase.Ended() {
					t.Fatalf("%s %s: %s", name, row.Reason, g.s.Job.Phase)
				}
			}
			g := newRig(t, rules())
			g.next(Unplaceable{why})
			is.New(t).True(strings.HasSuffix(g.s.Job.Message, "node0 keeps the job.") || text == "")
		}
	}
}

// A rank that does not go on is told while that is so, with its Mac; why a group is ended
// counts more.
func TestTroubleIsToldWhileItLasts(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)
	stopped := Cause{Reason: api.ReasonRankStopped, Message: "Rank 1 on node1 is stopped."}
	at := RankAt{Attempt: 1, Rank: 1, Phase: api.RankRunning}
	troubled := at
	troubled.Trouble = stopped
	g.next(troubled)
	is.Equal(g.s.Job.Message, stopped.Message)
	is.Equal(g.s.Job.WaitingFor, "rank 1 on node1")
	g.next(at)
	is.Equal(g.s.Job.Message, "")
	is.Equal(g.s.Job.WaitingFor, "")
	g.next(troubled).ended(0, exit(3))
	is.Equal(g.s.Job.Reason, api.ReasonRankFailed)
	g.next(troubled)
	is.Equal(g.s.Job.Reason, api.ReasonRankFailed)
	is.Equal(g.s.Job.WaitingFor, "rank 1 on node1")
	g.ended(1, &api.Exit{Signal: 9})
	is.Equal(g.s.Job.WaitingFor, "")
}
