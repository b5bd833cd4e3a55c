package command

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"fulmen/cmd/fulmen/internal/text"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// stopTimeout is how long a daemon may take to stop: its drain, and some more.
const stopTimeout = 15 * time.Second

func (r *run) stopCommand() *cobra.Command {
	var jobs bool
	c := &cobra.Command{
		Use: "stop", Short: "Stop the daemon", Args: cobra.NoArgs,
		Long:    "Stops the daemon and waits until it has. Where launchd or systemd keep it, they may start it again.",
		Example: "  fulmen stop\n  fulmen stop --end-jobs",
		RunE: func(c *cobra.Command, _ []string) error {
			return r.with(c.Context(), func(c2 *client.Client) error {
				return r.stop(c.Context(), c2, api.DaemonStopParams{EndJobs: jobs})
			})
		},
	}
	c.Flags().BoolVar(&jobs, "end-jobs", false, "end the jobs that run here first")
	return c
}

func (r *run) stop(ctx context.Context, c *client.Client, params api.DaemonStopParams) error {
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	// A stream's end announces the daemon's.
	_, changes, err := client.Stream[api.StateWatchResult, api.StateChanged](ctx, c, "state.watch", api.StateSelect{Kinds: []api.Kind{api.KindNodeState}})
	if err != nil {
		return err
	}
	if _, err := client.Call[api.Empty](ctx, c, "daemon.stop", params); err != nil {
		return err
	}
	for _, err := range changes {
		if err != nil && ctx.Err() != nil {
			e := api.Errorf(api.ReasonDeadline, "", "The daemon did not stop within %s.", text.Duration(stopTimeout))
			e.Data.WaitingFor, e.Data.Remedy = "the daemon", "See: fulmen logs"
			return e
		}
	}
	if r.json {
		return text.JSON(r.Out, api.Empty{})
	}
	_, err = fmt.Fprintln(r.Out, "Fulmen stopped.")
	return err
}
