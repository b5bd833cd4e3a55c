package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

func (r *run) jobsCommand() *cobra.Command {
	var params api.JobListParams
	var labels []string
	var watch bool
	c := &cobra.Command{
		Use: "jobs", Short: "The jobs of the cluster", Args: cobra.NoArgs,
		Long: "The jobs that wait or run, the newest first; yours have a star. Of other people's jobs only the program's name, the\n" +
			"nodes and the resources are told.",
		Example: "  fulmen jobs\n  fulmen jobs --all --mine\n  fulmen jobs --watch",
		RunE: func(c *cobra.Command, _ []string) error {
			var request api.JobRequest
			if err := (&wanted{labels: labels}).extras(&request); err != nil {
				return err
			}
			params.Labels = request.Labels
			return r.with(c.Context(), func(c2 *client.Client) error {
				if watch {
					return r.watchJobs(c.Context(), c2, params)
				}
				return r.jobs(c.Context(), c2, params)
			})
		},
	}
	f := c.Flags()
	f.BoolVarP(&params.Ended, "all", "a", false, "also those that have ended")
	f.BoolVar(&params.Mine, "mine", false, "only yours")
	f.StringArrayVar(&labels, "label", nil, "only those with this label, KEY=VALUE")
	f.BoolVarP(&watch, "watch", "w", false, "show them anew whenever one changes, until Ctrl-C")
	return c
}

func (r *run) jobs(ctx context.Context, c *client.Client, params api.JobListParams) error {
	return listed(ctx, r, c, "job.list", params, func(list api.JobListResult, nodes []api.NodeView) error {
		return r.view().Jobs(r.Out, list.Jobs, params.Ended, shortNames(nodes))
	})
}

// shortNames are the names of nodes.
func shortNames(nodes []api.NodeView) map[api.NodeID]string {
	out := map[api.NodeID]string{}
	for _, n := range nodes {
		out[n.Node] = n.ShortName
	}
	return out
}

// watchJobs shows the jobs anew whenever one changed. On a terminal the table is
// drawn over.
func (r *run) watchJobs(ctx context.Context, c *client.Client, params api.JobListParams) error {
	var last error
	for event, err := range c.Watch(ctx, api.StateSelect{Kinds: []api.Kind{api.KindJob}}) {
		if err != nil {
			if last == nil && client.Mends(err) { // an interruption is said once
				fmt.Fprintf(r.Err, "fulmen: interrupted: %s Trying again until Ctrl-C.\n", text.Clean(api.AsError(err).Message))
			}
			last = err
			continue
		}
		last = nil
		if !event.Snapshot && len(event.Put)+len(event.Del) == 0 {
			continue
		}
		if r.Screen && !r.json {
			fmt.Fprint(r.Out, "\x1b[H\x1b[2J")
		}
		if err := r.jobs(ctx, c, params); err != nil && ctx.Err() == nil {
			return err
		}
		if !r.Screen && !r.json {
			fmt.Fprintln(r.Out)
		}
	}
	if ctx.Err() != nil {
		return nil // the end that was asked for
	}
	return last
}
