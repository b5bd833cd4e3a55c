package main

// #include <unistd.h>
import "C"

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"fulmen/daemon/api/worker"
)

// grace is how long a command may take to stop once it is asked to. With the
// time that a process needs to end, it stays under the second that the
// protocol promises.
const grace = 700 * time.Millisecond

// stageFunc tells what the worker is doing, for the message of a deadline.
type stageFunc func() string

// supervise ends a command when it must end: on SIGTERM, SIGINT or SIGHUP, when the
// input that the worker inherited ends, and at its deadline. MLX cannot be
// interrupted: a collective whose peer is gone spins for ever, and a wait for Metal
// has no limit. So the command is asked to stop (its context ends), and where it has
// not within [grace], the process ends under it.
//
// It returns what the command returned, or, where it had to end first and did not in
// time, an error that says why it ended. In that case the command still runs: the caller must end the process with [exit], not by
// returning from main, since destructors would run under MLX's own threads.
func supervise(parent context.Context, deadline time.Duration, stage stageFunc, command func(context.Context) error) error {
	ctx, stop := signal.NotifyContext(parent, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	watchInput(os.Stdin, func() {
		cancel(&worker.Error{Reason: worker.ReasonCancelled, Message: "the input ended: whoever started this worker is gone"})
	})
	timer := time.AfterFunc(deadline, func() {
		cancel(&worker.Error{
			Reason:  worker.ReasonDeadline,
			Message: fmt.Sprintf("it was not done after %v; the step was: %s", deadline, stage()),
			Remedy:  "give it longer with -deadline",
		})
	})
	defer timer.Stop()

	done := make(chan error, 1)
	go func() { done <- command(ctx) }()
	select {
	case err := <-done:
		return because(ctx, err, stage)
	case <-ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case err := <-done:
		return because(ctx, err, stage)
	case <-late.C:
		return because(ctx, ctx.Err(), stage)
	}
}

// because replaces the error of a command that was asked to stop by the reason
// for which it was asked.
func because(ctx context.Context, err error, stage stageFunc) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	var why *worker.Error
	if !errors.As(context.Cause(ctx), &why) {
		why = &worker.Error{Reason: worker.ReasonCancelled, Message: "ended by a signal"}
	}
	if why.Stage == "" {
		why.Stage = stage()
	}
	return why
}

// watchInput calls ended when in reaches its end, where in is a pipe or a
// socket. A terminal, a file or /dev/null is nobody's life line.
func watchInput(in *os.File, ended func()) {
	status, err := in.Stat()
	if err != nil || status.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return
	}
	go func() {
		var discard [512]byte
		for {
			if _, err := in.Read(discard[:]); err != nil {
				ended()
				return
			}
		}
	}()
}

// exit ends the process at once with a status, running neither deferred calls
// nor C++ destructors. Destroying a group while its thread spins in a
// collective is a segmentation fault, and on macOS os.Exit runs destructors.
func exit(status int) {
	C._exit(C.int(status))
}
