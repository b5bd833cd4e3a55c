package phase

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// lost is a follower on node0 that has not seen the home for so long that it may be replaced.
func lost(t *testing.T, p api.JobPhase) *rig {
	t.Helper()
	g := &rig{t: t, s: follower(p)}
	return g.next(all("node0", "node1", "node8")).fire(TimerHomeLost)
}

// A follower votes against a home that it has not seen for long, and for no other one.
func TestWhoMayVote(t *testing.T) {
	is := is.New(t)
	g := &rig{t: t, s: follower(api.JobRunning)}
	is.True(!g.s.MayVote("node9", 1)) // its home is there
	g.next(all("node0", "node1", "node8"))
	is.True(!g.s.MayVote("node9", 1)) // and may come back
	is.Equal(g.s.HomeLostSince, at(g.clock))
	g.fire(TimerHomeLost)
	is.True(g.s.MayVote("node9", 1))
	is.True(!g.s.MayVote("node8", 1))
	is.True(!g.s.MayVote("node9", 2))
	g.next(all("node0", "node1", "node8", "node9"))
	is.True(!g.s.MayVote("node9", 1))
	is.True(g.s.HomeLostSince.IsZero())
	is.Equal(len(g.s.Timers), 0)

	g = lost(t, api.JobRunning).elected()
	is.Equal(g.s.Role, RoleHome)
	is.True(!g.s.MayVote("node0", g.s.Job.Epoch))
}

// News of a home that is out of sight is a sign of life: the time is counted anew.
func TestNewsOfTheHomeIsASignOfLife(t *testing.T) {
	is := is.New(t)
	g := lost(t, api.JobRunning)
	g.next(Seen{g.s.Job}) // no news
	is.True(g.s.MayVote("node9", 1))
	is.Equal(len(g.last), 0)

	updates := g.s.Job
	updates.Phases = append(updates.Phases, api.PhaseTime{Phase: api.JobEnding, Attempt: 1})
	g.next(Seen{updates})
	is.True(g.s.HomeLost)
	is.True(!g.s.MayVote("node9", 1))
	is.Equal(g.last[len(g.last)-1].(StartTimer).After, g.s.Rules.takeOverWindow())
	is.Equal(g.next(Voted{Before: 1, Epoch: api.NextTerm(1)}).s.Role, RoleFollower) // those votes were given too early
	is.Equal(g.fire(TimerHomeLost).fire(TimerVotes).elected().s.Role, RoleHome)

	other := follower(api.JobRunning).Job
	other.Home, other.Epoch = "node7", 5
	g = lost(t, api.JobRunning).next(Seen{other}) // the same phases, by another home
	is.Equal(g.s.Job.Home, api.NodeID("node7"))
	is.True(!g.s.MayVote("node7", 5))
	g.fire(TimerHomeLost)
	is.True(g.s.MayVote("node7", 5))

	g = (&rig{t: t, s: follower(api.JobRunning)}).next(Seen{other})
	is.True(!g.s.HomeLost) // who is in sight is not known yet
	g = (&rig{t: t, s: follower(api.JobRunning)}).next(all("node0", "node9"), Seen{other})
	is.Equal(g.s.Phase(), api.JobHomeLost) // the new home is not
	other.Home = "node0"
	g = (&rig{t: t, s: follower(api.JobRunning)}).next(all("node0", "node9"), Seen{other})
	is.True(!g.s.HomeLost) // who succeeded this node is to be told
}

