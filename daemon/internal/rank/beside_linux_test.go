package rank

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// Ranks of one job on one node live in the grant of the first: it is taken up once for all
// by the next daemon, and free when the last has ended.
func TestRanksShareTheGrantOfTheFirst(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t).boot()
	spec := m.spec("echo $$; sleep 100")
	spec.Placement.Ranks, spec.Placement.RanksPerNode = 4, 2
	first := m.params(spec)
	first.Plan.Shape = api.ShapeRing
	first.Plan.Ranks = nil
	for i, node := range []api.NodeID{m.homeID, m.homeID, m.id, m.id} {
		first.Plan.Ranks = append(first.Plan.Ranks, api.PlanRank{Rank: i, Node: node, GPU: api.GPUShared, MemoryBytes: 1 << 20})
		first.Plan.Hosts = append(first.Plan.Hosts, []string{"127.0.0.1:4242"})
	}
	second := first
	first.Rank.Rank, second.Rank.Rank = 2, 3
	m.grants.bytes = 2 << 20
	is.NoErr(m.start(first)) // which gives the grant
	is.NoErr(m.call("peer.start", second, nil))
	pids := m.printed(first.Rank, 1)
	pids = append(pids, m.printed(second.Rank, 1)...)

	m.boot()
	for _, p := range []api.PeerStartParams{first, second} {
		m.until(p.Rank, api.RankRunning)
	}
	end := m.endParams(api.ReasonStoppedByPerson, 0)
	for i, p := range []api.PeerStartParams{first, second} {
		is.True(m.grants.occupied(first.Rank))
		is.True(!m.grants.occupied(second.Rank))
		end.Ranks = []int{p.Rank.Rank}
		m.mustEnd(end)
		m.until(p.Rank, api.RankExited)
		gone(t, pids[i])
	}
	m.free(first.Rank)
}
