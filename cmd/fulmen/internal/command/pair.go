package command

import (
	"context"
	"fmt"
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
	var l lending
	var answer string
	c := &cobra.Command{
		Use: "pair", Short: "Add a Mac: show the code to type on it", Args: cobra.NoArgs,
		Long: "Shows a code for five minutes; on the other Mac it is typed at fulmen join. Says who tries and fails, and ends when\n" +
			"a Mac has joined, when the code does not count any more, or with Ctrl-C, which takes the code back. A code works\n" +
			"once, and three wrong ones end it.\n\n" +
			"--answer types the code that another Mac shows, and takes it into this cluster.",
		Example: "  fulmen pair\n  fulmen pair --answer mac-mini --nobody",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := l.check(); err != nil {
				return err
			}
			return r.with(c.Context(), func(c2 *client.Client) error {
				if answer != "" {
					return r.answer(c.Context(), c2, answer, l)
				}
				if l != (lending{}) {
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
			fmt.Fprintln(r.Err, "Closed; the code does not count any more.")
		}
	}
	return err
}

// showCode shows the code: large to people, else as a line, or as JSON.
func (r *run) showCode(open api.ClusterPairResult) error {
	switch {
	case r.json:
		return text.JSONLine(r.Out, open)
	case !r.Screen:
		_, err := fmt.Fprintln(r.Out, text.Clean(open.Code))
		return err
	}
	if _, err := fmt.Fprintln(r.Out); err != nil {
		return err
	}
	if err := show.BigCode(r.Out, open.Code); err != nil {
		return err
	}
	_, err := fmt.Fprint(r.Out, "\nOn the other Mac: fulmen join\nIts people can then run programs here only as an account that you name: fulmen users map\nCtrl-C takes the code back.\n\n")
	return err
}

// answer types the code of a Mac that shows one.
func (r *run) answer(ctx context.Context, c *client.Client, word string, l lending) error {
	meant, err := find(ctx, c, findTimeout, word)
	if err != nil {
		return err
	}
	if len(meant) == 0 {
		e := api.Errorf(api.ReasonNoSuchNode, word, "No Mac that asks is called %q.", word)
		e.Data.Remedy = "See who asks: fulmen pending"
		return e
	}
	found := meant[0]
	if len(meant) > 1 {
		if found, err = r.choose(ctx, meant); err != nil {
			return err
		}
	}
	if l, err = r.complete(ctx, l, false); err != nil {
		return err
	}
	return r.withCode(ctx, found.Name, func(ctx context.Context, code string) error {
		result, err := client.Call[api.Empty](ctx, c, "cluster.answer", api.ClusterAnswerParams{Node: found.Peer, Code: code, Account: l.account})
		if err != nil {
			return err
		}
		if r.json {
			return text.JSON(r.Out, result)
		}
		_, err = fmt.Fprintf(r.Out, "%s is in the cluster now. See: fulmen peers\n", text.Clean(found.Name))
		return err
	})
}
