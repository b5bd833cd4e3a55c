package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"fulmen/cmd/internal/bench/stats"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/netns"
)

// firstWithin is how long the first, long measurements of a cluster's paths may
// take: one after the other on each node.
const firstWithin = 3 * time.Minute

// watchedRows measures what daemons cost of whose cluster somebody looks at the
// links, over the time after which a path is measured again.
func (b *run) watchedRows() error {
	fmt.Fprintln(os.Stderr, "bench: a cluster of 4 that is looked at, for seven minutes")
	c, err := b.startCluster(4)
	defer c.close()
	if errors.Is(err, netns.ErrNotRoot) {
		fmt.Fprintln(os.Stderr, "bench: a cluster on one machine needs network namespaces, and they need root")
		return nil
	}
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(b.ctx)
	defer stop()
	first, changes, err := client.Stream[api.LinkWatchResult, api.LinkChanged](ctx, c.members[0].client, "link.watch", nil)
	if err != nil {
		return err
	}
	known := map[api.LinkRowKey]api.LinkRow{}
	note := func(rows []api.LinkRow) {
		for _, row := range rows {
			known[row.LinkRowKey] = row
		}
	}
	left := func() (unmeasured []api.LinkRow) {
		for _, row := range known {
			if row.MeasuredAt.IsZero() {
				unmeasured = append(unmeasured, row)
			}
		}
		return unmeasured
	}
	note(first.Rows)
	until := time.Now().Add(firstWithin)
	for change, err := range changes {
		if err != nil {
			return err
		}
		for _, key := range change.GoneRows {
			delete(known, key)
		}
		note(change.Rows)
		if len(left()) == 0 && len(known) >= 12 || time.Now().After(until) {
			break
		}
	}
	for _, row := range left() {
		return fmt.Errorf("the path %s of %s was not measured in %v: %v, %+v", row.Name, row.From, firstWithin, row.Reasons, row.Waiting)
	}
	// The loop has ended its subscription: somebody looks again.
	_, changes, err = client.Stream[api.LinkWatchResult, api.LinkChanged](ctx, c.members[0].client, "link.watch", nil)
	if err != nil {
		return err
	}
	go func() {
		for range changes {
		}
	}()
	before, err := c.costs()
	if err == nil {
		err = b.wait(api.DefaultSocketTTL)
	}
	if err != nil {
		return err
	}
	after, err := c.costs()
	if err != nil {
		return err
	}
	var values []float64
	for i := range before {
		values = append(values, (after[i].cpu-before[i].cpu).Seconds()/api.DefaultSocketTTL.Seconds()*100)
	}
	goal := 0.5
	b.rows = append(b.rows, newRow("daemon in a cluster of 4 whose links are looked at, CPU", stats.Quantile(values, 0.5), "% of a core", Lower, &goal, "",
		fmt.Sprintf("/proc over %v, in which every path is measured again, every daemon", api.DefaultSocketTTL)))
	return nil
}
