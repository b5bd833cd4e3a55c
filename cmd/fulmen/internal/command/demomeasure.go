package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

const (
	// demoMeasuring is how long the demo's measurements may take in all.
	demoMeasuring = time.Minute
	// demoTries is how often they are tried.
	demoTries = 3
)

// demoMeasured is what the Macs of a demo give: their GPUs together, and every path.
type demoMeasured struct {
	// Totals are as in node.list.
	Totals api.Totals `json:"totals"`
	// Links is as link.list.
	Links api.LinkListResult `json:"links"`
}

// demoMeasure has every GPU and path measured: those of the scenario are as it
// records them, and one of this machine's loopback is real.
func (r *run) demoMeasure(ctx context.Context, first demoNode) (*demoMeasured, error) {
	fmt.Fprintln(r.Err, "\nMeasuring GPUs and paths ...")
	ctx, stop := context.WithTimeoutCause(ctx, demoMeasuring, context.DeadlineExceeded)
	defer stop()
	var measured demoMeasured
	err := r.at(first).with(ctx, func(c *client.Client) error {
		for _, one := range []struct {
			method string
			params any
		}{
			{"measure.gpu", api.MeasureGPUParams{All: true, MaxAgeS: time.Hour.Seconds()}},
			{"measure.link", api.MeasureLinkParams{All: true, RDMA: true, MaxAgeS: time.Hour.Seconds()}},
		} {
			// A machine that is busy starting all this may fail the one that is real.
			err := measureAll(ctx, c, one.method, one.params)
			for tries := 1; err != nil && ctx.Err() == nil && tries < demoTries; tries++ {
				err = measureAll(ctx, c, one.method, one.params)
			}
			if err != nil {
				return err
			}
		}
		nodes, err := client.Call[api.NodeListResult](ctx, c, "node.list", nil)
		if err != nil {
			return err
		}
		if measured.Links, err = client.Call[api.LinkListResult](ctx, c, "link.list", nil); err != nil {
			return err
		}
		measured.Totals = nodes.Totals
		if r.json {
			return nil
		}
		fmt.Fprintln(r.Out)
		return r.view().DemoMeasured(r.Out, nodes, measured.Links)
	})
	return &measured, err
}

// measureAll measures and waits for the end. What the scenario does not record is
// no failure.
func measureAll(ctx context.Context, c *client.Client, method string, params any) error {
	started, changes, err := client.Stream[api.MeasureStarted, api.MeasureChanged](ctx, c, method, params)
	if err != nil {
		return err
	}
	last := started.Measurement
	for change, problem := range changes {
		if problem != nil {
			return problem
		}
		if last = change.Measurement; change.Terminal {
			break
		}
	}
	for _, item := range last.Items {
		if item.Error != nil && !errors.Is(item.Error, api.ReasonNotInScenario) {
			return item.Error
		}
	}
	return nil
}

// at is the same as a client of another daemon.
func (r *run) at(node demoNode) *run {
	other := *r
	other.Environment.Getenv = func(name string) string {
		if name == api.EnvHome {
			return node.Home
		}
		return r.Environment.Getenv(name)
	}
	return &other
}
