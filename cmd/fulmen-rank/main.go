package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"fulmen/cmd/fulmen-rank/internal/machine"
	"fulmen/daemon/api/worker"
	"fulmen/mlxbridge"
)

func main() {
	// A fault inside MLX ends the process with a signal, and with the traces of
	// Go's threads on standard error, not with Go's exit status.
	debug.SetTraceback("crash")
	// Not with os.Exit or a return: C++ destructors must not run while MLX's
	// own threads may.
	exit(work(os.Args[1:]))
}

// work does what the command line says and gives the exit status: 0, 1 where
// it failed, 2 for a wrong command line.
func work(args []string) int {
	request, err := parse(args)
	if errors.Is(err, errHelp) {
		return 0
	}
	if err == nil {
		// From here on the program may start again in its own place, so
		// nothing is reported before.
		if problem := machine.PreferBLAS(); problem != nil {
			fmt.Fprintf(os.Stderr, "fulmen-rank: MLX uses its own BLAS library, because OpenBLAS cannot be loaded: %v\n", problem)
		}
	}
	reporter := newReporter(request.command, request.toOutput)
	if err == nil {
		var result any
		err = supervise(context.Background(), request.deadline, reporter.Stage, func(ctx context.Context) error {
			var err error
			result, err = request.run(ctx, reporter)
			return err
		})
		if err == nil {
			err = reporter.Result(result)
		}
	}
	if err == nil {
		return 0
	}
	failure := explain(err)
	reporter.Fail(failure)
	return failure.ExitStatus()
}

// explain gives the protocol's form of an error.
func explain(err error) *worker.Error {
	var known *worker.Error
	if errors.As(err, &known) {
		return known
	}
	failure := &worker.Error{Reason: worker.ReasonMLX, Message: err.Error()}
	if errors.Is(err, mlxbridge.ErrMemory) {
		failure.Reason = worker.ReasonOutOfMemory
		failure.Remedy = "close programs that use much memory, then try again"
	}
	return failure
}
