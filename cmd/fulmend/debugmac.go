package main

import (
	"context"
	"encoding/json"
	"flag"
	"io"
	"os/signal"
	"syscall"
	"time"

	"fulmen/daemon/api"
	"fulmen/native/darwin"
)

// runDebugRecord prints what this Mac says, with names masked. Elsewhere it says
// that this is no Mac.
func runDebugRecord(args []string, out, complaints io.Writer) int {
	flags := flag.NewFlagSet("fulmend debug record", flag.ContinueOnError)
	flags.SetOutput(complaints)
	if status := parse(flags, args); status >= 0 {
		return status
	}
	recording, err := darwin.Record()
	if err == nil {
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(recording)
	}
	if err != nil {
		complain(complaints, err.Error())
		return api.ExitFailed
	}
	return api.ExitOK
}

// runDebugNotifications prints a line for each callback of the system as it comes.
func runDebugNotifications(args []string, out, complaints io.Writer) int {
	flags := flag.NewFlagSet("fulmend debug notifications", flag.ContinueOnError)
	flags.SetOutput(complaints)
	limit := flags.Duration("for", 0, "end after this `TIME` (\"5m\"); without it, at an interrupt")
	if status := parse(flags, args); status >= 0 {
		return status
	}
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer cancel()
	if *limit > 0 {
		ctx, cancel = context.WithTimeout(ctx, max(*limit, time.Second))
		defer cancel()
	}
	if err := darwin.LogNotifications(ctx, out); err != nil {
		complain(complaints, err.Error())
		return api.ExitFailed
	}
	return api.ExitOK
}

// runVerbs asks the RDMA library for the daemon, which ends this process where the library
// does not answer.
func runVerbs(out, complaints io.Writer) int {
	if err := darwin.AnswerVerbs(out); err != nil {
		complain(complaints, err.Error())
		return api.ExitFailed
	}
	return api.ExitOK
}
