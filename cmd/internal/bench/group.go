package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime/debug"
	"strings"
	"time"
)

const (
	// endWithin is how long a group may take to end once its time is over.
	endWithin = 30 * time.Second
	// quiet is how long a cluster is left alone before it counts as idle: dials that
	// come to nothing are repeated ever more slowly, and a daemon that has just joined
	// thinks of its memory first.
	quiet = 20 * time.Second
)

// group is rows that are measured together, within a time.
type group struct {
	name   string
	within time.Duration
	run    func(*run) error
}

// errNotMeasured is why something is not measured here; that is no failure.
type errNotMeasured string

func (e errNotMeasured) Error() string { return string(e) }

// run is one group while it is measured.
type run struct {
	ctx                    context.Context
	folder, worker, python string
	// shortest has everything measured once, which shows that it works and nothing else.
	shortest bool
	nodes    int       // how many daemons the group scale measures; 0: as usual
	out      io.Writer // of the progress
	place    string    // the group, and which of how many it is
	ends     time.Time // when its time is over
	after    time.Duration
	rows     []Row
}

// measure runs groups one after the other and gives the rows of all. What a group fails of stands in a row of its own.
func measure(ctx context.Context, b run, groups []group) []Row {
	var rows []Row
	for i, g := range groups {
		b.place, b.after = fmt.Sprintf("%d of %d, %s", i+1, len(groups), g.name), 0
		for _, later := range groups[i+1:] {
			b.after += later.within
		}
		rows = append(rows, b.group(ctx, g)...)
	}
	return rows
}

// group runs one group. One that does not end is left behind.
func (b run) group(ctx context.Context, g group) []Row {
	ctx, cancel := context.WithTimeoutCause(ctx, g.within, fmt.Errorf("not done within %v", g.within))
	defer cancel()
	b.ctx, b.ends = ctx, time.Now().Add(g.within)
	ended := make(chan []Row, 1)
	go func() {
		err := b.guarded(g)
		ended <- append(b.rows, b.ending(g.name, err)...)
	}()
	select {
	case rows := <-ended:
		return rows
	case <-ctx.Done():
	}
	// What it is asked to end may take a moment.
	select {
	case rows := <-ended:
		return rows
	case <-time.After(endWithin):
		return b.ending(g.name, errors.New("it does not end"))
	}
}

// guarded runs a group so that its panic is its failure.
func (b *run) guarded(g group) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return g.run(b)
}

// ending is the row of a group that did not measure everything.
func (b *run) ending(name string, err error) []Row {
	if err == nil {
		return nil
	}
	row := Row{Name: name, Value: unknown(), Low: unknown(), High: unknown(), Verdict: Failed}
	if why, is := errors.AsType[errNotMeasured](err); is {
		err, row.Verdict = why, NotMeasured
	} else if cause := context.Cause(b.ctx); cause != nil && !errors.Is(err, cause) {
		err = fmt.Errorf("%w: %w", cause, err)
	}
	b.print(fmt.Sprintf("%s: %v", row.Verdict, err))
	row.Why, _, _ = strings.Cut(err.Error(), "\n")
	return []Row{row}
}

// report tells what is measured now, and how long all may still take.
func (b *run) report(what string) {
	left := max(time.Until(b.ends), 0) + b.after
	b.print(fmt.Sprintf("%s; at most %d min %02d s left", what, int(left.Minutes()), int(left.Seconds())%60))
}

func (b *run) print(text string) {
	fmt.Fprintf(b.out, "bench: %s: %s\n", b.place, text)
}

// left is how long the group can still measure; the rest of its time is for ending.
func (b *run) left() time.Duration { return time.Until(b.ends) * 9 / 10 }

// wait lets time pass, and in the shortest form next to none.
func (b *run) wait(d time.Duration) error {
	if b.shortest {
		d = min(d, 50*time.Millisecond)
	}
	select {
	case <-time.After(d):
		return nil
	case <-b.ctx.Done():
		return context.Cause(b.ctx)
	}
}

// goTool runs go.
func (b *run) goTool(arguments ...string) error {
	if text, err := exec.CommandContext(b.ctx, "go", arguments...).CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", arguments[0], err, text)
	}
	return nil
}
