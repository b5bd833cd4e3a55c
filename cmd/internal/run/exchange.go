package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"fulmen/daemon/api/worker"
)

const (
	// ranks is how many workers exchange data.
	ranks = 2
	// tries is how often the exchange is started. MLX's ring takes the ports
	// by number, so another program can take one between the look and the
	// start.
	tries = 3
)

// exchange runs all_sum between two workers over loopback.
func exchange(ctx context.Context, program string, screen *screen) error {
	var err error
	for range tries {
		var result worker.AllReduce
		if result, err = exchangeOnce(ctx, program, screen); err == nil {
			printAllReduce(os.Stdout, result)
			return nil
		}
		if !strings.Contains(err.Error(), "bind") {
			break
		}
	}
	return err
}

func exchangeOnce(ctx context.Context, program string, screen *screen) (worker.AllReduce, error) {
	folder, err := os.MkdirTemp("", "fulmen-run-")
	if err != nil {
		return worker.AllReduce{}, err
	}
	defer os.RemoveAll(folder)
	hosts, err := freePorts(ranks)
	if err != nil {
		return worker.AllReduce{}, err
	}
	hostfile := filepath.Join(folder, "hosts.json")
	text, err := json.Marshal(hosts)
	if err != nil {
		return worker.AllReduce{}, err
	}
	if err := os.WriteFile(hostfile, text, 0o600); err != nil {
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
			environment := []string{"MLX_HOSTFILE=" + hostfile, "MLX_RANK=" + strconv.Itoa(rank)}
			err := start(ctx, program, environment, show, &results[rank], worker.CommandAllReduce,
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

// freePorts gives each rank an address on loopback that is free now, in the
// form of MLX's ring: a list of addresses for each rank.
func freePorts(count int) ([][]string, error) {
	var hosts [][]string
	for range count {
		listener, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer listener.Close() // all are held until each has its own
		hosts = append(hosts, []string{listener.Addr().String()})
	}
	return hosts, nil
}
