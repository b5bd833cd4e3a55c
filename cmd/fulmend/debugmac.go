package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"fulmen/daemon/api"
	"fulmen/native/darwin"
)

// runDebugRecord prints what this Mac says, with names replaced, or saves it and prints
// what was replaced. Elsewhere it says that this is no Mac.
func runDebugRecord(args []string, out, complaints io.Writer) int {
	flags := flag.NewFlagSet("fulmend debug record", flag.ContinueOnError)
	flags.SetOutput(complaints)
	path := flags.String("out", "", "save it in this `FILE`, which must not be there yet, and print what was replaced in it")
	if status := parse(flags, args); status >= 0 {
		return status
	}
	recording, replaced, err := darwin.Record("verbs")
	if err == nil && *path != "" {
		err = saveRecording(*path, recording, replaced, out)
	} else if err == nil {
		err = writeRecording(out, recording)
	}
	if err != nil {
		complain(complaints, err.Error())
		return api.ExitFailed
	}
	return api.ExitOK
}

func writeRecording(out io.Writer, recording darwin.Recording) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(recording)
}

// saveRecording prints each personal value with what stands in its place, then saves the
// recording for its owner alone.
func saveRecording(path string, recording darwin.Recording, replaced []darwin.Replaced, out io.Writer) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s is there already: name another file", path)
	}
	for _, r := range replaced {
		if _, err := fmt.Fprintf(out, "%s %q is saved as %q\n", r.Kind, r.Was, r.Is); err != nil {
			return err
		}
	}
	for name, problem := range recording.Errors {
		if _, err := fmt.Fprintf(out, "not read: %s: %q\n", name, problem); err != nil {
			return err
		}
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(writeRecording(file, recording), file.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "\nSaved to %s, with %d values replaced. It was sent nowhere; read it before you pass it on.\n"+
		"Recordings of the Macs of one desk make a scenario: fulmen debug parse --scenario NAME FILE... > NAME.toml\n", path, len(replaced))
	return err
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
