package life

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

// Grace is how long a command may take to stop once it is asked to. With the
// time that a process needs to end, it stays under the second that the
// protocol promises.
const Grace = 700 * time.Millisecond

// StageFunc tells what the worker is doing, for the message of a deadline.
type StageFunc func() string

// Do runs a command and returns what it returned, or, where it had to end
// first and did not in time, an error that says why it ended. In that case
// the command still runs: the caller must end the process with [Exit], not by
// returning from main, since destructors would run under MLX's own threads.
func Do(parent context.Context, deadline time.Duration, stage StageFunc, command func(context.Context) error) error {
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
			Message: fmt.Sprintf("not done after %v, in: %s", deadline, stage()),
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
	late := time.NewTimer(Grace)
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
func because(ctx context.Context, err error, stage StageFunc) error {
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
