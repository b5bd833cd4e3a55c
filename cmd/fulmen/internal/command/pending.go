package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// pendingList is what fulmen pending --json prints.
type pendingList struct {
	// Pending are the values of the pending documents, the oldest first.
	Pending []api.Pending `json:"pending"`
}

func (r *run) pendingCommand() *cobra.Command {
	list := &cobra.Command{
		Use: "pending", Short: "The Macs that ask to be added", Args: cobra.NoArgs,
		Long:    "The Macs that ask to be added or show a code. What they say of themselves is not proved before a code is right.",
		Example: "  fulmen pending\n  fulmen pair --answer mac-mini\n  fulmen pending ignore mac-mini",
		RunE: func(c *cobra.Command, _ []string) error {
			return r.with(c.Context(), func(c2 *client.Client) error {
				all, err := pending(c.Context(), c2)
				if err != nil {
					return err
				}
				if r.json {
					return text.JSON(r.Out, pendingList{all})
				}
				return r.view().Pending(r.Out, all, false)
			})
		},
	}
	for _, a := range []struct {
		use, short, done string
		state            api.PendingState
	}{
		{"ignore NODE", "Hear no more of a Mac that asks", "%s is ignored until it has been gone for a day.", api.PendingIgnored},
		{"later NODE", "Put off a Mac that asks", "%s is put off. Take it up again with: fulmen pending again NODE", api.PendingLater},
		{"again NODE", "Take up again a Mac that was ignored or put off", "%s is taken up again. Enter its code with: fulmen pair --answer NODE", api.PendingAsking},
	} {
		list.AddCommand(&cobra.Command{
			Use: a.use, Short: a.short, Args: cobra.ExactArgs(1),
			Example: "  fulmen pending " + strings.Replace(a.use, "NODE", "mac-mini", 1),
			RunE: func(c *cobra.Command, args []string) error {
				return r.with(c.Context(), func(c2 *client.Client) error {
					return r.dispose(c.Context(), c2, args[0], a.state, a.done)
				})
			},
		})
	}
	return list
}

// pending are the Macs that ask now.
func pending(ctx context.Context, c *client.Client) ([]api.Pending, error) {
	state, err := client.Call[api.StateGetResult](ctx, c, "state.get", api.StateSelect{Kinds: []api.Kind{api.KindPending}})
	return append([]api.Pending{}, pendingOf(state.Docs)...), err
}

// dispose does what a person wants with a Mac that asks.
func (r *run) dispose(ctx context.Context, c *client.Client, word string, state api.PendingState, done string) error {
	all, err := pending(ctx, c)
	if err != nil {
		return err
	}
	meant := called(word, all)
	if len(meant) != 1 {
		e := api.Errorf(api.ReasonBadValue, word, "%d of the Macs that ask are called %q.", len(meant), word)
		e.Data.Remedy = "See their names and ids: fulmen pending"
		return e
	}
	result, err := client.Call[api.Empty](ctx, c, "cluster.answer", api.ClusterAnswerParams{Node: meant[0].Peer, State: state})
	if err != nil {
		return err
	}
	if r.json {
		return text.JSON(r.Out, result)
	}
	_, err = fmt.Fprintf(r.Out, done+"\n", text.Clean(meant[0].Name))
	return err
}
