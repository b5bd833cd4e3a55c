package phase

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestTheHomeGoesToTheNodeOfRankZero(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).next(Planned{planOn(api.BackendRing, nodeIDs(1, 0)...)})
	is.Equal(g.did(), "hand over to node1")
	g.next(StopAsked{}).fire(TimerHandOver)
	is.Equal(g.did(), "hand over to node1") // again, to the same node only
	handed := g.s.Job
	handed.Home, handed.Epoch, handed.StopRequested = nodeID(1), 2, nil
	g.next(Seen{handed})
	is.Equal(g.did(), "ForwardStop")
	is.Equal(g.s.Role, RoleFollower)

	g = newRig(t, rules()).next(Planned{planOn(api.BackendRing, nodeIDs(1, 0)...)}, StopAsked{}, HandOverRefused{Node: nodeID(1)})
	is.Equal(g.did(), "tell stopped 125")

	job := g.s.Job
	job.Phase, job.StopRequested, job.ExitCode, job.Epoch = api.JobPlacing, nil, nil, 2
	next, out := Accept(nodeID(1), job, rules(), at(9))
	is.Equal(next.Job.Home, nodeID(1))
	is.Equal(next.Job.Epoch, uint64(2))
	is.Equal(words(out), "AskPlan")
}

// follower sees node9 run a job on node8 and node9, of five nodes.
func follower(p api.JobPhase) State {
	plan := planOn(api.BackendRing, "node9", "node8")
	job := api.Job{Home: "node9", Epoch: 1, Phase: p, Attempt: 1, Phases: []api.PhaseTime{{Phase: p, Attempt: 1}},
		Attempts: []api.Attempt{{Attempt: 1, Plan: &plan, StartedAt: at(1)}}}
	return Follow(nodeID(0), job, rules())
}

func all(reached ...api.NodeID) Presence {
	return Presence{[]api.NodeID{"node0", "node1", "node7", "node8", "node9"}, reached}
}

func TestWhoTakesOver(t *testing.T) {
	for _, c := range []struct {
		name string
		to   Presence
		want bool
	}{
		{"majority with a witness, lowest", all("node0", "node1", "node8"), true},
		{"not the lowest", all("node/", "node0", "node1", "node8"), false},
		{"no majority", all("node0", "node8"), false},
		{"no witness", all("node0", "node1", "node7"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			g := &rig{t: t, s: follower(api.JobRunning)}
			g.next(c.to)
			is.Equal(g.s.Phase(), api.JobHomeLost)
			is.Equal(g.s.Job.Phase, api.JobRunning) // what the home wrote stays
			g.fire(TimerHomeLost)
			if asked := g.did() == fmt.Sprint("ask votes ", api.NextTerm(1)); asked != c.want {
				t.Fatalf("did %q", g.did())
			}
			is.Equal(g.s.Role, RoleFollower) // until they are there
			g.elected()
			is.Equal(g.s.Role == RoleHome, c.want)
			if !c.want {
				g.next(all("node0", "node9"))
				is.Equal(g.s.Phase(), api.JobRunning) // its home is back in time
				return
			}
			is.Equal(g.s.Job.Epoch, api.NextTerm(1))
			is.Equal(g.s.Job.Phase, api.JobEnding)
			is.Equal(g.s.Job.Reason, api.ReasonWaitingForRanks)
			is.True(!(&step{State: g.s}).runs(TimerLease)) // until a node has heard of it, leases may be renewed
			g.next(EndAccepted{1, "node8"})
			// The former home notices at its next renewal only, and may have renewed the others just then.
			is.Equal(g.last[0].(StartTimer).After, g.s.Rules.Window()+g.s.Rules.Renewal)
			g.fire(TimerLease)
			is.Equal(g.s.Job.Phase, api.JobFailed) // it had started, and no retry was asked for
			is.Equal(g.s.Job.Reason, api.ReasonHomeLost)
			is.Equal(g.s.Job.Message, "node9, which kept the job, could not be reached, so node0 took it over and ended its ranks.")
		})
	}
}

func TestAPersonTakesOverWithoutMajority(t *testing.T) {
	is := is.New(t)
	g := &rig{t: t, s: follower(api.JobBackoff)}
	g.next(TakeOver{})
	is.Equal(g.s.Role, RoleFollower) // its home is there
	g.s.Job.Attempts[0].EndedAt = at(2)
	g.next(all("node0"), TakeOver{})
	is.Equal(g.s.Role, RoleHome)
	is.Equal(g.s.Job.Phase, api.JobPlacing)
	is.Equal(g.s.Job.Reason, api.ReasonNoMajority) // the others may have done the same
	g.next(all("node0", "node1", "node8"))
	is.Equal(g.did(), "AskPlan")

	g = &rig{t: t, s: follower(api.JobRunning)}
	g.next(all("node0"), TakeOver{}).fire(TimerLease)
	is.Equal(g.did(), "release 1/0, release 1/1, tell failed 125")
}

