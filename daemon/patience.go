package daemon

import (
	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/replica"
	"fulmen/daemon/internal/ledger"
)

// patience says which documents other nodes hear of a little later, several at
// once. A job that starts changes its documents some five times on each node
// within a tenth of a second, and only those nodes have something to do with a
// change that drive the job, have submitted it, or show it to somebody. All that
// ends something, and all that is not as usual, is told at once.
func (d *daemon) patience(r *ledger.Record) (p replica.Patience, mayWait bool) {
	key := r.Key()
	switch key.Kind {
	case api.KindJob:
		job, err := ledger.Shared[api.Job](r)
		if err != nil || job.Epoch > 1 || job.NextHome != "" || job.StopRequested != nil {
			return p, false
		}
		switch job.Phase {
		case api.JobQueued, api.JobPlacing, api.JobStarting, api.JobHandshake, api.JobRunning:
			return replica.Patience{Except: d.concerned(api.JobID(key.Name))}, true
		}
	case api.KindRank:
		rank, err := ledger.Shared[api.Rank](r)
		if err != nil {
			return p, false
		}
		switch rank.Phase {
		case api.RankGranted, api.RankPreparing, api.RankStarting:
			// It is past them before anybody reads; but a home waits for ranks that prepare.
			return replica.Patience{EvenWatched: true}, rank.PreparedAt.IsZero()
		case api.RankHandshake, api.RankRunning:
			return replica.Patience{Except: d.concerned(rank.Job)}, true
		}
	case api.KindGrant:
		grant, err := ledger.Shared[api.Grant](r)
		if ref, problem := api.ParseRankRef(key.Name); err == nil && problem == nil && grant.State == api.GrantHeld {
			return replica.Patience{Except: d.concerned(ref.Job)}, true
		}
	}
	return p, false
}

// concerned are the nodes that have to do with a job whatever becomes of it: those
// that have written a document of it, which are its homes, and its submitter's.
func (d *daemon) concerned(id api.JobID) (nodes []api.NodeID) {
	for _, record := range d.ledger.Named(api.KindJob, string(id), false) {
		nodes = append(nodes, record.Key().Node)
		if job, err := ledger.Shared[api.Job](record); err == nil {
			nodes = append(nodes, job.Principal.Node)
		}
	}
	return nodes
}
