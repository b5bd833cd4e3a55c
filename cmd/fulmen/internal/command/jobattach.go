package command

import (
	"context"
	"crypto/rand"
	"os"

	"github.com/spf13/cobra"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

func (r *run) jobAttach() *cobra.Command {
	var f following
	var input bool
	c := r.oneJob("attach", "Follow a job as fulmen run does, also from another node",
		"Shows where a job is and what it prints, from the beginning of the current attempt, until it has ended, and ends with\n"+
			"its status as fulmen run does. Ctrl-C stops a job that a terminal follows, and leaves one alone that was submitted\n"+
			"with --detach.\n"+
			"With --input the job is given what comes on standard input, after what it was given by others.",
		"  fulmen job attach j4k2\n  fulmen job attach --input j4k2", func(ctx context.Context, c *client.Client, id api.JobID) error {
			return notStarted(r.attachTo(ctx, c, id, f, input))
		})
	c.Flags().BoolVarP(&input, "input", "i", false, "give the job what comes on standard input, and its end; a terminal is rank 0's where it has one")
	f.flags(c)
	return c
}

func (r *run) attachTo(ctx context.Context, c *client.Client, id api.JobID, f following, input bool) error {
	signals := make(<-chan os.Signal)
	if r.Signals != nil {
		heard, stop := r.Signals(stopSignals()...)
		defer stop()
		signals = heard
	}
	job, err := client.Call[api.JobGetResult](ctx, c, "job.get", api.JobSelect{Job: id})
	if err != nil {
		return err
	}
	list, err := client.Call[api.NodeListResult](ctx, c, "node.list", nil)
	if err != nil {
		return err
	}
	var s jobState
	s.apply([]api.Document{job.Job})
	spec := s.spec()
	a := &attachment{job: id, leave: spec.Detached, quiet: f.quiet, input: input, giver: rand.Text()}
	return r.attach(context.WithoutCancel(ctx), c, a, f,
		api.JobRequest{Placement: spec.Placement, Program: spec.Program}, list.Nodes, signals)
}
