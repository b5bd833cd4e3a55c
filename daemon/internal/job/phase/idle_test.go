package phase

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// Whoever did not renew a lease is named: the home, with what it did meanwhile, or a node
// that did not answer, for whose sake nobody's was renewed.
func TestWhoDidNotRenewALease(t *testing.T) {
	running := func() *rig {
		g := newRig(t, rules()).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)
		return g.next(Renewed{1, nodeID(0)}, Renewed{1, nodeID(1)})
	}
	resumed := func() *rig {
		g := running()
		s, _ := Resume(nodeID(0), g.s.Job, rules(), at(99))
		return (&rig{t: t, s: s}).next(Presence{nodeIDs(0, 1), nodeIDs(0, 1)})
	}
	renews := func(g *rig, times int) *rig {
		for range times {
			g.fire(TimerRenew).next(Renewed{1, nodeID(0)}, Renewed{1, nodeID(1)})
		}
		return g
	}
	const restarted = "The daemon of node0, which keeps the job, was restarted, so nobody renewed the leases of its ranks."
	const late = "Nobody renewed the lease of rank 1 on node1: node0, which keeps the job, did not reach it in time."
	for name, c := range map[string]struct {
		g    *rig
		want string
		rank bool
	}{
		"nothing happened":                         {running(), late, true},
		"its daemon ended":                         {resumed(), restarted, false},
		"a while ago":                              {renews(resumed(), 2), restarted, false},
		"long ago":                                 {renews(resumed(), 4), late, true},
		"it slept for a moment":                    {running().next(Idled{time.Second, "slept"}), late, true},
		"its disk was full":                        {running().next(Idled{time.Minute, "could not write to its disk"}), "node0, which keeps the job, could not write to its disk for 1m0s, so nobody renewed the leases of its ranks.", false},
		"it slept twice":                           {running().next(Idled{time.Minute, "slept"}, Idled{time.Minute, "slept"}), "node0, which keeps the job, slept for 2m0s, so nobody renewed the leases of its ranks.", false},
		"another did not answer":                   {running().fire(TimerRenew).next(Renewed{1, nodeID(1)}), "Nobody renewed the lease of rank 1 on node1: node0 did not answer.", true},
		"one answers for the other":                {resumed().next(Renewed{1, nodeID(0)}, Renewed{1, nodeID(0)}, Renewed{1, nodeID(0)}, Renewed{1, nodeID(0)}), restarted, false},
		"it slept for as long as a lease has room": {running().next(Idled{rules().Lease - 2*rules().Renewal, "slept"}), late, true},
		"it did not answer":                        {running().fire(TimerRenew).next(Renewed{1, nodeID(0)}), late, true},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			end := RankEnded{Attempt: 1, Rank: 1, Exit: exit(1), Reason: api.ReasonLeaseExpired, Message: "Nobody renewed the lease in time."}
			for _, e := range []Event{end, RankFailing(end)} {
				s, _ := Next(c.g.s, at(c.g.clock), e)
				is.Equal(s.Cause.Message, c.want)
				is.Equal(s.Cause.Rank == 1, c.rank)
			}
		})
	}
}

// Where a home did nothing for so long that the grants of its ranks ran out before they
// began, that is why; otherwise it is the node's to say.
func TestWhoLostAGrant(t *testing.T) {
	const noGrant = "There is no grant of rank 0 any more."
	for idle, want := range map[time.Duration]string{
		time.Second: noGrant,
		time.Minute: "node0, which keeps the job, could not write to its disk for 1m0s, so nobody renewed the leases of its ranks.",
	} {
		g := newRig(t, rules()).started(api.BackendRing, nodeIDs(0, 1)...)
		g.next(Idled{idle, "could not write to its disk"}, RankEnded{Attempt: 1, Rank: 0, Reason: api.ReasonGrantRefused, Message: noGrant})
		is.New(t).Equal(g.s.Cause.Message, want)
	}
}

// A home that did nothing for a while asks everybody anew: nobody has failed to answer, and
// an order to end is given again.
func TestAHomeThatGoesOnAsksEverybody(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)
	g.fire(TimerRenew).next(Renewed{1, nodeID(0)}, Idled{time.Minute, "slept"})
	is.Equal(g.did(), "renew 1 on node0, renew 1 on node1")
	is.Equal(startedTimer(g.last, TimerLease), rules().Window())
	g.ended(0, exit(1)).next(Idled{time.Minute, "slept"})
	is.Equal(g.did(), "end 1 on node1 peer_rank_failed 2s")
}
