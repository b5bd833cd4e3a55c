package phase

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// stalls is a running job of two ranks with what becomes of it when it stalls.
func stalls(t *testing.T, on api.OnStall) *rig {
	return newRig(t, rulesOf(api.JobSpec{OnStall: on})).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)
}

const seen = "has been stopped by a signal for 4 s"

// A job that is stalled says so, whom it suspects and what was seen of that first, until it
// gets on; a rank's own trouble counts less.
func TestAStallIsSaidWhileItLasts(t *testing.T) {
	is := is.New(t)
	g := stalls(t, "")
	one := Stalled{Attempt: 1, Suspect: 1, What: seen}
	g.next(RankAt{Attempt: 1, Rank: 1, Phase: api.RankRunning, Trouble: Cause{Reason: api.ReasonRankStopped, Message: "Rank 1 on node1 is stopped."}})
	g.next(one)
	is.Equal(g.s.Job.Phase, api.JobRunning)
	is.Equal(g.s.Job.Reason, api.ReasonStalled)
	is.Equal(g.s.Job.Message, "The job is stalled: rank 1 on node1 "+seen+".")
	is.Equal(g.s.Job.WaitingFor, "rank 1 on node1")
	is.Equal(*g.s.Job.Suspect, 1)
	g.next(Stalled{Attempt: 1, Suspect: 1, What: "has been stopped by a signal for 9 s"})
	is.Equal(len(g.last), 0) // it is known
	g.next(Stalled{Attempt: 2, Suspect: -1}, Stalled{Attempt: 1, Suspect: 2, What: seen})
	is.Equal(*g.s.Job.Suspect, 1) // of no such attempt, and no such rank
	g.next(Stalled{Attempt: 1, Suspect: -1, What: "have been inside a collective for 6 s"})
	is.Equal(g.s.Job.Message, "The job is stalled: its ranks have been inside a collective for 6 s.")
	is.Equal(g.s.Job.Suspect, nil)
	is.Equal(g.s.Job.WaitingFor, "")
	g.next(Stalled{Attempt: 1, Suspect: -1})
	is.Equal(g.s.Job.Reason, api.ReasonRankStopped)
	g.next(RankAt{Attempt: 1, Rank: 1, Phase: api.RankRunning})
	is.Equal(g.s.Job.Message, "")
	g.next(one).ended(0, exit(3))
	is.Equal(g.s.Job.Phase, api.JobEnding)
	is.Equal(g.s.Job.Reason, api.ReasonRankFailed)
	is.Equal(g.s.Job.Suspect, nil)
	g.next(one)
	is.Equal(g.s.Job.Reason, api.ReasonRankFailed)
}

// Another attempt begins without what was seen of the one before.
func TestAStallEndsWithItsAttempt(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rulesOf(api.JobSpec{Retries: 1})).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)
	g.next(Stalled{Attempt: 1, Suspect: 1, What: seen}).fall(1).again(api.BackendRing).ranks(api.RankRunning)
	is.Equal(g.s.Job.Phase, api.JobRunning)
	g.next(RankAt{Attempt: 2, Rank: 1, Phase: api.RankRunning})
	is.Equal(g.s.Job.Message, "")
}

// A daemon that was started again takes back what the one before it said.
func TestAStallIsTakenBackAfterARestart(t *testing.T) {
	is := is.New(t)
	g := stalls(t, "").next(Stalled{Attempt: 1, Suspect: 1, What: seen})
	g.s, _ = Resume(g.s.Self, g.s.Job, g.s.Rules, at(g.clock))
	g.ranks(api.RankRunning)
	g.next(Stalled{Attempt: 1, Suspect: -1})
	is.Equal(g.s.Job.Message, "")
	is.Equal(g.s.Job.Suspect, nil)
}

// With restart the attempt ends for it, and another one begins: as of a kept job four times in a
// row. With fail the job does.
func TestAStallEndsTheAttempt(t *testing.T) {
	is := is.New(t)
	stall := func(g *rig) *rig {
		g.next(Stalled{Attempt: g.s.Job.Attempt, Suspect: 1, What: seen})
		is.Equal(g.s.Job.Phase, api.JobEnding)
		is.Equal(*g.s.Job.Suspect, 1)
		return g.ended(0, &api.Exit{Signal: 15}).ended(1, &api.Exit{Signal: 9})
	}
	g := stall(stalls(t, api.OnStallFail))
	is.Equal(g.s.Job.Phase, api.JobFailed)
	is.Equal(g.s.Job.Reason, api.ReasonStalled)
	for _, g := range []*rig{stalls(t, api.OnStallRestart), kept(t, nil).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)} {
		for n := range api.KeptInARow {
			if n > 0 {
				g.again(api.BackendRing).ranks(api.RankRunning)
			}
			stall(g)
			was := g.s.Job.Attempts[n]
			is.Equal(was.Reason, api.ReasonStalled)
			is.Equal(*was.FirstFailed, 1)
			is.Equal(was.Message, "The job is stalled: rank 1 on node1 "+seen+".")
		}
		is.Equal(g.s.Job.Phase, api.JobFailed)
	}
	// Other failures of one that is not kept are as they were.
	g = stalls(t, api.OnStallRestart).fall(1)
	is.Equal(g.s.Job.Phase, api.JobFailed)
	// A kept one may only be warned of.
	g = newRig(t, rulesOf(api.JobSpec{Kept: true, OnStall: api.OnStallWarn})).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)
	g.next(Stalled{Attempt: 1, Suspect: 1, What: seen})
	is.Equal(g.s.Job.Phase, api.JobRunning)
}

// The nodes are asked at once only where all have answered, so that none counts as lost sooner.
func TestAskAgain(t *testing.T) {
	is := is.New(t)
	g := stalls(t, "")
	renewals := func() (n int) {
		for _, e := range g.last {
			if _, is := e.(Renew); is {
				n++
			}
		}
		return n
	}
	answer := func() {
		for _, n := range nodeIDs(0, 1) {
			g.next(Renewed{Attempt: 1, Node: n})
		}
	}
	answer()
	g.next(AskAgain{Attempt: 1})
	is.Equal(renewals(), 2)
	is.True(!g.s.Answered())
	for range 100 {
		g.clock += int(time.Minute / time.Second)
		g.next(AskAgain{Attempt: 1})
		is.Equal(renewals(), 0)
	}
	answer()
	is.True(g.s.Answered())
	is.Equal(g.s.Job.Phase, api.JobRunning)
}
