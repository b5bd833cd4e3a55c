package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"fulmen/app/text"
	"fulmen/daemon/api/worker"
	"fulmen/daemon/e2e/testcluster"
)

const (
	// ranks is how many workers exchange data.
	ranks = 2
	// tries is how often the exchange is started where a port was taken.
	tries = 3
)

// exchange runs all_sum between two workers over loopback, and prints how long it took.
func exchange(ctx context.Context, program string) error {
	for try := 1; ; try++ {
		result, err := exchangeOnce(ctx, program)
		if err == nil {
			return printAllReduce(result)
		}
		if try == tries || !strings.Contains(err.Error(), "bind") {
			return err
		}
	}
}

func exchangeOnce(ctx context.Context, program string) (result worker.AllReduce, err error) {
	folder, err := os.MkdirTemp("", "fulmen-run-")
	if err != nil {
		return result, err
	}
	defer os.RemoveAll(folder)
	hosts, err := testcluster.Ring(folder, ranks)
	if err != nil {
		return result, err
	}
	outputs := make([][]byte, ranks)
	// One rank that fails ends the others: they would wait for it.
	group, ctx := errgroup.WithContext(ctx)
	for rank := range ranks {
		group.Go(func() (err error) {
			if outputs[rank], err = runRank(ctx, program, "MLX_HOSTFILE="+hosts, "MLX_RANK="+strconv.Itoa(rank)); err != nil {
				return fmt.Errorf("rank %d: %w", rank, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return result, err
	}
	return result, json.Unmarshal(outputs[0], &result)
}

// runRank runs one worker to its end, and gives the result that it prints.
func runRank(ctx context.Context, program string, environment ...string) ([]byte, error) {
	process := exec.CommandContext(ctx, program, string(worker.CommandAllReduce), "-backend", "ring", "-min-bytes", "4096", "-max-bytes", "16777216")
	process.Env = append(os.Environ(), environment...)
	process.Cancel = func() error { return process.Process.Signal(syscall.SIGTERM) }
	process.WaitDelay = 2 * time.Second
	// The worker ends when this pipe does: it does not outlive this program.
	life, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	defer life.Close()
	var output testcluster.Output
	process.Stderr = &output
	out, err := process.Output()
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("the worker ended without a result (%w); its last output:\n%s", err, output.End())
	}
	return out, err
}

func printAllReduce(result worker.AllReduce) error {
	fmt.Printf("\nall_sum between %d workers on this machine over %s, %s\n", result.Size, result.Backend, result.DType)
	table := text.NewTable("  message", "time", "algorithm", "bus", "wrong")
	for _, r := range result.Rows {
		table.Row("  "+text.Bytes(int64(r.MessageBytes)), text.Micros(r.TimeUS), text.BytesPerS(r.AlgBytesPerS), text.BytesPerS(r.BusBytesPerS), strconv.Itoa(r.WrongCount))
	}
	_, err := fmt.Print(table)
	return err
}
