package command

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// watchLine is a line of fulmen watch --json: the fields of state.changed.
type watchLine struct {
	// Snapshot says that Put is everything there is, and what was known before
	// is to be forgotten.
	Snapshot bool `json:"snapshot,omitempty"`
	// Put are the new and changed documents.
	Put []api.Document `json:"put,omitempty"`
	// Del are the documents that are gone.
	Del []api.Key `json:"del,omitempty"`
	// Stale are the nodes that cannot be reached; absent where that did not change.
	Stale []api.NodeID `json:"stale,omitempty"`
}

func (r *run) watchCommand() *cobra.Command {
	var kinds, nodes []string
	var changes int
	var lasting time.Duration
	c := &cobra.Command{
		Use: "watch [KIND...]", Short: "Follow what changes, until Ctrl-C", Args: cobra.ArbitraryArgs,
		ValidArgs: api.Kind("").Values(),
		Long: "Every document that is there and every change after, a line each. For cables, RDMA, interfaces and paths the line\n" +
			"says what changed. Kinds that are updated only while somebody watches (memory, system) start to update. With\n" +
			"--json a line is an object with the fields of state.changed.",
		Example: "  fulmen watch thunderbolt rdma network reach\n  fulmen watch memory\n  fulmen watch memory system --node mac-studio\n  fulmen watch memory --changes 10 --json",
		RunE: func(c *cobra.Command, args []string) error {
			sel, err := selection(append(kinds, args...), nodes)
			if err != nil {
				return err
			}
			ctx := c.Context()
			if lasting > 0 {
				var stop context.CancelFunc
				ctx, stop = context.WithTimeout(ctx, lasting)
				defer stop()
			}
			return r.with(ctx, func(c *client.Client) error { return r.watch(ctx, c, sel, changes) })
		},
	}
	c.Flags().StringSliceVar(&kinds, "kind", nil, "only these kinds of document, such as memory or system; the same as KIND")
	c.Flags().StringSliceVar(&nodes, "node", nil, "only these nodes")
	c.Flags().IntVar(&changes, "changes", -1, "end after this many changes; 0: show what is there and end")
	c.Flags().DurationVar(&lasting, "for", 0, "end after this long, such as 10s")
	words(c, "kind", api.Kind("").Values())
	return c
}

// selection checks the kinds here, where the words that exist can be named.
func selection(kinds, nodes []string) (api.StateSelect, error) {
	var sel api.StateSelect
	for _, k := range kinds {
		if !api.Kind(k).Valid() {
			return sel, usage("there is no kind %q; the kinds are %s", k, strings.Join(slices.Sorted(slices.Values(api.Kind("").Values())), ", "))
		}
		sel.Kinds = append(sel.Kinds, api.Kind(k))
	}
	sel.Nodes = nodeRefs(nodes)
	return sel, nil
}

func (r *run) watch(ctx context.Context, c *client.Client, sel api.StateSelect, changes int) error {
	printer := &show.Changes{Names: nodeNames(ctx, c)}
	var last error
	for event, err := range c.Watch(ctx, sel) {
		if err != nil {
			r.interrupted(last, err)
			last = err
			continue
		}
		last = nil
		if err := r.event(event, printer); err != nil {
			return err
		}
		if event.Snapshot && changes == 0 {
			return nil
		}
		if !event.Snapshot && changes > 0 {
			if changes--; changes == 0 {
				return nil
			}
		}
	}
	if ctx.Err() != nil {
		return nil // the end that was asked for
	}
	return last
}

