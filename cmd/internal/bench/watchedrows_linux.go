package main

import (
	"context"
	"fmt"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

const (
	// firstWithin is how long the first, long measurements of a cluster's paths may
	// take: one after the other on each node.
	firstWithin = 2 * time.Minute
	// watchedTTL is the time after which a path is measured again here: shorter than by
	// default, for which the goal is.
	watchedTTL = time.Minute
)

// watchedRows measures what daemons cost of whose cluster somebody looks at the
// links, over the time after which a path is measured again.
func (b *run) watchedRows() error {
	size := 4
	if b.shortest {
		size = 2
	}
	c, err := b.startCluster(size, fmt.Sprintf("[measure]\nsocket_ttl = %q\n", watchedTTL))
	defer c.close()
	if err != nil {
		return err
	}
	b.report("the first measurements of a cluster that is looked at")
	ctx, stop := context.WithCancel(b.ctx)
	defer stop()
	first, changes, err := client.Stream[api.LinkWatchResult, api.LinkChanged](ctx, c.members[0].Client, "link.watch", nil)
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
		if len(left()) == 0 && len(known) >= size*(size-1) || time.Now().After(until) {
			break
		}
	}
	for _, row := range left() {
		return fmt.Errorf("the path %s of %s was not measured in %v: %v, %+v", row.Name, row.From, firstWithin, row.Reasons, row.Waiting)
	}
	// The loop has ended its subscription: somebody looks again.
	_, changes, err = client.Stream[api.LinkWatchResult, api.LinkChanged](ctx, c.members[0].Client, "link.watch", nil)
	if err != nil {
		return err
	}
	go func() {
		for range changes {
		}
	}()
	before, err := c.costs()
	if err != nil {
		return err
	}
	since := time.Now()
	after, took := before, time.Duration(0)
	return b.sample("a cluster that is looked at", 1, b.left(), func(int) error {
		if err := b.wait(watchedTTL); err != nil {
			return err
		}
		after, err = c.costs()
		took = time.Since(since)
		return err
	}, func() []Row {
		return []Row{atMost(newRow(fmt.Sprintf("daemon in a cluster of %d whose links are looked at, CPU", size), ofEach(before, after, took, spent.cpu), "% of a core", Lower, new(0.5), "",
			fmt.Sprintf("/proc over %v, every path measured again each %v", took.Round(time.Second), watchedTTL)))}
	})
}

// atMost is a row of something that costs at least what the goal is of: that it misses
// the goal says nothing.
func atMost(row Row) Row {
	if row.Verdict == Short {
		row.Verdict = Undecided
	}
	return row
}