// A follower knows the job by the home that counts, and by its newest document.
func TestWhoseDocumentAFollowerHas(t *testing.T) {
	doc := func(home api.NodeID, epoch uint64, p api.JobPhase) Seen {
		job := follower(p).Job
		job.Home, job.Epoch = home, epoch
		return Seen{job}
	}
	for name, c := range map[string]struct {
		doc  Seen
		want bool
	}{
		"the home's":                        {doc("node9", 3, api.JobEnding), true},
		"of a former home":                  {doc("node1", 2, api.JobEnding), false},
		"of the home, before it was that":   {doc("node9", 2, api.JobEnding), false},
		"of a later home":                   {doc("node9", 4, api.JobEnding), true},
		"of one epoch, of the lower":        {doc("node1", 3, api.JobEnding), true},
		"of one epoch, of the higher":       {doc("node99", 3, api.JobEnding), false},
		"of itself, from before it stopped": {doc("node0", 3, api.JobEnding), false},
		"of itself, under a higher epoch":   {doc("node0", 7, api.JobEnding), true},
		"of itself, under the highest":      {doc("node0", 4, api.JobEnding), true},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			s := follower(api.JobRunning)
			s.Job.Epoch, s.maxEpoch = 3, 4
			s.Job.Home = "node9"
			g := (&rig{t: t, s: s}).next(c.doc)
			is.Equal(g.s.Job.Phase == api.JobEnding, c.want)
			is.Equal(g.s.Role, RoleFollower)
		})
	}
	is := is.New(t)
	g := lost(t, api.JobRunning)
	ended := follower(api.JobSucceeded).Job
	g.next(Seen{ended})
	is.Equal(len(g.s.Timers), 0)
	is.Equal(g.s.Phase(), api.JobSucceeded)
	g.next(all("node0", "node1", "node8"))
	is.Equal(len(g.last), 0) // who keeps a job that has ended is the same
}

// Votes count for the home that is gone, while it is, and under an epoch above all that was
// heard of.
func TestWhichVotesCount(t *testing.T) {
	first := api.NextTerm(1)
	for name, c := range map[string]struct {
		before Event
		votes  Voted
		want   bool
	}{
		"those asked for":                    {nil, Voted{Before: 1, Epoch: first}, true},
		"against another home":               {nil, Voted{Before: 2, Epoch: first}, false},
		"under too low an epoch":             {nil, Voted{Before: 1, Epoch: first - 1}, false},
		"the home is back":                   {all("node0", "node1", "node8", "node9"), Voted{Before: 1, Epoch: first}, false},
		"one gave his vote for a higher one": {VoteRefused{first}, Voted{Before: 1, Epoch: first}, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := lost(t, api.JobRunning)
			if c.before != nil {
				g.next(c.before)
			}
			is.New(t).Equal(g.next(c.votes).s.Role == RoleHome, c.want)
		})
	}
}

// Votes that did not suffice are asked for again, under an epoch that nobody has voted for.
func TestVotesAreAskedForAgain(t *testing.T) {
	is := is.New(t)
	g := lost(t, api.JobRunning)
	g.next(all("node0", "node1", "node8"))
	is.Equal(g.did(), "") // they are asked
	g.next(VoteRefused{api.NextTerm(1)}, VoteRefused{3}).fire(TimerVotes)
	is.Equal(g.last, []Effect{AskVotes{g.s.Job, api.NextTerm(api.NextTerm(1))}, StartTimer{g.s.Timers[0], g.s.Rules.Renewal}})
	g.elected()
	is.Equal(g.s.Job.Epoch, api.NextTerm(api.NextTerm(1)))
}

// A witness is wanted of an attempt that may live: of one that has ended, or of which
// nothing is known, there is none.
func TestWhoNeedsAWitness(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*api.Job)
		want   bool
	}{
		"one that may live":     {func(*api.Job) {}, false},
		"one that has ended":    {func(j *api.Job) { j.Attempts[0].EndedAt = at(2) }, true},
		"of which nobody knows": {func(j *api.Job) { j.Attempts[0].Plan = nil }, true},
		"no attempt":            {func(j *api.Job) { j.Attempt, j.Attempts = 0, nil }, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := follower(api.JobBackoff)
			c.change(&s.Job)
			g := (&rig{t: t, s: s}).next(all("node0", "node1", "node7")).fire(TimerHomeLost).elected()
			is.New(t).Equal(g.s.Role == RoleHome, c.want)
		})
	}
}

