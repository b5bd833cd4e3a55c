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
	var follow, audit bool
	c := &cobra.Command{
		Use: "events", Short: "What happened in the cluster lately", Args: cobra.NoArgs,
		Long: "Macs that came and went, cables that were plugged and pulled, conditions, jobs: the newest events since the daemon\n" +
			"of this Mac started, as it saw them. fulmen watch follows what is so now, in full.\n\n" +
			"With --audit what others did on this Mac in the last 30 days, or were refused: other Macs, and people of this one\n" +
			"as administrators or on the jobs of others. You see what concerns your own account; with sudo, all.",
		Example: "  fulmen events\n  fulmen events --since 1h\n  fulmen events --follow --json\n  sudo fulmen events --audit --since 24h",
		RunE: func(c *cobra.Command, _ []string) error {
			if audit && follow {
				return api.Errorf(api.ReasonBadValue, "follow", "--follow does not go with --audit, which has an end.")
			}
			var params api.EventSelect
			if since > 0 {
				params.Since = api.TimeOf(r.Now().Add(-since))
			}
			return r.with(c.Context(), func(cl *client.Client) error {
				if audit {
					return r.audit(c.Context(), cl, params.Since)
				}
				return r.events(c.Context(), cl, params, follow)
			})
		},
	}
	c.Flags().DurationVar(&since, "since", 0, "only those of so long ago at most, such as 1h; 0: all that are kept")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on with what happens, until Ctrl-C")
	c.Flags().BoolVar(&audit, "audit", false, "what other Macs and people did here, or were refused")
	return c
}

// audit writes what others did here, page by page of the API.
func (r *run) audit(ctx context.Context, c *client.Client, since api.Time) error {
	var all []api.AuditEntry
	for p := (api.EventAuditParams{Since: since}); ; {
		page, err := client.Call[api.EventAuditResult](ctx, c, "event.audit", p)
		if err != nil {
			return err
		}
		all = append(page.Entries, all...)
		if !page.More || len(page.Entries) == 0 {
			break
		}
		p.Before = page.Entries[0].Seq
	}
	if r.json {
		for _, e := range all {
			if err := text.JSONLine(r.Out, e); err != nil {
				return err
			}
		}
		return nil
	}
	nodes, err := client.Call[api.NodeListResult](ctx, c, "node.list", nil)
	if err != nil {
		return err
	}
	return r.view().Audit(r.Out, all, nodes.Nodes)
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
