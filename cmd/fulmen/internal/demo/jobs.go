package demo

import (
	"context"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// lend has a Mac run the jobs of all members as the account, and those of whoever
// asks from this process.
func (n *Node) lend(ctx context.Context, a Account) error {
	_, err := client.Call[api.Empty](ctx, n.client, "cluster.map_user", api.ClusterMapUserParams{Members: true, Account: a.Name})
	if err != nil {
		return at(n, err)
	}
	if _, err := client.Call[api.Sharing](ctx, n.client, "cluster.set_sharing", api.ClusterSetSharingParams{Jobs: api.JobsMapped}); err != nil {
		return at(n, err)
	}
	if caller, isOther := a.caller(n.ID); isOther {
		if _, err := client.Call[api.Empty](ctx, n.client, "cluster.map_user", api.ClusterMapUserParams{Principal: caller, Account: a.Name}); err != nil {
			return at(n, err)
		}
	}
	return nil
}

// endJobs ends all jobs and waits until they have ended: what runs in them belongs
// to no daemon and would go on until it finds that none is left.
func (c *Cluster) endJobs(ctx context.Context) {
	for _, n := range c.Nodes {
		if n.client == nil || !n.process.isRunning() {
			continue
		}
		list, err := client.Call[api.JobListResult](ctx, n.client, "job.list", api.JobListParams{})
		if err != nil {
			continue // the next one may answer
		}
		var all sync.WaitGroup
		for _, j := range list.Jobs {
			all.Go(func() { n.endJob(ctx, j.Job) })
		}
		all.Wait()
		return
	}
}

// endJob ends a job; where that fails it ends with its lease.
func (n *Node) endJob(ctx context.Context, id api.JobID) {
	_, changes, err := client.Stream[api.JobWatchResult, api.JobChanged](ctx, n.client, "job.watch", api.JobSelect{Job: id})
	if err != nil {
		return
	}
	if _, err := client.Call[api.Empty](ctx, n.client, "job.stop", api.JobStopParams{Job: id, Kill: true}); err != nil {
		return
	}
	for change, err := range changes {
		if err != nil || change.Terminal {
			return
		}
	}
}
