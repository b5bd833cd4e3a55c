package command

import (
	"context"
	"fmt"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

const (
	// demoRanks is how many ranks the demo's job has, where there is a place for so many.
	demoRanks = 4
	// demoPlacing and demoRunning are how long its job may look for a place, and run.
	demoPlacing, demoRunning = 20 * time.Second, time.Minute
	// demoPatience is how long a place for all is waited for: what the Macs tell of
	// their cables comes last.
	demoPatience = 5 * time.Second
)

// demoJob measures all_sum over some of the Macs; nil where that cannot be.
func (r *run) demoJob(ctx context.Context, nodes []demoNode, f demonstration) (*allReduced, error) {
	switch {
	case len(nodes) < 2:
		return nil, nil
	case f.noJob != "":
		fmt.Fprintln(r.Err, f.noJob)
		return nil, nil
	}
	b := allReduce{sizes: "1KiB-4MiB", dtype: "float32", perSize: 100 * time.Millisecond}
	b.backend, b.placing, b.running = string(api.BackendRing), demoPlacing, demoRunning
	at := r.at(nodes[0])
	err := at.with(ctx, func(c *client.Client) (err error) {
		b.ranks, err = at.mostRanks(ctx, c, b, min(demoRanks, len(nodes)))
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case b.ranks == 0:
		fmt.Fprintln(r.Err, "No two of these Macs are joined so that a job could run over them.")
		return nil, nil
	}
	fmt.Fprintf(r.Err, "\nMeasuring all_sum over %d of the Macs ...\n", b.ranks)
	result, err := at.allReduce(ctx, b)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err() // whatever became of the job
	case err != nil:
		return nil, err
	case r.json:
		return &result, nil
	}
	fmt.Fprintln(r.Out)
	return &result, result.table(r)
}

// mostRanks is for how many ranks there is a place, at most so many; 0 where
// there is none for two.
func (r *run) mostRanks(ctx context.Context, c *client.Client, b allReduce, most int) (int, error) {
	until := time.Now().Add(demoPatience)
	for {
		for b.ranks = most; b.ranks >= 2; b.ranks-- {
			request, err := b.request()
			if err != nil {
				return 0, err
			}
			result, err := client.Call[api.JobPlanResult](ctx, c, "job.plan", api.JobPlanParams{Request: request})
			if err != nil || result.Plan != nil {
				return b.ranks, err
			}
			if time.Now().Before(until) {
				break // for all of them, once more
			}
		}
		if b.ranks < 2 {
			return 0, nil
		}
		if !sleep(ctx, firstPause) {
			return 0, ctx.Err()
		}
	}
}