func TestAFormerHomeStopsActing(t *testing.T) {
	for _, e := range []Event{Seen{api.Job{Home: "node1", Epoch: 2, Phase: api.JobPlacing}}, Seen{api.Job{Home: "node0", Epoch: 2, Phase: api.JobPlacing}}} {
		is := is.New(t)
		g := newRig(t, rules()).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning).next(e)
		is.Equal(g.s.Role, RoleFollower)
		is.Equal(g.did(), "") // neither renewed nor ended: its successor sees to that
		is.Equal(len(g.s.Timers), 0)
		g.ended(0, exit(1)).next(StopAsked{}, Seen{api.Job{Home: "node0", Epoch: 1}})
		is.Equal(g.did(), "")
		is.Equal(g.s.Role, RoleFollower)
	}
	is := is.New(t)
	g := newRig(t, rules()).next(Seen{api.Job{Home: "node1", Epoch: 1}})
	is.Equal(g.s.Role, RoleHome) // of one epoch the lower home counts
}

func TestAnAttemptTheSuccessorDidNotKnowIsEndedFirst(t *testing.T) {
	is := is.New(t)
	g := &rig{t: t, s: follower(api.JobBackoff)}
	g.s.Job.Attempts[0].EndedAt = at(2)
	g.next(all("node0", "node1", "node8")).fire(TimerHomeLost).elected()
	g.next(Planned{planOn(api.BackendRing, nodeIDs(0, 1)...)}, Granted{2, 0, nodeID(0)}, Granted{2, 1, nodeID(1)}).fire(TimerRenew)
	is.Equal(g.s.Job.Reason, api.Reason("")) // it waits for the nodes' checks as well
	g.next(Renewed{2, nodeID(0)}, Renewed{2, nodeID(1)}, Preflighted{Attempt: 2})
	is.Equal(g.did(), "") // too few know of it
	g.fire(TimerRenew)
	is.Equal(g.s.Job.Reason, api.ReasonNoMajority)
	is.Equal(g.s.Job.WaitingFor, "half of the cluster to know of the attempt")
	other := follower(api.JobRunning).Job
	other.Attempt, other.Attempts[0].Attempt = 2, 2
	g.next(Seen{other})
	is.Equal(g.did(), "release 2/0, release 2/1, end 2 on node9 home_lost 2s, end 2 on node8 home_lost 2s")
	is.Equal(g.s.Job.Phase, api.JobEnding)
	g.next(EndAccepted{2, "node9"}).fire(TimerLease).fire(TimerBackoff)
	g.next(Planned{planOn(api.BackendRing, nodeIDs(0, 1)...)}, Granted{3, 0, nodeID(0)}, Granted{3, 1, nodeID(1)}, Preflighted{Attempt: 3})
	g.next(Held{3, g.s.Job.Epoch, []api.NodeID{"node1"}})
	is.Equal(g.did(), "")
	g.next(Held{3, g.s.Job.Epoch, []api.NodeID{"node8"}})
	is.Equal(g.did(), "start 3/0, start 3/1")
}

func TestAJobThatHadEndedIsNotRunAgain(t *testing.T) {
	is := is.New(t)
	g := &rig{t: t, s: follower(api.JobRunning)}
	g.next(all("node0", "node1", "node8")).fire(TimerHomeLost).elected()
	ended := follower(api.JobSucceeded).Job
	ended.ExitCode, ended.EndedAt, ended.Attempts[0].EndedAt = exit(0).Code, at(5), at(5)
	g.next(Seen{ended})
	is.Equal(g.did(), "release 1/0, release 1/1, tell succeeded 0")
	is.Equal(g.s.Job.Epoch, api.NextTerm(1))
}

