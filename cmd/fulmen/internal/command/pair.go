package command

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// closeTimeout is how long it may take to close Add a Mac after Ctrl-C.
const closeTimeout = 5 * time.Second

func (r *run) pairCommand() *cobra.Command {
	var l sharing
	var answer string
	c := &cobra.Command{
		Use: "pair", Short: "Add a Mac: show the code to type on it", Args: cobra.NoArgs,
		Long: "Shows a code for five minutes; on the other Mac it is typed at fulmen join. Says who tries and fails, and ends when\n" +
			"a Mac has joined, when the code is no longer valid, or with Ctrl-C, which withdraws the code. A code works\n" +
			"once, and three wrong ones end it.\n\n" +
			"--answer types the code that another Mac shows, and takes it into this cluster.",
		Example: "  fulmen pair\n  fulmen pair --answer mac-mini --nobody",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := l.check(); err != nil {
				return err
			}
			return r.with(c.Context(), func(c2 *client.Client) error {
				if answer != "" {
					return r.answerCode(c.Context(), c2, answer, l)
				}
				if l != (sharing{}) {
					return usage("--account and --nobody go with --answer")
				}
				return r.pair(c.Context(), c2)
			})
		},
	}
	c.Flags().StringVar(&answer, "answer", "", "type the code of this `NODE`, one of fulmen pending, and take it in")
	l.flags(c)
	return c
}

// pair opens Add a Mac and tells what happens until it ends.
func (r *run) pair(ctx context.Context, c *client.Client) error {
	before, err := client.Call[api.ClusterPeersResult](ctx, c, "cluster.peers", nil)
	if err != nil {
		return err
	}
	open, err := client.Call[api.ClusterPairResult](ctx, c, "cluster.pair", api.ClusterPairParams{})
	if err != nil {
		return err
	}
	if err := r.showCode(open); err != nil {
		return err
	}
	p := newPairing(r, c, before, open)
	ended, err := p.follow(ctx)
	if !ended { // by itself: the code still counts
		after, stop := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer stop()
		_, problem := client.Call[api.ClusterPairResult](after, c, "cluster.pair", api.ClusterPairParams{Close: true})
		if problem != nil {
			return problem
		}
		if err == nil {
			fmt.Fprintln(r.Err, "Closed; the code is no longer valid.")
		}
	}
	return err
}

// showCode shows the code: large to people, else as a line, or as JSON.
func (r *run) showCode(open api.ClusterPairResult) error {
	if r.json {
		return text.JSONLine(r.Out, open)
	}
	return r.print(r.Out, func(w *show.Page) {
		if !r.Screen {
			w.Line(open.Code)
			return
		}
		w.Line("")
		show.BigCode(w, open.Code)
		fmt.Fprint(w, "\nOn the other Mac: fulmen join (if it finds no Mac: fulmen join ADDRESS, with an address of this one)\nIts people can then run programs here only as an account that you name: fulmen users map\nCtrl-C withdraws the code.\n\n")
	})
}

// answerCode types the code of a Mac that shows one.
func (r *run) answerCode(ctx context.Context, c *client.Client, word string, l sharing) error {
	meant, err := find(ctx, c, findTimeout, word)
	if err != nil {
		return err
	}
	if len(meant) == 0 {
		return advised(api.Errorf(api.ReasonNoSuchNode, word, "No Mac called %q is asking to join.", word), "See which Macs ask: fulmen pending")
	}
	found := meant[0]
	if len(meant) > 1 {
		if found, err = r.choose(ctx, meant); err != nil {
			return err
		}
	}
	if l, err = r.completeSharing(ctx, l, false); err != nil {
		return err
	}
	return r.withCode(ctx, found.Name, func(ctx context.Context, code string) error {
		params := api.ClusterAnswerParams{Node: found.Peer, Code: code, Account: l.account}
		return r.done(ctx, c, "cluster.answer", params, found.Name+" has joined the cluster. See: fulmen peers")
	})
}

func (r *run) inviteCommand() *cobra.Command {
	var valid time.Duration
	c := &cobra.Command{
		Use: "invite", Short: "Make an invitation for a Mac without a screen", Args: cobra.NoArgs,
		Long: "Prints one line, and nothing else on standard output; on the other Mac fulmen join --invite - reads it from standard\n" +
			"input. It is a secret: whoever has it can join, once, until it expires.",
		Example: "  fulmen invite | ssh mac-mini fulmen join --invite -\n  fulmen invite --valid 10m",
		RunE: func(c *cobra.Command, _ []string) error {
			if valid < time.Second {
				return usage("--valid must be at least 1s")
			}
			return r.with(c.Context(), func(c2 *client.Client) error {
				params := api.ClusterInviteParams{ValidS: valid.Seconds()}
				return answered(c.Context(), r, c2, "cluster.invite", params, func(w *show.Page, made api.ClusterInviteResult) {
					fmt.Fprintf(r.Err, "A secret that works once, for %s, until %s. On the other Mac: fulmen join --invite -\n",
						text.Duration(made.ExpiresAt.Sub(r.Now()).Round(time.Second)), made.ExpiresAt)
					w.Line(made.Invite)
				})
			})
		},
	}
	c.Flags().DurationVar(&valid, "valid", time.Hour, "how long it is valid, such as 10m")
	return c
}

// pendingList is what fulmen pending --json prints.
type pendingList struct {
	// Pending are the values of the pending documents, the oldest first.
	Pending []api.Pending `json:"pending"`
}

func (r *run) pendingCommand() *cobra.Command {
	list := &cobra.Command{
		Use: "pending", Short: "The Macs that ask to be added", Args: cobra.NoArgs,
		Long:    "The Macs that ask to be added or show a code. What they say about themselves is not proven until the right code is entered.",
		Example: "  fulmen pending\n  fulmen pair --answer mac-mini\n  fulmen pending ignore mac-mini",
		RunE: r.asks(func(ctx context.Context, c *client.Client, _ []string) error {
			all, err := pending(ctx, c)
			if err != nil {
				return err
			}
			return r.answer(pendingList{all}, func(w *show.Page) { r.view().Pending(w, all, false) })
		}),
	}
	for _, a := range []struct {
		use, short, done string
		state            api.PendingState
	}{
		{"ignore NODE", "Ignore a Mac that asks to join", "%s is ignored until it has been gone for a day.", api.PendingIgnored},
		{"later NODE", "Decide later about a Mac that asks to join", "%s waits for your decision. To show it again: fulmen pending again NODE", api.PendingLater},
		{"again NODE", "Show a Mac again that was ignored or put off", "%s is shown again. Enter its code with: fulmen pair --answer NODE", api.PendingAsking},
	} {
		list.AddCommand(&cobra.Command{
			Use: a.use, Short: a.short, Args: cobra.ExactArgs(1),
			Example: "  fulmen pending " + strings.Replace(a.use, "NODE", "mac-mini", 1),
			RunE: r.asks(func(ctx context.Context, c *client.Client, args []string) error {
				return r.dispose(ctx, c, args[0], a.state, a.done)
			}),
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
		return advised(api.Errorf(api.ReasonBadValue, word, "%d of the Macs that ask are called %q.", len(meant), word),
			"See their names and ids: fulmen pending")
	}
	params := api.ClusterAnswerParams{Node: meant[0].Peer, State: state}
	return r.done(ctx, c, "cluster.answer", params, fmt.Sprintf(done, meant[0].Name))
}
