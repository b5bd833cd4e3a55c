package testcluster

import (
	"context"
	"errors"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// again is the pause before a daemon tries to join again that has not found the
// other one yet.
const again = 100 * time.Millisecond

// Join has a daemon join the cluster of another one, once that is found, and
// lend to its members as an account; empty: to nobody.
func Join(ctx context.Context, first *client.Client, at api.NodeID, joining *client.Client, account string) error {
	for {
		open, err := client.Call[api.ClusterPairResult](ctx, first, "cluster.pair", api.ClusterPairParams{})
		if err != nil {
			return err
		}
		_, err = client.Call[api.ClusterJoinResult](ctx, joining, "cluster.join",
			api.ClusterJoinParams{Node: at, Code: open.Code, Account: account})
		if !isEarly(err) {
			return err
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return errors.Join(err, context.Cause(ctx))
		}
	}
}

// isEarly reports whether a daemon may only not have found the other one yet.
func isEarly(err error) bool {
	if err == nil {
		return false
	}
	switch api.AsError(err).Code {
	case api.CodeUnreachable, api.CodeNotFound:
		return true
	}
	return errors.Is(err, api.ReasonPairingNotOpen) || errors.Is(err, api.ReasonPairingBusy)
}

// SeesAlive waits until a daemon says of so many nodes that they are alive.
func SeesAlive(ctx context.Context, c *client.Client, size int) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	first, changes, err := client.Stream[api.NodeWatchResult, api.NodeChanged](ctx, c, "node.watch", api.Empty{})
	if err != nil {
		return err
	}
	alive := map[api.NodeID]bool{}
	isWhole := func(put []api.NodeView) bool {
		for _, n := range put {
			if alive[n.Node] = true; n.Liveness != api.LivenessAlive {
				delete(alive, n.Node)
			}
		}
		return len(alive) == size
	}
	if isWhole(first.Nodes) {
		return nil
	}
	for change, err := range changes {
		if err != nil {
			return err
		}
		if isWhole(change.Put) {
			return nil
		}
	}
	return errors.New("the daemon ended the watch")
}