func TestNothingStartsUnknownToAMajorityThatIsAway(t *testing.T) {
	is := is.New(t)
	three := nodeIDs(0, 1, 2)
	g := newRig(t, rules()).next(Presence{three, three}, Planned{planOn(api.BackendRing, nodeIDs(0)...)}, Granted{1, 0, nodeID(0)})
	g.next(Presence{three, nodeIDs(0)}, Preflighted{Attempt: 1})
	is.Equal(g.s.Job.Phase, api.JobBackoff)
	is.Equal(g.s.Job.Reason, api.ReasonNoMajority)
	g.fire(TimerBackoff)
	is.Equal(g.did(), "") // does not even look
	g.next(Presence{three, nodeIDs(0, 1)})
	is.Equal(g.did(), "AskPlan")

	// Members that were never in sight cannot know the job, and nobody waits for them.
	g = newRig(t, rules()).next(Presence{nodeIDs(0, 7, 8, 9), nodeIDs(0)}).started(api.BackendRing, nodeIDs(0)...)
	is.Equal(g.did(), "start 1/0")
}

func TestResume(t *testing.T) {
	running := func() *rig {
		return newRig(t, rules()).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)
	}
	for _, c := range []struct {
		name string
		from *rig
		want string
		in   api.JobPhase
	}{
		{"queued", newRig(t, rules()), "AskPlan", api.JobQueued},
		{"asking", newRig(t, rules()).next(Planned{planOn(api.BackendRing, nodeIDs(0, 1)...)}),
			"release 1/0, release 1/1, AskPlan", api.JobPlacing},
		{"starting", newRig(t, rules()).started(api.BackendRing, nodeIDs(0, 1)...),
			"end 1 on node0 home_restarted 2s, end 1 on node1 home_restarted 2s", api.JobEnding},
		{"running", running(), "renew 1 on node0, renew 1 on node1", api.JobRunning},
		{"ending", running().ended(0, exit(3)), "end 1 on node0 peer_rank_failed 2s, end 1 on node1 peer_rank_failed 2s", api.JobEnding},
		{"ended", running().ended(0, exit(3)).ended(1, nil), "", api.JobFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			s, out := Resume(nodeID(0), c.from.s.Job, rules(), at(99))
			is.Equal(words(out), c.want)
			is.Equal(s.Job.Phase, c.in)
			// Whatever may live is waited for so long, and no longer.
			is.Equal(slices.ContainsFunc(s.Timers, func(id TimerID) bool { return id.Kind == TimerLease }), slices.Contains([]string{"starting", "running", "ending"}, c.name))
			if c.name == "ending" { // the first cause is not forgotten
				g := &rig{t: t, s: s}
				g.ended(1, exit(5)).ended(0, exit(3))
				is.Equal(*g.s.Job.ExitCode, 3)
			}
		})
	}
}

// A home that had lost what it knew starts nothing, wherever the job was; what runs it
// goes on with, and whatever fails is the end.
func TestTakeBack(t *testing.T) {
	r := rules()
	r.Retries = 5
	running := func() *rig { return newRig(t, r).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning) }
	for _, c := range []struct {
		name string
		from *rig
		want string
		in   api.JobPhase
	}{
		{"queued", newRig(t, r), "tell failed 125", api.JobFailed},
		{"asking", newRig(t, r).next(Planned{planOn(api.BackendRing, nodeIDs(0, 1)...)}), "release 1/0, release 1/1, tell failed 125", api.JobFailed},
		{"between two attempts", running().ended(0, exit(3)).ended(1, nil), "tell failed 125", api.JobFailed},
		{"starting", newRig(t, r).started(api.BackendRing, nodeIDs(0, 1)...),
			"end 1 on node0 home_forgot 2s, end 1 on node1 home_forgot 2s", api.JobEnding},
		{"running", running(), "renew 1 on node0, renew 1 on node1", api.JobRunning},
		{"ending", running().ended(0, exit(3)), "end 1 on node0 peer_rank_failed 2s, end 1 on node1 peer_rank_failed 2s", api.JobEnding},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			s, out := TakeBack(nodeID(0), c.from.s.Job, r, at(99))
			is.True(s.forgot && s.known)
			is.Equal(words(out), c.want)
			is.Equal(s.Job.Phase, c.in)
			if g := (&rig{t: t, s: s, clock: 99}); !s.Job.Phase.Ended() {
				g.ended(0, exit(3)).ended(1, nil)
				s = g.s
			}
			is.Equal(s.Job.Phase, api.JobFailed) // for all its retries
			checkWords(t, s.Job)
		})
	}
}

// A daemon that was started again still ends a job that prints nothing.
func TestResumeListensForSilence(t *testing.T) {
	is := is.New(t)
	r := rules()
	r.Silence = time.Minute
	g := newRig(t, r).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)
	s, _ := Resume(nodeID(0), g.s.Job, r, at(99))
	g = &rig{t: t, s: s, clock: 99}
	g.ranks(api.RankRunning)
	g.next(Renewed{1, nodeID(0)}, Renewed{1, nodeID(1)})
	is.Equal(g.silence().s.Job.Reason, api.ReasonSilentTooLong)
}

