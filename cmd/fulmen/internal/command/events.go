package command

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

func (r *run) eventsCommand() *cobra.Command {
	var since time.Duration
	var follow bool
	c := &cobra.Command{
		Use: "events", Short: "What happened in the cluster lately", Args: cobra.NoArgs,
		Long: "Macs that came and went, cables that were plugged and pulled, conditions, jobs: the newest events since the daemon\n" +
			"of this Mac started, as it saw them. fulmen watch follows what is so now, in full.",
		Example: "  fulmen events\n  fulmen events --since 1h\n  fulmen events --follow --json",
		RunE: func(c *cobra.Command, _ []string) error {
			var params api.EventSelect
			if since > 0 {
				params.Since = api.TimeOf(r.Now().Add(-since))
			}
			return r.with(c.Context(), func(cl *client.Client) error { return r.events(c.Context(), cl, params, follow) })
		},
	}
	c.Flags().DurationVar(&since, "since", 0, "only those of so long ago at most, such as 1h; 0: all that are kept")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on with what happens, until Ctrl-C")
	return c
}

func (r *run) events(ctx context.Context, c *client.Client, params api.EventSelect, follow bool) error {
	if !follow {
		result, err := client.Call[api.EventListResult](ctx, c, "event.list", params)
		if err != nil {
			return err
		}
		if len(result.Events) == 0 && !r.json {
			fmt.Fprintf(r.Err, "Nothing has happened since %s.\n", result.KeptSince.Local().Format("2006-01-02 15:04:05"))
		}
		return r.eventLines(result.Events)
	}
	result, news, err := client.Stream[api.EventWatchResult, api.EventHappened](ctx, c, "event.watch", params)
	if err != nil {
		return err
	}
	if err := r.eventLines(result.Events); err != nil {
		return err
	}
	return showNews(ctx, news,
		func(more api.EventHappened) bool { return more.Lagged },
		func(more api.EventHappened) error { return r.eventLines(more.Events) })
}

// eventLines writes events, a line each.
func (r *run) eventLines(events []api.Event) error {
	for _, e := range events {
		if r.json {
			if err := text.JSONLine(r.Out, e); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintf(r.Out, "%s  %-7s  %s\n", e.At.Local().Format("2006-01-02 15:04:05"), text.Clean(string(e.Severity)), text.Clean(e.Text)); err != nil {
			return err
		}
	}
	return nil
}
