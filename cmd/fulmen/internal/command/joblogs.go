package command

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/output"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

func (r *run) jobLogs() *cobra.Command {
	var params api.JobLogsParams
	var tail string
	var noPrefix bool
	c := r.oneJob("logs", "What a job printed",
		"What the ranks of a job printed, standard output and standard error as the ranks wrote them. Of very long output\n"+
			"head and tail are kept, and a line says what is not.",
		"  fulmen job logs j4k2\n  fulmen job logs j4k2 --rank 1 --tail 4KiB\n  fulmen job logs j4k2 --follow\n  fulmen job logs j4k2 --prepare --rank 1",
		func(ctx context.Context, c *client.Client, id api.JobID) error {
			params.Job = id
			if tail != "" {
				n, err := parseSize(tail)
				if err != nil {
					return usage("--tail is an amount such as 4KiB, not %q", tail)
				}
				params.TailBytes = n
			}
			return r.jobOutput(ctx, c, params, noPrefix)
		})
	f := c.Flags()
	f.BoolVarP(&params.Follow, "follow", "f", false, "go on with what is printed, over all attempts, until the job has ended or Ctrl-C")
	f.IntSliceVar(&params.Ranks, "rank", nil, "only these ranks")
	f.IntVar(&params.Attempt, "attempt", 0, "of this attempt (default: the last one)")
	f.BoolVar(&params.Prepare, "prepare", false, "what fulmen run --prepare printed on each node, in place of what the ranks printed")
	f.StringVar(&tail, "tail", "", "only so much from the end of each stream, such as 4KiB")
	f.BoolVar(&noPrefix, "no-prefix", false, "do not write the rank in front of each line")
	return c
}

// jobOutput shows what ranks printed.
func (r *run) jobOutput(ctx context.Context, c *client.Client, params api.JobLogsParams, noPrefix bool) error {
	job, err := client.Call[api.JobGetResult](ctx, c, "job.get", api.JobSelect{Job: params.Job})
	if err != nil {
		return err
	}
	var s jobState
	s.apply([]api.Document{job.Job})
	alone := len(params.Ranks) == 1 || s.spec().Placement.Ranks == 1
	lines := output.New(output.Options{
		Out: r.Out, Err: r.Err, Prefix: !alone && !noPrefix, Through: alone, Together: r.Screen && r.Terminal,
		OutTerminal: r.Screen, ErrTerminal: r.Terminal,
	})
	_, pieces, err := client.Stream[api.JobLogsResult, api.JobOutput](ctx, c, "job.logs", params)
	if err != nil {
		return err
	}
	n := uint64(0)
	var rest output.Rest
	for p, err := range pieces {
		n++
		rest.Take(p.OutputPiece)
		switch {
		case ctx.Err() != nil:
			return lines.Close() // the end that was asked for
		case err != nil:
			return errors.Join(err, lines.Close())
		case p.N != n:
			return errors.Join(api.NewError(api.ReasonLagged, ""), lines.Close())
		}
		if r.json {
			err = text.JSONLine(r.Out, jobEvent{Output: &p.OutputPiece})
		} else {
			err = lines.Write(p.OutputPiece)
		}
		if err != nil {
			return err
		}
		if p.Terminal {
			break
		}
	}
	if missing := rest.Missing(nil); len(missing) > 0 {
		of := attachment{state: s, names: nodeNames(ctx, c)}
		return errors.Join(lines.Close(), notWhole(params.Job, of.ranksOf(missing), missing))
	}
	return lines.Close()
}