// event writes a step of a watch.
func (r *run) event(e client.Event, printer *show.Changes) error {
	if r.json {
		return text.JSONLine(r.Out, watchLine{Snapshot: e.Snapshot, Put: e.Put, Del: e.Del, Stale: e.Stale})
	}
	printer.View = r.view()
	if e.Snapshot {
		printer.Begin(e.Put)
	}
	line := func(node api.NodeID, kind api.Kind, name, reports string) error {
		if kind == api.KindReach { // the line itself names peer and address
			name = ""
		}
		what := string(kind)
		if name != "" {
			what += " " + name
		}
		_, err := fmt.Fprintf(r.Out, "%s  %s  %s  %s\n", printer.Now.Format("15:04:05"), text.Clean(printer.Name(node)), text.Clean(what), reports)
		return err
	}
	for _, d := range e.Put {
		if err := line(d.Node, d.Kind, d.Name, printer.Line(d)); err != nil {
			return err
		}
	}
	for _, k := range e.Del {
		if err := line(k.Node, k.Kind, k.Name, printer.Gone(k)); err != nil {
			return err
		}
	}
	return nil
}

// showUpdates shows what a stream brings until a person ends it, which is no error.
func showUpdates[N any](ctx context.Context, updates iter.Seq2[N, error], show func(N) error) error {
	for more, err := range updates {
		if ctx.Err() != nil {
			return nil // the end that was asked for
		}
		if err == nil {
			err = show(more)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// interrupted says once that a watch was interrupted and goes on; last is the error before.
func (r *run) interrupted(last, err error) {
	if last == nil && client.IsRetryable(err) {
		fmt.Fprintf(r.Err, "fulmen: interrupted: %s Trying again until Ctrl-C.\n", text.Clean(api.AsError(err).Message))
	}
}

// step is a step of a watch.
type step struct {
	event client.Event
	err   error
}

// steps are the steps of a watch, for whoever waits for other things too.
func steps(ctx context.Context, c *client.Client, kinds ...api.Kind) <-chan step {
	out := make(chan step)
	go func() {
		defer close(out)
		for event, err := range c.Watch(ctx, api.StateSelect{Kinds: kinds}) {
			select {
			case out <- step{event, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

func (r *run) eventsCommand() *cobra.Command {
	var since time.Duration
	var follow, audit bool
	c := &cobra.Command{
		Use: "events", Short: "What happened in the cluster lately", Args: cobra.NoArgs,
		Long: "Macs that came and went, cables that were plugged and pulled, conditions, jobs: the newest events since the daemon\n" +
			"of this Mac started, as it saw them. fulmen watch follows the current state in full.\n\n" +
			"With --audit it shows what others did on this Mac in the last 30 days, or were refused: other Macs, and people of this one\n" +
			"as administrators or on the jobs of others. You see what concerns your own account; with sudo, all.",
		Example: "  fulmen events\n  fulmen events --since 1h\n  fulmen events --follow --json\n  sudo fulmen events --audit --since 24h",
		RunE: func(c *cobra.Command, _ []string) error {
			if audit && follow {
				return api.Errorf(api.ReasonBadValue, "follow", "--follow cannot be used with --audit, which only lists the past.")
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
	c.Flags().DurationVar(&since, "since", 0, "only events that are at most this old, such as 1h; 0: all that are kept")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "keep showing new events, until Ctrl-C")
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
		return eachLine(r, all, nil)
	}
	nodes, err := nodeViews(ctx, c)
	if err != nil {
		return err
	}
	return r.print(r.Out, func(w *show.Page) { r.view().Audit(w, all, nodes) })
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
	result, updates, err := client.Stream[api.EventWatchResult, api.EventHappened](ctx, c, "event.watch", params)
	if err != nil {
		return err
	}
	if err := r.eventLines(result.Events); err != nil {
		return err
	}
	return showUpdates(ctx, updates, func(more api.EventHappened) error { return r.eventLines(more.Events) })
}

// eventLines writes events, a line each.
func (r *run) eventLines(events []api.Event) error {
	return eachLine(r, events, func(e api.Event) string {
		return fmt.Sprintf("%s  %-7s  %s", e.At.Local().Format("2006-01-02 15:04:05"), text.Clean(string(e.Severity)), e.Text)
	})
}

// eachLine writes a line for each of some things: as JSON, or in words.
func eachLine[T any](r *run, all []T, words func(T) string) error {
	for _, one := range all {
		var err error
		if r.json {
			err = text.JSONLine(r.Out, one)
		} else {
			_, err = fmt.Fprintln(r.Out, text.Clean(words(one)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
