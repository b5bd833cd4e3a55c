package demo

import (
	"context"
	"errors"
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
		c.tell("Pairing %s with %s ...", n.Mac, first.Mac)
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
		pause := time.NewTimer(again)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
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
