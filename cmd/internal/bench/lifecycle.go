package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"fulmen/daemon/api"
)

// lifecycle measures how the worker starts and ends.
func (b *run) lifecycle() error {
	_, err := os.Stat(b.python)
	compares := err == nil
	var starts, pythons, ends []float64
	return b.sample("start and end of the worker", 21, b.left(), func(int) error {
		took, err := startTime(b.ctx, nil, b.worker, "info")
		if err != nil {
			return fmt.Errorf("%s info: %w", b.worker, err)
		}
		starts = append(starts, took)
		if compares {
			if took, err = startTime(b.ctx, []string{"PYTHONPATH=build/mlx/current"}, b.python, "-c", "import mlx.core"); err != nil {
				return fmt.Errorf("python: %w", err)
			}
			pythons = append(pythons, took)
		}
		if took, err = endingTime(b.ctx, b.worker); err != nil {
			return fmt.Errorf("%s gpu: %w", b.worker, err)
		}
		ends = append(ends, took)
		return nil
	}, func() (rows []Row) {
		if compares {
			rows = append(rows, newRow("start of the worker to its answer to info", Median(Ratios(starts, pythons)), "ratio of times", Lower, nil,
				fmt.Sprintf("python3 -c 'import mlx.core', %.3g ms", Median(pythons).Value*1e3), "interleaved pairs"))
		}
		return append(rows, newRow("SIGTERM to the end of a computing worker", Median(ends), "ms", Lower, new(1000.0), "", "a worker in a matrix product"))
	})
}

// readyDeadline bounds the start of a daemon.
const readyDeadline = 30 * time.Second

// daemonRows measures the daemon.
func (b *run) daemonRows() error {
	folder, err := os.MkdirTemp("", "fulmen-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if err := os.WriteFile(filepath.Join(folder, api.ConfigFile), []byte("[api]\nport = 0\n[endpoint]\nport = 0\n"), 0o600); err != nil {
		return err
	}
	if err := b.daemonStart(folder); err != nil {
		return err
	}
	if err := b.goBench(goBenches()["watchers"], b.left()/5); err != nil {
		return err
	}
	return b.idle(folder)
}
