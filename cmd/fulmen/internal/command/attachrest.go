package command

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"fulmen/cmd/fulmen/internal/output"
	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
)

// awaitOutput waits until all output of a job that has ended is there. The rest of one
// that has succeeded is worth a wait for a Mac that is away; who is told that a job
// failed is not kept.
func (a *attachment) awaitOutput(ended <-chan struct{}, signals <-chan os.Signal) {
	patience, waits := lastOutput, false
	quiet := time.NewTimer(patience)
	defer quiet.Stop()
	for {
		select {
		case <-ended:
			return
		case <-a.pieces:
			quiet.Reset(patience)
		case <-quiet.C:
			if waits || a.state.job.Phase != api.JobSucceeded {
				return
			}
			waits, patience = true, a.patience
			quiet.Reset(patience)
			if missing := a.missing(); len(missing) > 0 {
				a.say("succeeded; waiting for the rest of what " + a.ranksOf(missing) + " printed; Ctrl-C leaves")
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
	if last, ok := a.state.attempt(); ok && !a.whole.Load() && !last.StartedAt.IsZero() && last.Plan != nil {
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

// tellMissing says with the end of a job which output has not come. Of a job that
// succeeded that is what failed.
func (a *attachment) tellMissing(status int, end error) (int, error) {
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
		e.Message = "The job succeeded, but not all that " + a.ranksOf(missing) + " printed came."
		return api.ExitNotStarted, e
	}
	a.say(e.Message + " " + e.Data.Remedy)
	return status, end
}

// notWhole says that not all output has come.
func notWhole(job api.JobID, of string, missing map[output.RankOf]*api.Cause) *api.Error {
	e := api.Errorf(api.ReasonOutputUnreachable, job.String(), "Not all that %s printed came.", of)
	e.Data.Remedy = "All that is kept: fulmen job logs " + job.String()
	said := map[string]bool{}
	for _, of := range output.Sorted(missing) {
		why := missing[of]
		if why == nil || why.Reason == api.ReasonOutputWaits || said[why.Message] {
			continue
		}
		said[why.Message] = true
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
	last, ok := a.state.attempt()
	if !ok || a.json || a.state.job.Phase != api.JobFailed || last.FirstFailed == nil {
		return
	}
	of := output.RankOf{Attempt: last.Attempt, Rank: *last.FirstFailed}
	if lines := a.rest.Last(of); len(lines) > 0 {
		a.lines.Note("fulmen: the last lines of " + a.rankName(of) + ":")
		_ = a.lines.Write(api.OutputPiece{Attempt: of.Attempt, Rank: of.Rank, Stream: api.StreamErr, Data: lines}) // Close tells
	}
}
