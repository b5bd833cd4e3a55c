package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/netns"
)

// copyCableRows measures the copy to a Mac that has a second cable to the one with the model
// against that to a Mac that has one.
func (b *run) copyCableRows(c *copied, within time.Duration) error {
	if err := c.secondCable(b.ctx); err != nil {
		return err
	}
	const name = "a model over 2 cables of 1 Gb/s"
	var one, two []float64
	return b.sample(name, 3, within, func(int) error {
		for _, to := range []struct {
			member int
			rates  *[]float64
		}{{2, &one}, {0, &two}} {
			if err := os.RemoveAll(c.repository(to.member)); err != nil {
				return err
			}
			began := time.Now()
			if err := c.fetch(b.ctx, to.member, 1, make(chan struct{})); err != nil {
				return err
			}
			*to.rates = append(*to.rates, float64(c.size)/time.Since(began).Seconds()/1e6)
		}
		return nil
	}, func() []Row {
		method := fmt.Sprintf("a file of %d MB to other Macs' caches in memory, all on this machine", c.size>>20)
		return []Row{
			newRow(name+", rate", Median(two), "MB/s", Higher, nil, "", method),
			newRow(name, Median(Ratios(two, one)), "times the rate over one", Higher, new(1.8), "a copy over one", method),
		}
	})
}

// secondCable joins the first two Macs by a network of their own, and waits until they use it.
func (c *copied) secondCable(ctx context.Context) error {
	cable, err := netns.NewNetwork(c.spaces[0], "cable")
	if err != nil {
		return err
	}
	for i, m := range c.members[:2] {
		if err := errors.Join(cable.Plug(m.Space, "lan1", fmt.Sprintf("10.78.0.%d/24", i+1)), m.SetRate("lan1", 125e6)); err != nil {
			return err
		}
	}
	isUsed := func(p api.PathView) bool { return p.Interface == "lan1" && p.State == api.PathActive }
	isThere := func(all []api.NodeView) bool {
		return slices.ContainsFunc(all, func(n api.NodeView) bool { return slices.ContainsFunc(n.Paths, isUsed) })
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	first, changes, err := client.Stream[api.NodeWatchResult, api.NodeChanged](ctx, c.members[0].Client, "node.watch", api.Empty{})
	if err != nil || isThere(first.Nodes) {
		return err
	}
	for change, err := range changes {
		if err != nil || isThere(change.Put) {
			return err
		}
	}
	return errors.New("the daemon ended the watch")
}