// A daemon that was started again gives a job that runs what is left of its time, and
// no more than all of it where the wall clock was set back meanwhile.
func TestResumeCountsOn(t *testing.T) {
	r := rules()
	r.Run = time.Minute
	g := newRig(t, r).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)
	since := g.s.Job.PhaseSince
	for _, c := range []struct {
		after, left time.Duration
	}{{0, time.Minute}, {20 * time.Second, 40 * time.Second}, {time.Hour, 0}, {-time.Hour, time.Minute}} {
		is := is.New(t)
		_, out := Resume(nodeID(0), g.s.Job, r, api.TimeOf(since.Add(c.after)))
		i := slices.IndexFunc(out, func(e Effect) bool { t, ok := e.(StartTimer); return ok && t.Timer.Kind == TimerRun })
		is.True(i >= 0)
		is.Equal(out[i].(StartTimer).After, c.left)
	}
}

// Nodes that turn out to differ once they are prepared end the attempt, and nobody
// tries again what a person has to put right.
func TestUnlike(t *testing.T) {
	is := is.New(t)
	cause := Cause{Reason: api.ReasonMLXVersionsDiffer, Message: "They differ.", Final: true}
	g := newRig(t, rules()).started(api.BackendRing, nodeIDs(0, 1)...)
	before := g.s.Job.Phase
	is.Equal(g.next(Unlike{Attempt: 7, Cause: cause}).s.Job.Phase, before) // of another attempt
	g.next(Unlike{Attempt: 1, Cause: cause})
	is.Equal(g.s.Job.Phase, api.JobEnding)
	g.ended(0, nil).ended(1, nil)
	is.Equal(g.s.Job.Phase, api.JobFailed)
	is.Equal(g.s.Job.Reason, api.ReasonMLXVersionsDiffer)
}

// asking is a job that asks for the grants of two ranks.
func asking(t *testing.T) *rig {
	t.Helper()
	return newRig(t, rules()).next(Planned{planOn(api.BackendRing, nodeIDs(0, 1)...)})
}

// Why there is no place is told when it changes.
func TestWhyThereIsNoPlace(t *testing.T) {
	is := is.New(t)
	why := Cause{Reason: api.ReasonNotEnoughMemory, Message: "Too little.", WaitingFor: "node1"}
	g := newRig(t, rules()).next(Unplaceable{Cause: why}, Unplaceable{Cause: why})
	is.Equal(len(g.last), 0)
	for _, other := range []Cause{
		{Reason: api.ReasonNotEnoughNodes, Message: "Too little.", WaitingFor: "node1"},
		{Reason: api.ReasonNotEnoughNodes, Message: "Too few.", WaitingFor: "node1"},
		{Reason: api.ReasonNotEnoughNodes, Message: "Too few.", WaitingFor: "node2"},
	} {
		g.next(Unplaceable{Cause: other})
		is.Equal(Cause{Reason: g.s.Job.Reason, Message: g.s.Job.Message, WaitingFor: g.s.Job.WaitingFor}, other)
	}
	g.next(Planned{planOn(api.BackendRing, nodeID(0))}, Unplaceable{Cause: why})
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
	is.Equal(startedTimer(newRig(t, r).next(Unplaceable{Cause: Cause{Reason: api.ReasonOnBattery}}).all, TimerPlacing), time.Minute)
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
	Noted{0, note}.home(m)
	is.True(!m.dirty)
}

// A grant that nobody waits for any more is given back.
func TestAGrantThatComesLate(t *testing.T) {
	is := is.New(t)
	busy := GrantRefused{1, 0, true, Cause{Reason: api.ReasonMeasurementRunning}}
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
	g.next(GrantRefused{1, 1, true, Cause{Reason: api.ReasonMeasurementRunning}})
	is.Equal(g.did(), "")
	g.next(Granted{1, 0, nodeID(0)})
	is.Equal(g.did(), "release 1/0, release 1/1, ask 1/0 1m0s")
}

// Another plan is looked for, and nothing that kept the first from starting is in the way.
func TestWhatAReplacedPlanLeaves(t *testing.T) {
	is := is.New(t)
	g := asking(t).next(GrantRefused{1, 1, true, Cause{Reason: api.ReasonMeasurementRunning, WaitingFor: "node1"}})
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
