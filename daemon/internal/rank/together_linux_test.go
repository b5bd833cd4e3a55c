package rank

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// together is the request to start rank 0 of two, with the other one on the home's
// node, that waits for it.
func (m *mac) together(script string, change func(*api.JobSpec)) api.PeerStartParams {
	spec := m.spec(script)
	spec.Program.Prepare = []string{"pip install x"}
	if change != nil {
		change(&spec)
	}
	p := m.params(spec)
	p.Wait = true
	p.Plan.Shape = api.ShapeRing
	p.Plan.Ranks = append(p.Plan.Ranks, api.PlanRank{Rank: 1, Node: m.homeID})
	p.Plan.Hosts = [][]string{{"169.254.1.1:5000"}, {"169.254.1.2:5001"}}
	return p
}

// untilPrepared waits until the document says that the rank waits for the others.
func (m *mac) untilPrepared(ref api.RankRef) {
	m.t.Helper()
	eventually(m.t, ref.String()+" to be prepared", func() bool {
		doc, _ := m.doc(ref)
		if doc.Phase.Ended() {
			m.t.Fatalf("the rank has ended: %+v", doc)
		}
		return !doc.PreparedAt.IsZero()
	})
}

func TestARankWaitsForTheOthers(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t)
	goOn := make(chan struct{})
	m.preparer.prepare = func(context.Context, io.Writer) error { <-goOn; return nil }
	m.preparer.versions = map[string]string{"mlx": "0.32.2"}
	m.boot()
	p := m.together("echo ran", nil)
	m.mustStart(p)
	m.until(p.Rank, api.RankPreparing)
	doc, _ := m.doc(p.Rank)
	is.True(doc.PreparedAt.IsZero())
	close(goOn)
	m.untilPrepared(p.Rank)
	doc, _ = m.doc(p.Rank)
	is.Equal(doc.Phase, api.RankPreparing)
	is.Equal(doc.Versions, m.preparer.versions) // so that the home can compare them before anything runs
	is.NoErr(m.start(p))                        // the same order to start: it waits on
	is.Equal(m.supervisor.starts(), 0)

	spawn := api.PeerSpawnParams{Rank: p.Rank, Epoch: 1}
	other := spawn
	other.Rank.Rank = 1
	is.True(isReason(m.call("peer.spawn", other, nil), api.ReasonNoSuchRank))
	is.NoErr(m.call("peer.spawn", spawn, nil))
	doc = m.until(p.Rank, api.RankExited)
	is.Equal(doc.Exit.Status(), 0)
	is.Equal(m.output(p.Rank), "ran\n")
	is.NoErr(m.call("peer.spawn", spawn, nil)) // whose first answer was lost
	is.Equal(m.supervisor.starts(), 1)
}

// The order may be there first, where a home that was started again repeats it.
func TestARankThatIsToldToRunBeforeItIsPrepared(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t)
	goOn := make(chan struct{})
	m.preparer.prepare = func(context.Context, io.Writer) error { <-goOn; return nil }
	m.boot()
	p := m.together("echo ran", nil)
	m.mustStart(p)
	is.NoErr(m.call("peer.spawn", api.PeerSpawnParams{Rank: p.Rank, Epoch: 1}, nil))
	is.Equal(m.supervisor.starts(), 0)
	close(goOn)
	is.Equal(m.until(p.Rank, api.RankExited).Exit.Status(), 0)
}

// What ends the wait ends the rank: its program is never started.
func TestWhatEndsTheWaitForTheOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*api.JobSpec)
		do     func(m *mac, p api.PeerStartParams)
		reason api.Reason
	}{
		"an order to end": {do: func(m *mac, _ api.PeerStartParams) { m.mustEnd(m.endParams(api.ReasonPeerRankFailed, 2)) }, reason: api.ReasonPeerRankFailed},
		"its lease": {do: func(m *mac, _ api.PeerStartParams) {
			if err := m.call("peer.renew", api.PeerRenewParams{Job: m.job, Attempt: 1, Epoch: 1, LeaseS: 0.2}, &api.PeerRenewResult{}); err != nil {
				m.t.Error(err)
			}
		}, reason: api.ReasonLeaseExpired},
		"its deadline": {change: func(s *api.JobSpec) {
			within := 1.0
			s.Deadlines.PreparingS = &within
		}, reason: api.ReasonPreparingTimeout},
		"another daemon": {do: func(m *mac, _ api.PeerStartParams) { m.boot() }, reason: api.ReasonDaemonRestarted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			m := newMac(t)
			m.preparer.prepare = func(context.Context, io.Writer) error { return nil }
			m.boot()
			p := m.together("echo ran", c.change)
			m.mustStart(p)
			if c.do != nil {
				m.untilPrepared(p.Rank)
				c.do(m, p)
			}
			doc := m.until(p.Rank, api.RankExited)
			is.Equal(doc.Reason, c.reason)
			if c.do == nil && !doc.PreparedAt.IsZero() { // as it is but on a machine that stands still
				is.Equal(doc.Message, "Rank 0 was prepared, and waited in vain for rank 1 on "+m.homeID.Display()+".")
			}
			m.free(p.Rank)
			is.NoErr(m.call("peer.spawn", api.PeerSpawnParams{Rank: p.Rank, Epoch: 1}, nil)) // comes too late
			is.Equal(m.supervisor.starts(), 0)
		})
	}
}

// A former home has nothing run.
func TestAFormerHomeHasNothingRun(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t)
	m.preparer.prepare = func(context.Context, io.Writer) error { return nil }
	m.boot()
	p := m.together("echo ran", nil)
	m.mustStart(p)
	m.untilPrepared(p.Rank)
	is.NoErr(m.call("peer.renew", api.PeerRenewParams{Job: m.job, Attempt: 1, Epoch: 3, LeaseS: 30}, &api.PeerRenewResult{}))
	is.True(isReason(m.call("peer.spawn", api.PeerSpawnParams{Rank: p.Rank, Epoch: 1}, nil), api.ReasonStaleEpoch))
	is.True(isReason(m.call("peer.spawn", api.PeerSpawnParams{Rank: p.Rank, Epoch: 3}, nil), api.ReasonNoSuchRank)) // it was the former one's
	end := m.endParams(api.ReasonTakenOver, 0)
	end.Epoch = 3
	m.mustEnd(end)
	is.Equal(m.until(p.Rank, api.RankExited).Reason, api.ReasonTakenOver)
	is.Equal(m.supervisor.starts(), 0)
}

// A preparation has its own time, and not the one for starting.
func TestAPreparationHasItsOwnTime(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t)
	m.preparer.prepare = func(ctx context.Context, _ io.Writer) error { <-ctx.Done(); return ctx.Err() }
	m.boot()
	p := m.together("echo ran", func(s *api.JobSpec) {
		soon, late := 0.05, 3600.0
		s.Deadlines.PreparingS, s.Deadlines.StartingS = &soon, &late
	})
	p.Wait = false // as a home of before asks
	m.mustStart(p)
	doc := m.until(p.Rank, api.RankExited)
	is.Equal(doc.Reason, api.ReasonPreparingTimeout)
	is.True(strings.Contains(doc.Message, "not ready to start in time"))
	m.free(p.Rank)
	is.Equal(m.supervisor.starts(), 0)
}
