package demo

import (
	"context"
	"errors"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// again is the pause before a Mac tries to join again that has not found the
// first one yet.
const again = 250 * time.Millisecond

// Pair joins every Mac to the first one, each with a code of its own, as people
// would with fulmen pair and fulmen join.
func (c *Cluster) Pair(ctx context.Context) error {
	first := c.Nodes[0]
	for _, n := range c.Nodes[1:] {
		c.printf("Pairing %s with %s…", n.Mac, first.Mac)
		joined, err := n.join(ctx, first, c.options.Account)
		if err != nil {
			return err
		}
		c.ID = joined.Cluster
	}
	if c.ID == "" {
		info, err := client.Call[api.DaemonInfoResult](ctx, first.client, "daemon.info", nil)
		if err != nil {
			return err
		}
		c.ID = info.Cluster
	}
	if c.options.Account.Name == "" {
		return nil
	}
	return first.lend(ctx, c.options.Account)
}

// join has a Mac join the cluster of the first one, and lend to its members; it
// waits until that is found.
func (n *Node) join(ctx context.Context, first *Node, as Account) (api.ClusterJoinResult, error) {
	var code string
	for {
		if code == "" {
			open, err := client.Call[api.ClusterPairResult](ctx, first.client, "cluster.pair", api.ClusterPairParams{})
			if err != nil {
				return api.ClusterJoinResult{}, at(first, err)
			}
			code = open.Code
		}
		joined, err := client.Call[api.ClusterJoinResult](ctx, n.client, "cluster.join",
			api.ClusterJoinParams{Node: first.ID, Code: code, Account: as.Name, RDMAChanges: api.ChangesMembers})
		switch {
		case err == nil:
			return joined, nil
		case ctx.Err() != nil:
			return joined, because(late(ctx, n.Mac+" to join "+first.Mac), err)
		case errors.Is(err, api.ReasonCodeExpired) || errors.Is(err, api.ReasonCodeUsedUp):
			code = ""
		case !isEarly(err):
			return joined, at(n, err)
		}
		if !client.Pause(ctx, again) {
			return joined, because(late(ctx, n.Mac+" to join "+first.Mac), err)
		}
	}
}

// isEarly reports whether a Mac may only not have found the other one yet.
func isEarly(err error) bool {
	switch api.AsError(err).Code {
	case api.CodeUnreachable, api.CodeNotFound, api.CodeDeadline:
		return true
	}
	return errors.Is(err, api.ReasonPairingNotOpen) || errors.Is(err, api.ReasonPairingBusy)
}

// at names the Mac whose daemon refused something.
func at(n *Node, err error) error {
	e := *api.AsError(err)
	e.Message = n.Mac + ": " + e.Message
	return &e
}

// because adds what was in the way.
func because(err, cause error) error {
	e := *api.AsError(err)
	e.Data.Causes = append(e.Data.Causes, api.AsError(cause).Cause())
	return &e
}

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
	_ = client.ToEnd(changes, func(c api.JobChanged) bool { return c.Terminal }) // as said above
}