// A majority is more than half of the cluster, this node among them.
func TestHalfIsNoMajority(t *testing.T) {
	is := is.New(t)
	four := nodeIDs(0, 1, 8, 9)
	g := &rig{t: t, s: follower(api.JobRunning)}
	g.next(Presence{four, nodeIDs(0, 8)}).fire(TimerHomeLost)
	is.Equal(g.did(), "")
	g.next(Presence{four, nodeIDs(0, 1, 8)})
	is.Equal(g.elected().s.Role, RoleHome)
}

// A person may have a node be the home only of a job whose home is not in sight.
func TestWhatAPersonTakesOver(t *testing.T) {
	is := is.New(t)
	g := &rig{t: t, s: follower(api.JobRunning)}
	g.next(all("node0", "node9"), TakeOver{})
	is.Equal(g.s.Role, RoleFollower)
	g.next(all("node0"), TakeOver{})
	is.Equal(g.s.Role, RoleHome)
	is.Equal(g.s.Job.Message+g.s.Job.WaitingFor, "the end of ranks on node9, node8")
	is.True(g.s.runs(TimerLease)) // from now: the person answers for it that nobody renews them
	g.next(TakeOver{})
	is.Equal(len(g.last), 0) // it is
	g.fire(TimerLease)
	is.Equal(g.s.Job.Message, "node9, which kept the job, could not be reached, so node0 took it over and ended its ranks.")

	s := follower(api.JobRunning) // what it kept itself, before somebody had it do so no more
	s.Job.Home = nodeID(0)
	g = (&rig{t: t, s: s}).next(TakeOver{})
	is.Equal(g.s.Role, RoleHome)
	g.fire(TimerLease)
	is.Equal(g.s.Job.Message, "node0 took the job over, as a person asked for, and ended its ranks.")
}

// A job that somebody wanted to end is not looked for a place by whoever takes it over.
func TestATakeOverOfAJobThatIsToEnd(t *testing.T) {
	is := is.New(t)
	s := follower(api.JobBackoff)
	s.Job.Attempts[0].EndedAt, s.Job.StopRequested = at(2), &api.StopRequest{}
	g := (&rig{t: t, s: s}).next(all("node0", "node1", "node8")).fire(TimerHomeLost).elected()
	is.Equal(g.did(), "tell stopped 125")
	is.Equal(g.path(), "backoff home_lost placing stopped")
}

// Only what holds the home's own document of the attempt that is to start counts.
func TestWhoHoldsTheDocument(t *testing.T) {
	is := is.New(t)
	five := nodeIDs(0, 1, 2, 3, 4)
	g := newRig(t, rules()).next(Presence{five, five}).started(api.BackendRing, nodeIDs(0, 1)...)
	is.Equal(g.s.Job.Phase, api.JobPlacing)
	g.next(Held{2, 1, nodeIDs(1, 2)}, Held{1, 2, nodeIDs(1, 2)}, Held{1, 0, nodeIDs(1, 2)})
	g.next(Held{1, 1, nodeIDs(1)}, Held{1, 1, nodeIDs(1)}, Held{1, 1, nodeIDs(0, 7)})
	is.Equal(g.s.Job.Phase, api.JobPlacing) // two of five: three of them do not know it
	g.next(Held{1, 1, nodeIDs(2)})
	is.Equal(g.did(), "start 1/0, start 1/1")

	fewer := newRig(t, rules()).next(Presence{five, five}).started(api.BackendRing, nodeIDs(0, 1)...).next(Held{1, 1, nodeIDs(1)})
	fewer.next(Presence{nodeIDs(0, 1, 2), nodeIDs(0, 1)})
	is.Equal(fewer.did(), "start 1/0, start 1/1") // who left the cluster need not know

	reported := &rig{t: t}
	reported.s, _ = Accept(nodeID(0), api.Job{Epoch: 2, Phase: api.JobPlacing}, rules(), at(0))
	reported.next(Presence{nodeIDs(0, 1), nodeIDs(0, 1)}, Planned{planOn(api.BackendRing, nodeID(0))}, Granted{1, 0, nodeID(0)}, Held{1, 2, nodeIDs(1)})
	reported.next(Presence{nodeIDs(0, 1, 7, 8, 9), nodeIDs(0, 1)}, Preflighted{Attempt: 1})
	is.Equal(reported.s.Job.Phase, api.JobBackoff) // the home before may have told the three
	is.Equal(reported.s.Job.Reason, api.ReasonNoMajority)

	two := newRig(t, rules()).next(Presence{nodeIDs(0, 1, 2, 3), nodeIDs(0, 1, 2, 3)}).started(api.BackendRing, nodeIDs(0, 1)...)
	two.next(Held{1, 1, nodeIDs(1)})
	is.Equal(two.did(), "start 1/0, start 1/1") // half of the cluster is no majority

	none := &rig{t: t}
	none.s, _ = Accept(nodeID(0), api.Job{}, rules(), at(0))
	none.started(api.BackendRing, nodeIDs(0, 1)...)
	is.Equal(none.s.Job.Phase, api.JobPlacing) // who belongs to the cluster is not known yet
}

