package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sync/errgroup"

	"fulmen/cmd/internal/ring"
	"fulmen/daemon/api/worker"
)

const (
	// ranks is how many workers exchange data.
	ranks = 2
	// tries is how often the exchange is started where a port was taken.
	tries = 3
)

// exchange runs all_sum between two workers over loopback.
func exchange(ctx context.Context, program string, screen *screen) error {
	for try := 1; ; try++ {
		result, err := exchangeOnce(ctx, program, screen)
		if err == nil {
			printAllReduce(os.Stdout, result)
			return nil
		}
		if try == tries || !strings.Contains(err.Error(), "bind") {
			return err
		}
	}
}

func exchangeOnce(ctx context.Context, program string, screen *screen) (worker.AllReduce, error) {
	folder, err := os.MkdirTemp("", "fulmen-run-")
	if err != nil {
		return worker.AllReduce{}, err
	}
	defer os.RemoveAll(folder)
	environments, err := ring.Environment(folder, ranks)
	if err != nil {
		return worker.AllReduce{}, err
	}
	results := make([]worker.AllReduce, ranks)
	// One rank that fails ends the others: they would wait for it.
	group, ctx := errgroup.WithContext(ctx)
	for rank := range ranks {
		group.Go(func() error {
			show := screen
			if rank != 0 {
				show = silent()
			}
			err := start(ctx, program, environments[rank], show, &results[rank], worker.CommandAllReduce,
				"-backend", "ring", "-min-bytes", "4096", "-max-bytes", "16777216")
			if err != nil {
				return fmt.Errorf("rank %d: %w", rank, err)
			}
			return nil
		})
	}
	err = group.Wait()
	return results[0], err
}
