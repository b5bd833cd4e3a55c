package phase

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// kept is a kept job.
func kept(t *testing.T, probes *api.Probes) *rig {
	return newRig(t, rulesOf(api.JobSpec{Kept: true, Probes: probes}))
}

// fall ends the running attempt: by an exit code, or well.
func (g *rig) fall(code int) *rig {
	g.t.Helper()
	g.ended(0, exit(code))
	if g.s.Ranks[1].MayLive() {
		g.ended(1, exit(0))
	}
	return g
}

// A kept job is started again whatever ends it, also well, and on other Macs. After four ends
// in a row for one cause it has failed; one that was ready for ten minutes begins the row anew.
func TestAKeptJobIsStartedAgain(t *testing.T) {
	is := is.New(t)
	g := kept(t, nil).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)
	is.Equal(g.s.Job.Attempts[0].ReadyAt, g.s.Job.PhaseSince)
	g.fall(0)
	is.Equal(g.s.Job.Phase, api.JobBackoff)
	is.Equal(g.s.Job.Reason, api.ReasonProgramEnded)
	is.Equal(g.s.Job.Attempts[0].Reason, api.ReasonProgramEnded)
	is.True(g.s.Job.EndedAt.IsZero())
	for n := range 3 { // another cause each time
		g.again(api.BackendRing).ranks(api.RankRunning).fall(1)
		g.again(api.BackendRing).ranks(api.RankRunning).next(NodeLost{Node: nodeID(1)}).ended(0, nil).ended(1, nil)
		is.Equal(g.s.Job.Phase, api.JobBackoff)
		is.Equal(g.s.Job.Attempt, 3+2*n)
	}
	for range 2 {
		for range 3 {
			g.again(api.BackendRing).ranks(api.RankRunning).fall(1)
			is.Equal(g.s.Job.Phase, api.JobBackoff)
		}
		g.again(api.BackendRing).ranks(api.RankRunning)
		g.clock += int(api.KeptReady / time.Second)
		g.fall(1)
		is.Equal(g.s.Job.Phase, api.JobBackoff)
		is.True(g.s.Job.NextAttemptAt.Sub(at(g.clock).Time) < 2*time.Second) // nor does it wait for long
	}
	for range 3 {
		g.again(api.BackendRing).ranks(api.RankRunning).fall(1)
		is.Equal(g.s.Job.Phase, api.JobBackoff)
	}
	g.again(api.BackendRing).ranks(api.RankRunning).fall(1)
	is.Equal(g.s.Job.Phase, api.JobFailed)
	is.Equal(g.s.Job.Reason, api.ReasonRankFailed)
}

// A person's stop ends it, and what cannot get better does.
func TestAKeptJobEnds(t *testing.T) {
	is := is.New(t)
	g := kept(t, nil).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)
	g.next(StopAsked{}).fall(0)
	is.Equal(g.s.Job.Phase, api.JobStopped)
	g = kept(t, nil).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)
	g.next(RankEnded{Attempt: 1, Rank: 0, Exit: exit(1), Final: true}).ended(1, nil)
	is.Equal(g.s.Job.Phase, api.JobFailed)
}

// With a readiness probe it is ready once that passes; while it does not the job says so. Time
// that it ran without being ready does not count.
func TestReadyByItsProbe(t *testing.T) {
	is := is.New(t)
	g := kept(t, &api.Probes{Readiness: &api.Probe{Port: 1}}).started(api.BackendRing, nodeIDs(0, 1)...)
	loading := Cause{Reason: api.ReasonNotReady, Message: "Rank 0 has not been ready yet."}
	for range 3 {
		g.ranks(api.RankRunning)
		g.next(RankAt{Attempt: g.s.Job.Attempt, Phase: api.RankRunning, Trouble: loading})
		is.Equal(g.s.Job.Reason, api.ReasonNotReady)
		is.True(g.s.attempt().ReadyAt.IsZero())
		g.clock += int(2 * api.KeptReady / time.Second)
		g.fall(1).again(api.BackendRing)
	}
	g.ranks(api.RankRunning).next(RankAt{Attempt: 4, Phase: api.RankRunning, Ready: true})
	is.Equal(g.s.Job.Reason, api.Reason(""))
	is.Equal(g.s.attempt().ReadyAt, at(g.clock))
	first := g.clock
	g.next(RankAt{Attempt: 4, Phase: api.RankRunning, Trouble: loading}).next(RankAt{Attempt: 4, Phase: api.RankRunning, Ready: true})
	is.Equal(g.s.attempt().ReadyAt, at(first))
	g.fall(1)
	is.Equal(g.s.Job.Phase, api.JobFailed)
}

// A rank may be ready before the last of them runs, and does not report it again.
func TestReadyBeforeTheLastRuns(t *testing.T) {
	is := is.New(t)
	g := kept(t, &api.Probes{Readiness: &api.Probe{Port: 1}}).started(api.BackendRing, nodeIDs(0, 1)...)
	g.next(RankAt{Attempt: 1, Phase: api.RankRunning, Ready: true})
	is.True(g.s.attempt().ReadyAt.IsZero())
	g.next(RankAt{Attempt: 1, Rank: 1, Phase: api.RankRunning})
	is.Equal(g.s.Job.Phase, api.JobRunning)
	is.Equal(g.s.attempt().ReadyAt, at(g.clock))
}
