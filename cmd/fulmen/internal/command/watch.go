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
		Long: "Every document that is there and every change after, a line each. Of cables, RDMA, interfaces and paths a line\n" +
			"says what became different. Kinds that move only while somebody watches (memory, system) begin to move. With\n" +
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
	c.Flags().IntVar(&changes, "changes", -1, "end after so many changes; 0: show what is there and end")
	c.Flags().DurationVar(&lasting, "for", 0, "end after so long, such as 10s")
	_ = c.RegisterFlagCompletionFunc("kind", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return api.Kind("").Values(), cobra.ShellCompDirectiveNoFileComp
	}) // fails only for a flag that is not there
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
	for _, n := range nodes {
		sel.Nodes = append(sel.Nodes, api.NodeRef(n))
	}
	return sel, nil
}

func (r *run) watch(ctx context.Context, c *client.Client, sel api.StateSelect, changes int) error {
	told := &show.Changes{Names: nodeNames(ctx, c)}
	var last error
	for event, err := range c.Watch(ctx, sel) {
		if err != nil {
			if last == nil && client.Mends(err) { // an interruption is said once
				fmt.Fprintf(r.Err, "fulmen: interrupted: %s Trying again until Ctrl-C.\n", text.Clean(api.AsError(err).Message))
			}
			last = err
			continue
		}
		last = nil
		if err := r.event(event, told); err != nil {
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
func (r *run) event(e client.Event, told *show.Changes) error {
	if r.json {
		return text.JSONLine(r.Out, watchLine{Snapshot: e.Snapshot, Put: e.Put, Del: e.Del, Stale: e.Stale})
	}
	told.View = r.view()
	if e.Snapshot {
		told.Begin(e.Put)
	}
	line := func(node api.NodeID, kind api.Kind, name, says string) error {
		if kind == api.KindReach { // the line itself names peer and address
			name = ""
		}
		what := string(kind)
		if name != "" {
			what += " " + name
		}
		_, err := fmt.Fprintf(r.Out, "%s  %s  %s  %s\n", told.Now.Format("15:04:05"), text.Clean(told.Name(node)), text.Clean(what), says)
		return err
	}
	for _, d := range e.Put {
		if err := line(d.Node, d.Kind, d.Name, told.Tell(d)); err != nil {
			return err
		}
	}
	for _, k := range e.Del {
		if err := line(k.Node, k.Kind, k.Name, told.Gone(k)); err != nil {
			return err
		}
	}
	return nil
}

// showNews shows what a stream brings until a person ends it, which is no error. A
// daemon that had to leave something out ends it with api.ReasonLagged.
func showNews[N any](ctx context.Context, news iter.Seq2[N, error], lagged func(N) bool, show func(N) error) error {
	for more, err := range news {
		switch {
		case ctx.Err() != nil:
			return nil // the end that was asked for
		case err != nil:
			return err
		case lagged(more):
			return api.NewError(api.ReasonLagged, "")
		}
		if err := show(more); err != nil {
			return err
		}
	}
	return nil
}