// Whoever is in sight changes nothing while a plan is looked for.
func TestASightAsksForNoPlan(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).next(Unplaceable{Cause: Cause{Reason: api.ReasonNotEnoughNodes}})
	g.next(Presence{nodeIDs(0, 1, 2), nodeIDs(0, 1, 2)})
	is.Equal(g.did(), "")
	g.next(Planned{planOn(api.BackendRing, nodeIDs(0, 1)...)}, Presence{nodeIDs(0, 1, 2), nodeIDs(0, 1)})
	is.Equal(g.did(), "")

	g = newRig(t, rules()).next(Presence{nodeIDs(0, 1), nodeIDs(0)}, Planned{planOn(api.BackendRing, nodeID(0))})
	is.Equal(g.s.Job.Attempt, 1) // half of the cluster, out of sight, is no majority
}

// The epoch of a take-over is above all that was heard of, and above an offer that may
// have been accepted.
func TestTheNextEpoch(t *testing.T) {
	first, second := api.NextTerm(0), api.NextTerm(api.NextTerm(0))
	for name, c := range map[string]struct {
		home     api.NodeID
		next     api.NodeID
		received uint64
		epoch    uint64
		want     uint64
	}{
		"another":                           {"node9", "", 0, 1, first},
		"another, at the end of a term":     {"node9", "", 0, first - 1, first},
		"which offered the job then":        {"node9", "node8", 0, first - 1, second},
		"a higher one was heard of":         {"node9", "", first, 1, second},
		"its own":                           {"node0", "", 0, 1, 2},
		"its own, which it offered":         {"node0", "node8", 0, 1, 3},
		"its own, and of a higher it heard": {"node0", "", 7, 1, 8},
	} {
		m := &step{State: State{Self: "node0", maxEpoch: c.received, Job: api.Job{Home: c.home, NextHome: c.next, Epoch: c.epoch}}}
		if got := m.nextEpoch(); got != c.want {
			t.Errorf("%s: %d", name, got)
		}
	}
}

// An offer that may have been accepted is outranked by whoever made it, even if another
// home counts by then that does not know of it.
func TestAnOfferIsRemembered(t *testing.T) {
	last := api.NextTerm(0) - 1 // of a term
	job := api.Job{Home: "node5", Epoch: last, Phase: api.JobPlacing, Principal: api.Principal{Node: "node5"}}
	offering, _ := Accept("node5", job, rules(), at(0))
	offering, _ = Next(offering, at(1), Planned{planOn(api.BackendRing, "node8")})
	resumed, _ := Resume("node5", offering.Job, rules(), at(2))
	for name, s := range map[string]State{"offering": offering, "started again": resumed} {
		g := &rig{t: t, s: s}
		g.next(Seen{api.Job{Home: "node1", Epoch: last, Phase: api.JobPlacing}})
		g.next(Presence{[]api.NodeID{"node1", "node5", "node6"}, []api.NodeID{"node5", "node6"}}).fire(TimerHomeLost)
		if g.elected(); g.s.Job.Epoch != api.NextTerm(last+1) {
			t.Errorf("%s: %s under epoch %d", name, g.s.Role, g.s.Job.Epoch)
		}
	}
}

