package phase

import (
	"testing"

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

	news := g.s.Job
	news.Phases = append(news.Phases, api.PhaseTime{Phase: api.JobEnding, Attempt: 1})
	g.next(Seen{news})
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
	g.next(Sight{four, nodeIDs(0, 8)}).fire(TimerHomeLost)
	is.Equal(g.did(), "")
	g.next(Sight{four, nodeIDs(0, 1, 8)})
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
	is.Equal(g.s.Job.Message, "node9, which kept the job, was out of sight, so that node0 took it over and ended its ranks.")

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
}

// Only what holds the home's own document of the attempt that is to start counts.
func TestWhoHoldsTheDocument(t *testing.T) {
	is := is.New(t)
	five := nodeIDs(0, 1, 2, 3, 4)
	g := newRig(t, rules()).next(Sight{five, five}).started(api.BackendRing, nodeIDs(0, 1)...)
	is.Equal(g.s.Job.Phase, api.JobPlacing)
	g.next(Held{2, 1, nodeIDs(1, 2)}, Held{1, 2, nodeIDs(1, 2)}, Held{1, 0, nodeIDs(1, 2)})
	g.next(Held{1, 1, nodeIDs(1)}, Held{1, 1, nodeIDs(1)}, Held{1, 1, nodeIDs(0, 7)})
	is.Equal(g.s.Job.Phase, api.JobPlacing) // two of five: three of them do not know it
	g.next(Held{1, 1, nodeIDs(2)})
	is.Equal(g.did(), "start 1/0, start 1/1")

	two := newRig(t, rules()).next(Sight{nodeIDs(0, 1, 2, 3), nodeIDs(0, 1, 2, 3)}).started(api.BackendRing, nodeIDs(0, 1)...)
	two.next(Held{1, 1, nodeIDs(1)})
	is.Equal(two.did(), "start 1/0, start 1/1") // half of the cluster is no majority

	none := &rig{t: t}
	none.s, _ = Accept(nodeID(0), api.Job{}, rules(), at(0))
	none.started(api.BackendRing, nodeIDs(0, 1)...)
	is.Equal(none.s.Job.Phase, api.JobPlacing) // who belongs to the cluster is not known yet
}
