package main

import (
	"bufio"
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// forwarders stand where the daemons of a job's nodes would: one for rank 0, and
// before it one for each other rank. It returns the address that each rank calls,
// and what ends them all.
func (j *jacclBench) forwarders(ctx context.Context, rank0 string) ([]string, func(), error) {
	ctx, end := context.WithCancel(ctx)
	var all []*exec.Cmd
	stop := func() {
		end()
		for _, c := range all {
			_ = c.Wait()
		}
	}
	start := func(to string) (string, error) {
		c := exec.CommandContext(ctx, j.forward, to)
		if _, err := c.StdinPipe(); err != nil { // open until it is waited for
			return "", err
		}
		out, err := c.StdoutPipe()
		if err != nil {
			return "", err
		}
		if err := c.Start(); err != nil {
			return "", err
		}
		all = append(all, c)
		address, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			return "", fmt.Errorf("%s: %w", j.forward, err)
		}
		return strings.TrimSpace(address), nil
	}
	addresses := []string{rank0}
	last, err := start(rank0)
	for range jacclRanks - 1 {
		if err != nil {
			stop()
			return nil, nil, err
		}
		var address string
		address, err = start(last)
		addresses = append(addresses, address)
	}
	if err != nil {
		stop()
		return nil, nil, err
	}
	return addresses, stop, nil
}
