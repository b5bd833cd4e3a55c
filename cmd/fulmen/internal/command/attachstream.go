package command

import (
	"context"
	"errors"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

const (
	// firstPause is the wait before the first new try to reach a daemon.
	firstPause = 100 * time.Millisecond
	// longestPause is where the waits stop to double.
	longestPause = 2 * time.Second
)

// jobChange is a step of watching a job: a change, an interruption after which it
// goes on, or the error that ends it.
type jobChange struct {
	api.JobChanged
	interruption, err error
}

// watchJob follows a job's documents to its end, also over another connection.
func (a *attachment) watchJob(ctx context.Context, out chan<- jobChange) {
	send := func(c jobChange) {
		select {
		case out <- c:
		case <-ctx.Done():
		}
	}
	err := a.again(ctx, func() (bool, error) {
		first, changes, err := client.Stream[api.JobWatchResult, api.JobChanged](ctx, a.client, "job.watch", api.JobSelect{Job: a.job})
		if err != nil {
			return false, err
		}
		send(jobChange{JobChanged: api.JobChanged{Put: append([]api.Document{first.Job}, first.Ranks...)}})
		n := uint64(0)
		for c, err := range changes {
			if n++; err != nil {
				return true, err
			} else if c.N != n {
				return true, api.NewError(api.ReasonLagged, "")
			}
			send(jobChange{JobChanged: c})
			if c.Terminal {
				return true, nil
			}
		}
		return true, ctx.Err()
	}, func(err error) { send(jobChange{interruption: err}) })
	if err != nil {
		send(jobChange{err: err})
	}
}

// readOutput writes what the ranks print, to the end, also over another connection.
func (a *attachment) readOutput(ctx context.Context) {
	attempt := 0
	err := a.again(ctx, func() (bool, error) {
		_, pieces, err := client.Stream[api.JobLogsResult, api.JobOutput](ctx, a.client, "job.logs", api.JobLogsParams{Job: a.job, Attempt: attempt, Follow: true})
		if err != nil {
			return false, err
		}
		n := uint64(0)
		for p, err := range pieces {
			if n++; err != nil {
				return true, err
			} else if p.N != n {
				return true, api.NewError(api.ReasonLagged, "")
			}
			attempt = max(attempt, p.Attempt)
			a.rest.Take(p.OutputPiece)
			if piece, fresh := a.seen.Take(p.OutputPiece); fresh {
				if err := a.print(piece); err != nil {
					return true, nil // nobody reads it any more
				}
			}
			if p.Terminal {
				a.whole.Store(true)
				return true, nil
			}
		}
		return true, ctx.Err()
	}, func(error) {})
	if err != nil && ctx.Err() == nil {
		a.lines.Note("fulmen: the output cannot be read: " + api.AsError(err).Message)
	}
}

// print writes a piece of output.
func (a *attachment) print(p api.OutputPiece) error {
	a.pieces.Wake()
	if a.json {
		a.event(jobEvent{Output: &p})
		return nil
	}
	return a.lines.Write(p)
}

// again does something that needs the daemon until it succeeds, fails for good,
// or the daemon was away for too long. What it does reports whether it had begun;
// the first failure after that is an interruption.
func (a *attachment) again(ctx context.Context, do func() (bool, error), interrupted func(error)) error {
	var since time.Time
	pause := firstPause
	for {
		began, err := do()
		if err == nil || ctx.Err() != nil || !client.Mends(err) && !errors.Is(err, api.ReasonLagged) {
			return err
		}
		if began {
			since, pause = time.Time{}, firstPause
		}
		switch {
		case since.IsZero():
			since = time.Now()
			interrupted(err)
		case time.Since(since) > a.patience:
			return err
		}
		if !sleep(ctx, pause) {
			return ctx.Err()
		}
		pause = min(2*pause, longestPause)
	}
}

// sleep waits; false where the context ended before.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
