package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"fulmen/daemon/api"
	"fulmen/daemon/api/worker"
	"fulmen/daemon/client"
)

// measure has the daemon measure the GPU, shows its progress and its result.
func measure(ctx context.Context, c *client.Client, screen *screen) error {
	_, changes, err := client.Stream[api.MeasureStarted, api.MeasureChanged](ctx, c, "measure.gpu", api.MeasureGPUParams{})
	if err != nil {
		return err
	}
	for change, err := range changes {
		if err != nil {
			screen.clear()
			return err
		}
		item := change.Measurement.Items[0]
		if !change.Terminal {
			if item.DoneRatio != nil {
				screen.progress(worker.Progress{Stage: item.Step, DoneRatio: *item.DoneRatio})
			}
			continue
		}
		screen.clear()
		if item.Error != nil {
			return item.Error
		}
		var profile api.GPUProfile
		if _, found, err := one(ctx, c, api.KindGPUProfile, &profile); err != nil || !found {
			return errors.Join(err, errors.New("the measurement left no profile"))
		}
		printProfile(os.Stdout, profile)
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("the measurement has no end: the daemon is gone")
}
