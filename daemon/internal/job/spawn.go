package job

import (
	"fulmen/daemon/api"
	"fulmen/daemon/internal/job/phase"
)

// spawnRank has a node run a rank that it has prepared. A node that was started
// again meanwhile has given the rank up, and says so.
func (a *actor) spawnRank(e phase.SpawnRank) {
	ref := api.RankRef{Job: a.id, Attempt: e.Attempt, Rank: e.Rank}
	params, anew := api.PeerSpawnParams{Warrant: a.state.Job.Warrant(), Rank: ref, Epoch: e.Epoch}, a.anew(e)
	a.async(func() came {
		err := a.order(e.Node, "peer.spawn", params, "to run rank "+ref.String())
		if err == nil {
			return came{}
		}
		return anew(err, a.notStarted(err, e.Node, ref))
	})
}
