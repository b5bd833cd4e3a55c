package phase

import (
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// startedTimer gives a timer's time, as effects start it; -1 where they do not.
func startedTimer(all []Effect, k TimerKind) time.Duration {
	for _, e := range all {
		if s, ok := e.(StartTimer); ok && s.Timer.Kind == k {
			return s.After
		}
	}
	return -1
}

// resumed goes on at the home with a job's document.
func resumed(t *testing.T, job api.Job, r Rules) *rig {
	t.Helper()
	g := &rig{t: t, clock: 200}
	g.s, g.last = Resume(nodeID(0), job, r, at(200))
	checkTimers(t, g.s)
	return g
}

// A new home has the job looked for a place, unless somebody wants it to end.
func TestAccept(t *testing.T) {
	for name, c := range map[string]struct {
		phase api.JobPhase
		stop  *api.StopRequest
		did   string
		path  string
	}{
		"new":                 {"", nil, "AskPlan", "queued"},
		"queued":              {api.JobQueued, nil, "AskPlan", ""},
		"handed over":         {api.JobPlacing, nil, "AskPlan", ""},
		"new, to end":         {"", &api.StopRequest{}, "tell stopped 125", "queued stopped"},
		"handed over, to end": {api.JobPlacing, &api.StopRequest{}, "tell stopped 125", "stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			g := &rig{t: t}
			g.s, g.last = Accept(nodeID(0), api.Job{Phase: c.phase, StopRequested: c.stop, Message: "of the home before"}, rules(), at(7))
			is.Equal(g.did(), c.did)
			is.Equal(g.path(), c.path)
			put, isPut := g.last[0].(PutDocument)
			is.True(isPut)
			is.Equal(put.Job, g.s.Job)
			is.True(g.s.Job.Message != "of the home before")
			is.Equal(g.s.Job.Epoch, uint64(1))
		})
	}
}

// A daemon that was started again goes on where the job was, and publishes what it changed.
func TestResumeGoesOn(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).next(Planned{planOn(api.BackendRing, nodeIDs(0, 1)...)})
	asking := resumed(t, g.s.Job, rules())
	is.True(asking.s.Job.Attempts[0].Uncounted) // nothing of it was started
	is.True(!asking.s.Job.Attempts[0].EndedAt.IsZero())
	is.Equal(first(asking.last), PutDocument{asking.s.Job})

	job := g.s.Job
	job.StopRequested = &api.StopRequest{}
	is.Equal(resumed(t, job, rules()).did(), "release 1/0, release 1/1, tell stopped 125")

	handshake := newRig(t, rules()).started(api.BackendJACCL, nodeIDs(0, 1)...).ranks(api.RankHandshake)
	again := resumed(t, handshake.s.Job, rules())
	is.Equal(again.did(), "renew 1 on node0, renew 1 on node1")
	is.Equal(startedTimer(again.last, TimerHandshake), time.Minute)
	is.Equal(startedTimer(again.last, TimerLease), rules().Window())
	is.Equal(again.s.Ranks[1], Rank{Node: nodeID(1), Phase: api.RankStarting, Asked: true, Granted: true, Started: true})

	stopping := newRig(t, rules()).started(api.BackendRing, nodeIDs(0, 1)...).next(StopAsked{})
	again = resumed(t, stopping.s.Job, rules())
	is.Equal(again.did(), "end 1 on node0 stopped_by_person 10s, end 1 on node1 stopped_by_person 10s")
	is.Equal(again.s.Cause, nil)

	failing := newRig(t, rules()).started(api.BackendRing, nodeIDs(0, 1)...).ended(1, exit(3))
	again = resumed(t, failing.s.Job, rules())
	is.Equal(again.s.Cause.Rank, 1)
	is.Equal(again.s.Cause.Exit.Status(), 3)
	lost := newRig(t, rules()).started(api.BackendRing, nodeIDs(0, 1)...).next(LinkLost{1, Cause{Reason: api.ReasonLinkGone}})
	again = resumed(t, lost.s.Job, rules())
	is.Equal(again.s.Cause.Rank, -1)
	is.Equal(again.s.Cause.Exit, nil)

	// Who was told of the job before, nobody knows: it may be anybody.
	queued := resumed(t, newRig(t, rules()).s.Job, rules())
	queued.next(Presence{nodeIDs(0, 7, 8, 9), nodeIDs(0)}, Planned{planOn(api.BackendRing, nodeID(0))})
	is.Equal(queued.s.Job.Reason, api.ReasonNoMajority)
}

// The wait between attempts goes on by how many have failed.
func TestResumeWaitsOn(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules())
	for n := 1; n <= 4; n++ {
		g.next(Planned{planOn(api.BackendRing, nodeIDs(0, 1)...)}, GrantRefused{n, 0, false, Cause{Reason: api.ReasonOnBattery}})
		is.Equal(startedTimer(resumed(t, g.s.Job, rules()).last, TimerBackoff), 250*time.Millisecond<<n)
		g.fire(TimerBackoff)
	}
}

// A number of an attempt that was given up is in the job's phases, and is not used again.
func TestResumeUsesNoNumberTwice(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).next(Planned{planOn(api.BackendRing, nodeIDs(0, 1)...)}, GrantRefused{1, 0, false, Cause{Reason: api.ReasonOnBattery}})
	job := g.s.Job
	job.Phases = slices.Insert(slices.Clone(job.Phases), 1, api.PhaseTime{Phase: api.JobPlacing, Attempt: 5})
	again := resumed(t, job, rules()).fire(TimerBackoff).next(Presence{nodeIDs(0, 1), nodeIDs(0, 1)}, Planned{planOn(api.BackendRing, nodeIDs(0, 1)...)})
	is.Equal(again.s.Job.Attempt, 6)
}

// A home that had lost what it knew says so of whatever nobody renewed meanwhile.
func TestWhatAHomeForgot(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)
	const want = "node0, which keeps the job, lost its database while the job ran, so nobody renewed the leases of its ranks."
	back := func() *rig {
		s, _ := TakeBack(nodeID(0), g.s.Job, rules(), at(99))
		return &rig{t: t, s: s, clock: 99}
	}
	expired := back().next(RankEnded{Attempt: 1, Rank: 1, Exit: exit(1), Reason: api.ReasonLeaseExpired})
	is.Equal(expired.s.Job.Message, want)
	silent := back().fire(TimerLease)
	is.Equal(silent.s.Job.Reason, api.ReasonHomeForgot)
	is.Equal(silent.s.Job.Message, want)
}
