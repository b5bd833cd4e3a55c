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

	"fulmen/native/darwin"
)

// runDebugRecord prints what this Mac says, with names replaced, or saves it and prints
// what was replaced. Elsewhere it says that this is no Mac.
func runDebugRecord(args []string, out, complaints io.Writer) error {
	flags := flag.NewFlagSet("fulmend debug record", flag.ContinueOnError)
	flags.SetOutput(complaints)
	path := flags.String("out", "", "save it in this `FILE`, which must not be there yet, and print what was replaced in it")
	if err := parse(flags, args); err != nil {
		return err
	}
	recording, replaced, err := darwin.Record("verbs")
	switch {
	case err != nil:
		return err
	case *path != "":
		return saveRecording(*path, recording, replaced, out)
	}
	return writeJSON(out, recording)
}

// writeJSON writes a value for a person to read.
func writeJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
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
	if err := errors.Join(writeJSON(file, recording), file.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "\nSaved to %s, with %d values replaced. It was not sent anywhere; read it before you pass it on.\n"+
		"Recordings of the Macs of one desk make a scenario: fulmen debug parse --scenario NAME FILE... > NAME.toml\n", path, len(replaced))
	return err
}

// runDebugNotifications prints a line for each callback of the system as it comes.
func runDebugNotifications(args []string, out, complaints io.Writer) error {
	flags := flag.NewFlagSet("fulmend debug notifications", flag.ContinueOnError)
	flags.SetOutput(complaints)
	limit := flags.Duration("for", 0, "end after this `TIME` (\"5m\"); without it, at an interrupt")
	if err := parse(flags, args); err != nil {
		return err
	}
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer cancel()
	if *limit > 0 {
		ctx, cancel = context.WithTimeout(ctx, max(*limit, time.Second))
		defer cancel()
	}
	return darwin.LogNotifications(ctx, out)
}
