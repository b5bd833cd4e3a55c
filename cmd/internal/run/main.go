package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"fulmen/daemon/api/worker"
)

// again is the time between two measurements where nobody asked for one only.
const again = time.Minute

func main() {
	once := flag.Bool("once", false, "measure once, then end")
	program := flag.String("worker", "build/bin/fulmen-rank", "the worker to start")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, *program, *once)
	if errors.Is(err, context.Canceled) {
		fmt.Println("Stopped.")
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "make run:", err)
		stop()
		os.Exit(1)
	}
}

// run measures this machine: what it is, its device, and what two workers on
// it can exchange.
func run(ctx context.Context, program string, once bool) error {
	screen := newScreen(os.Stdout)
	var info worker.Info
	if err := start(ctx, program, nil, screen, &info, worker.CommandInfo); err != nil {
		return err
	}
	printInfo(os.Stdout, info)

	var first worker.GPU
	if err := start(ctx, program, nil, screen, &first, worker.CommandGPU); err != nil {
		return err
	}
	printGPU(os.Stdout, first)

	if err := exchange(ctx, program, screen); err != nil {
		return err
	}
	for !once {
		fmt.Printf("\nMeasuring again in %v. Ctrl-C ends this.\n", again)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(again):
		}
		var next worker.GPU
		if err := start(ctx, program, nil, screen, &next, worker.CommandGPU); err != nil {
			return err
		}
		printGPU(os.Stdout, next)
	}
	return nil
}