// A home that was succeeded follows like any other: it waits before it takes the job over,
// and counts on it that everybody may know the job by then.
func TestAFormerHomeFollows(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).next(Presence{nodeIDs(0, 1, 2), nodeIDs(0, 1)})
	g.next(Seen{api.Job{Home: "node2", Epoch: 2, Phase: api.JobBackoff}})
	is.Equal(g.s.Job.Epoch, uint64(2))
	g.next(Presence{nodeIDs(0, 1, 2), nodeIDs(0, 1)}, Presence{nodeIDs(0, 1, 2), nodeIDs(0, 1)})
	is.Equal(g.did(), "")
	is.True(!g.s.MayVote("node2", 2))
	g.next(Granted{1, 0, nodeID(0)})
	is.Equal(g.did(), "release 1/0") // which it asked for before

	g = newRig(t, rules()).next(Presence{nodeIDs(0, 7, 8, 9), nodeIDs(0)})
	g.next(Seen{api.Job{Home: "node7", Epoch: 2, Phase: api.JobBackoff}}, Presence{nodeIDs(0, 7, 8, 9), nodeIDs(0)}, TakeOver{})
	is.Equal(g.s.Job.Reason, api.ReasonNoMajority)

	r := rules() // the time for placing that this home had, its successor has anew
	r.Placing = time.Second
	g = newRig(t, r).started(api.BackendRing, nodeIDs(0, 1)...).fire(TimerPlacing)
	job := g.s.Job
	job.Home, job.Epoch = nodeID(1), 2
	g.next(Seen{job}, Presence{nodeIDs(0, 1), nodeIDs(0)}, TakeOver{}).fire(TimerLease)
	is.Equal(g.s.Job.Phase, api.JobBackoff)
}

// signs tells in each signature what was signed.
type signs struct{}

func (signs) Offer(job api.Job, to api.NodeID, epoch uint64) api.Succession {
	return api.Succession{Epoch: epoch, Home: to, Offer: fmt.Appendf(nil, "%d>%d", job.Epoch, epoch)}
}

func (signs) Act(job api.Job, by api.Principal, to api.NodeID, epoch uint64) api.Succession {
	return api.Succession{Epoch: epoch, Home: to, Act: &api.Act{By: by}}
}

// homes are the steps to a job's homes, and what proves each.
func homes(job api.Job) string {
	var all []string
	for _, s := range job.Homes {
		by := string(s.Offer)
		if s.Act != nil {
			by = s.Act.By.User
		}
		all = append(all, fmt.Sprintf("%s %d %s", s.Home, s.Epoch, by))
	}
	return strings.Join(all, ", ")
}

