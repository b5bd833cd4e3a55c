package main

import (
	"context"
	"flag"
	"io"
	"os"
	"os/signal"
	"syscall"

	"fulmen/daemon"
	"fulmen/daemon/api"
)

// runUninstall lists or removes what Fulmen has left on this machine, for fulmen
// uninstall, which asks before.
func runUninstall(args []string, out io.Writer) int {
	flags := flag.NewFlagSet("fulmend uninstall", flag.ContinueOnError)
	remove := flags.Bool("remove", false, "take it away; without this it is only listed")
	deleteOutput := flags.Bool("delete-output", false, "also what jobs have printed")
	if status := parse(flags, args); status >= 0 {
		return status
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := daemon.Uninstall(ctx, *remove, *deleteOutput, out); err != nil {
		explain(os.Stderr, err)
		return statusOf(err)
	}
	return api.ExitOK
}
