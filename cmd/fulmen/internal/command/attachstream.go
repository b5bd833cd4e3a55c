package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"fulmen/cmd/fulmen/internal/output"
	"fulmen/cmd/fulmen/internal/show"
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
	err := a.followJob(ctx, a.client, a.job, func(c api.JobChanged) bool {
		send(jobChange{JobChanged: c})
		return c.Terminal
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
		for p, err := range pieces {
			if err != nil {
				return true, err
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
	if a.receive != nil {
		a.event(jobEvent{Output: &p})
		return nil
	}
	return a.lines.Write(p)
}

// followJob has take see a job's documents, and each change of them until it reports that this
// was enough, also over another connection.
func (r *run) followJob(ctx context.Context, c *client.Client, job api.JobID, take func(api.JobChanged) bool, interrupted func(error)) error {
	return r.again(ctx, func() (bool, error) {
		ctx, stop := context.WithCancel(ctx) // the subscription ends with it
		defer stop()
		first, changes, err := client.Stream[api.JobWatchResult, api.JobChanged](ctx, c, "job.watch", api.JobSelect{Job: job})
		if err != nil {
			return false, err
		}
		if take(api.JobChanged{Put: append([]api.Document{first.Job}, first.Ranks...)}) {
			return true, nil
		}
		return true, cmp.Or(client.ToEnd(changes, take), ctx.Err())
	}, interrupted)
}

// again does something that needs the daemon until it succeeds, fails for good,
// or the daemon was away for too long. What it does reports whether it had begun;
// the first failure after that is an interruption.
func (r *run) again(ctx context.Context, do func() (bool, error), interrupted func(error)) error {
	var since time.Time
	pause := firstPause
	for {
		began, err := do()
		if err == nil || ctx.Err() != nil || !client.IsRetryable(err) && !errors.Is(err, api.ReasonLagged) {
			return err
		}
		if began {
			since, pause = time.Time{}, firstPause
		}
		switch {
		case since.IsZero():
			since = time.Now()
			interrupted(err)
		case time.Since(since) > r.timeout:
			return err
		}
		if !client.Pause(ctx, pause) {
			return ctx.Err()
		}
		pause = min(2*pause, longestPause)
	}
}

// poll does something again and again until it is done, fails, or the context ends.
func poll(ctx context.Context, every time.Duration, do func() (done bool, err error)) error {
	for {
		if done, err := do(); done || err != nil {
			return err
		}
		if !client.Pause(ctx, every) {
			return ctx.Err()
		}
	}
}

// awaitOutput waits until all output of a job that has ended is there. The rest of one
// that has succeeded is worth a wait for a Mac that is away; who is told that a job
// failed is not kept.
func (a *attachment) awaitOutput(ended <-chan struct{}, signals <-chan os.Signal) {
	timeout, waits := lastOutput, false
	quiet := time.NewTimer(timeout)
	defer quiet.Stop()
	for {
		select {
		case <-ended:
			return
		case <-a.pieces:
			quiet.Reset(timeout)
		case <-quiet.C:
			if waits || a.state.job.Phase != api.JobSucceeded {
				return
			}
			waits, timeout = true, a.timeout
			quiet.Reset(timeout)
			if missing := a.missing(); len(missing) > 0 {
				a.report("succeeded; waiting for the rest of what " + a.ranksOf(missing) + " printed; Ctrl-C stops waiting")
			}
		case s := <-signals:
			if s != syscall.SIGWINCH {
				return
			}
		}
	}
}

// missing are the ranks of which not all output has come.
func (a *attachment) missing() map[output.RankOf]*api.Cause {
	var named []output.RankOf
	if last := show.Current(a.state.job); last != nil && !a.whole.Load() && !last.StartedAt.IsZero() && last.Plan != nil {
		for _, r := range last.Plan.Ranks {
			named = append(named, output.RankOf{Attempt: last.Attempt, Rank: r.Rank})
		}
	}
	return a.rest.Missing(named)
}

// ranksOf names ranks and where they ran.
func (a *attachment) ranksOf(missing map[output.RankOf]*api.Cause) string {
	var out []string
	for _, of := range output.Sorted(missing) {
		out = append(out, a.rankName(of))
	}
	return strings.Join(out, ", ")
}

func (a *attachment) rankName(of output.RankOf) string {
	if of.Attempt != a.state.job.Attempt {
		return fmt.Sprintf("rank %d of attempt %d", of.Rank, of.Attempt)
	}
	return show.RankName(a.state.job, of.Rank, a.names)
}

// printMissing says with the end of a job which output has not come. Of a job that
// succeeded that is what failed.
func (a *attachment) printMissing(status int, end error) (int, error) {
	missing := a.missing()
	if len(missing) == 0 {
		return status, end
	}
	e := notWhole(a.job, a.ranksOf(missing), missing)
	switch ended, isError := errors.AsType[*api.Error](end); {
	case isError:
		all := *ended
		all.Data.Causes = append(append(all.Data.Causes[:len(all.Data.Causes):len(all.Data.Causes)], e.Cause()), e.Data.Causes...)
		return status, &all
	case end == nil && status == api.ExitOK:
		e.Message = "The job succeeded, but not everything that " + a.ranksOf(missing) + " printed arrived."
		return api.ExitNotStarted, e
	}
	a.report(e.Message + " " + e.Data.Remedy)
	return status, end
}

// notWhole says that not all output has come.
func notWhole(job api.JobID, of string, missing map[output.RankOf]*api.Cause) *api.Error {
	e := api.Errorf(api.ReasonOutputUnreachable, job.String(), "Not everything that %s printed arrived.", of)
	e.Data.Remedy = "To see everything that is kept: fulmen job logs " + job.String()
	reported := map[string]bool{}
	for _, of := range output.Sorted(missing) {
		why := missing[of]
		if why == nil || why.Reason == api.ReasonOutputWaits || reported[why.Message] {
			continue
		}
		reported[why.Message] = true
		e.Data.Causes = append(e.Data.Causes, *why)
		if why.Reason == api.ReasonOutputLost {
			e.Data.Reason, e.Data.Remedy = why.Reason, why.Remedy
		}
	}
	return e
}

// showLast writes the end of what the rank that failed first wrote to its standard
// error, unless the screen ends with it.
func (a *attachment) showLast() {
	last := show.Current(a.state.job)
	if last == nil || a.receive != nil || a.state.job.Phase != api.JobFailed || last.FirstFailed == nil {
		return
	}
	of := output.RankOf{Attempt: last.Attempt, Rank: *last.FirstFailed}
	if lines := a.rest.Last(of); len(lines) > 0 {
		a.lines.Note("fulmen: the last lines of " + a.rankName(of) + ":")
		_ = a.lines.Write(api.OutputPiece{Attempt: of.Attempt, Rank: of.Rank, Stream: api.StreamErr, Data: lines}) // Close tells
	}
}

// jobState is what is known of a job.
type jobState struct {
	job   api.Job
	ranks map[int]api.Rank
}

// apply takes changed documents in.
func (s *jobState) apply(docs []api.Document) {
	for _, d := range docs {
		var j api.Job
		var k api.Rank
		switch {
		case d.Kind == api.KindJob && d.Decode(&j) == nil && j.Epoch >= s.job.Epoch:
			if j.Attempt != s.job.Attempt {
				s.ranks = nil
			}
			s.job = j
		case d.Kind == api.KindRank && d.Decode(&k) == nil:
			if s.ranks == nil {
				s.ranks = map[int]api.Rank{}
			}
			if old, known := s.ranks[k.Rank]; !known || k.Attempt >= old.Attempt {
				s.ranks[k.Rank] = k
			}
		}
	}
}

// list are the ranks of the current attempt, in order.
func (s *jobState) list() []api.Rank {
	var out []api.Rank
	for _, n := range slices.Sorted(maps.Keys(s.ranks)) {
		if s.ranks[n].Attempt == s.job.Attempt {
			out = append(out, s.ranks[n])
		}
	}
	return out
}

// words say where the job is.
func (s *jobState) words(v show.View, names show.Names) string {
	return v.Progress(s.job, s.list(), names)
}
