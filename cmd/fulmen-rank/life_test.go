package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api/worker"
)

func stage() string { return "warm-up" }

// failure is the worker's error in err.
func failure(t *testing.T, err error) *worker.Error {
	t.Helper()
	var why *worker.Error
	if !errors.As(err, &why) {
		t.Fatalf("not a worker's error: %v", err)
	}
	return why
}

func TestCommandsOwnOutcome(t *testing.T) {
	is := is.New(t)
	is.NoErr(supervise(context.Background(), time.Hour, stage, func(context.Context) error { return nil }))
	broken := errors.New("device lost")
	is.Equal(supervise(context.Background(), time.Hour, stage, func(context.Context) error { return broken }), broken)
}

func TestDeadlineIsTheReason(t *testing.T) {
	is := is.New(t)
	forever := func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	why := failure(t, supervise(context.Background(), time.Millisecond, stage, forever))
	is.Equal(why.Reason, worker.ReasonDeadline)
	is.Equal(why.Stage, "warm-up")
	is.True(strings.Contains(why.Message, "the step was: warm-up")) // whom it waited for
}

// A command that cannot be interrupted is left behind after the grace.
func TestStuckCommandIsLeft(t *testing.T) {
	is := is.New(t)
	stuck := make(chan struct{})
	defer close(stuck)
	why := failure(t, supervise(context.Background(), time.Millisecond, stage, func(context.Context) error {
		<-stuck
		return nil
	}))
	is.Equal(why.Reason, worker.ReasonDeadline)
}

func TestSignalHasAReason(t *testing.T) {
	is := is.New(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	why := failure(t, because(ctx, ctx.Err(), stage))
	is.Equal(why.Reason, worker.ReasonCancelled)
	is.True(strings.Contains(why.Message, "signal"))
}

// A command that finished before it noticed keeps its result.
func TestResultThatCameInTime(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	is.New(t).NoErr(because(ctx, nil, stage))
}

func TestWatchInput(t *testing.T) {
	is := is.New(t)
	reading, writing, err := os.Pipe()
	is.NoErr(err)
	defer reading.Close()
	ended := make(chan struct{})
	watchInput(reading, func() { close(ended) })
	_, err = writing.WriteString("words that nobody reads")
	is.NoErr(err)
	select {
	case <-ended:
		t.Fatal("the input has not ended")
	default:
	}
	is.NoErr(writing.Close())
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("the end of the input was not seen")
	}
}
