package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"fulmen"
	"fulmen/cmd/fulmen/internal/command"
)

// version is the version of the whole product.
var version = fulmen.Version()

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C does not wait
	return command.Process(version).Run(ctx, os.Args[1:])
}
