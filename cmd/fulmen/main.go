package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"fulmen/cmd/fulmen/internal/command"
)

// version is set by the build.
var version = "0.1.0-dev"

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C does not wait
	return command.Process(version).Run(ctx, os.Args[1:])
}