// What a home offers itself is one step, from the last home that was another or from the
// first; an act is never joined with it.
func TestStepsOfAHomeToItselfAreOne(t *testing.T) {
	is := is.New(t)
	raised := func(first api.NodeID, before ...api.Succession) string {
		m := &step{State: State{Self: "node0", Rules: Rules{Steps: signs{}}, Job: api.Job{Principal: api.Principal{Node: first}, Homes: before, Epoch: 1}}}
		if n := len(before); n > 0 {
			m.Job.Epoch = before[n-1].Epoch
		}
		m.raise(9)
		is.Equal(m.Job.Home, api.NodeID("node0"))
		is.Equal(m.Job.Epoch, uint64(9))
		return homes(m.Job)
	}
	step := func(home api.NodeID, epoch uint64) api.Succession { return api.Succession{Home: home, Epoch: epoch} }
	is.Equal(raised("node0"), "node0 9 1>9")
	is.Equal(raised("node0", step("node0", 3)), "node0 9 1>9")
	is.Equal(raised("node0", step("node0", 3), step("node0", 5)), "node0 9 1>9")
	is.Equal(raised("node1", step("node0", 2)), "node0 2 , node0 9 2>9")
	is.Equal(raised("node1", step("node0", 2), step("node0", 4)), "node0 2 , node0 9 2>9")
	is.Equal(raised("node0", step("node1", 2), step("node0", 4)), "node1 2 , node0 4 , node0 9 4>9")
	is.Equal(raised("node0", step("node1", 2), step("node0", 4), step("node0", 6)), "node1 2 , node0 4 , node0 9 4>9")

	r := rules()
	r.Steps = signs{}
	ada := TakeOver{api.Principal{User: "ada"}}
	g := newRig(t, r).next(Planned{planOn(api.BackendRing, nodeID(1))}, ada)
	is.Equal(homes(g.s.Job), "node0 3 1>3") // it offers itself the job, above what it offered
	g.next(Planned{planOn(api.BackendRing, nodeID(1))}, HandOverRefused{Node: nodeID(7)})
	is.Equal(g.s.Job.NextHome, nodeID(1)) // another's word
	g.next(HandOverRefused{Node: nodeID(1)})
	is.Equal(homes(g.s.Job), "node0 5 1>5")

	s := follower(api.JobRunning)
	s.Rules.Steps = signs{}
	g = (&rig{t: t, s: s}).next(all("node0"), ada)
	is.Equal(homes(g.s.Job), fmt.Sprintf("node0 %d ada", api.NextTerm(1)))

	s.Job.Home, s.maxEpoch = "node0", api.NextTerm(1)-1 // its own job, and the next epoch is of another term
	g = (&rig{t: t, s: s}).next(ada)
	is.Equal(homes(g.s.Job), fmt.Sprintf("node0 %d ada", api.NextTerm(1)))
	s.maxEpoch--
	g = (&rig{t: t, s: s}).next(ada)
	is.Equal(homes(g.s.Job), fmt.Sprintf("node0 %d 1>%d", api.NextTerm(1)-1, api.NextTerm(1)-1))
}

// The first home hands a job over that was only planned, once, to another node.
func TestWhoHandsOver(t *testing.T) {
	for name, c := range map[string]struct {
		job   api.Job
		first api.NodeID
		want  bool
	}{
		"the first home":               {api.Job{}, "node1", true},
		"to itself":                    {api.Job{}, "node0", false},
		"after an attempt":             {api.Job{Attempt: 1}, "node1", false},
		"after an offer that failed":   {api.Job{Homes: []api.Succession{{Home: "node0"}}}, "node1", true},
		"one that has it of another":   {api.Job{Homes: []api.Succession{{Home: "node2"}, {Home: "node0"}}}, "node1", false},
		"whose submitter is elsewhere": {api.Job{Principal: api.Principal{Node: "node3"}}, "node1", false},
	} {
		if c.job.Principal.Node == "" {
			c.job.Principal.Node = "node0"
		}
		if HandsOver(c.job, "node0", c.first) != c.want {
			t.Error(name)
		}
	}
}

// A spec that was signed anew changes neither what the job does nor what it tells.
func TestSignedAnew(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules())
	job := g.s.Job
	job.SpecSHA256 = "anew"
	g.next(Signed{job, signs{}})
	is.Equal(len(g.last), 0)
	is.Equal(g.s.Job.SpecSHA256, "anew")
	g.next(Planned{planOn(api.BackendRing, nodeID(1))})
	is.Equal(string(g.last[slices.IndexFunc(g.last, func(e Effect) bool { _, ok := e.(HandOver); return ok })].(HandOver).Offer.Offer), "1>2")
	is.Equal(g.s.Job.WaitingFor, "node node1 to keep the job")
	is.Equal(g.next(HandOverRefused{Node: nodeID(1)}).s.Job.Epoch, uint64(3)) // above the offer
}
