package command

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// removing are the flags of fulmen remove.
type removing struct {
	yes, dryRun, withInvited bool
}

func (r *run) removeCommand() *cobra.Command {
	var f removing
	c := &cobra.Command{
		Use: "remove NODE...", Short: "Remove members from the cluster for good", Args: cobra.MinimumNArgs(1),
		Long: "Removes members, and ends their jobs, grants and connections everywhere. It is final: such a Mac comes back only by\n" +
			"being paired again, with a new identity. You may not want the members that a removed member had added either,\n" +
			"so they are named first and can be removed too. Removing this Mac itself leaves the cluster.",
		Example: "  fulmen remove mac-mini --dry-run\n  fulmen remove mac-mini\n  fulmen remove mac-mini --with-invited --yes",
		RunE: func(c *cobra.Command, args []string) error {
			if f.dryRun && f.yes {
				return usage("--dry-run and --yes contradict each other")
			}
			return r.with(c.Context(), func(c2 *client.Client) error { return r.remove(c.Context(), c2, args, f) })
		},
	}
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask for confirmation")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "show who would be removed and whom they had added, and change nothing")
	c.Flags().BoolVar(&f.withInvited, "with-invited", false, "also those whom they had added, and so on")
	return c
}

func (r *run) remove(ctx context.Context, c *client.Client, words []string, f removing) error {
	known, err := roster(ctx, c)
	if err != nil {
		return err
	}
	params := api.ClusterRemoveParams{DryRun: true, Nodes: nodeRefs(words)}
	would, err := r.wouldRemove(ctx, c, params, f.withInvited)
	if err != nil {
		return err
	}
	if f.dryRun && r.json {
		return text.JSON(r.Out, would)
	}
	if err := r.printRemoval(known, would, f); err != nil || f.dryRun {
		return err
	}
	if would, err = r.sure(ctx, c, known, would, f); err != nil {
		return err
	}
	params = api.ClusterRemoveParams{Nodes: nodeRefs(would.Removed)}
	return answered(ctx, r, c, "cluster.remove", params, func(w *show.Page, result api.ClusterRemoveResult) {
		if slices.Contains(result.Removed, show.Self(known.Nodes.Nodes).Node) {
			w.Line("This Mac has left the cluster. To join another one: fulmen join")
			return
		}
		w.Line("Removed: " + known.Called().List(result.Removed) + ".")
	})
}

// wouldRemove asks what a removal would be. Each answer may name more who had
// been added; they belong to it where that is wanted.
func (r *run) wouldRemove(ctx context.Context, c *client.Client, params api.ClusterRemoveParams, withInvited bool) (api.ClusterRemoveResult, error) {
	for {
		would, err := client.Call[api.ClusterRemoveResult](ctx, c, "cluster.remove", params)
		if err != nil || !withInvited || len(would.Invited) == 0 {
			return would, err
		}
		next := nodeRefs(append(slices.Clone(would.Removed), would.Invited...))
		if len(next) <= len(params.Nodes) {
			return would, nil // it names nobody new
		}
		params.Nodes = next
	}
}

// printRemoval says who goes, and whom they had added.
func (r *run) printRemoval(known show.Peers, would api.ClusterRemoveResult, f removing) error {
	out, heading := r.Err, "These are removed, for good:"
	if f.dryRun {
		out, heading = r.Out, "These would be removed, for good:"
	}
	all := members(known)
	return r.print(out, func(w *show.Page) {
		list := func(heading string, nodes []api.NodeID) {
			var of []api.Member
			for _, n := range nodes {
				of = append(of, all[n])
			}
			if len(of) > 0 {
				w.Line(heading)
				r.view().Members(w, of, known.Called())
			}
		}
		list(heading, would.Removed)
		if slices.Contains(would.Removed, show.Self(known.Nodes.Nodes).Node) {
			w.Line("This Mac is one of them: it leaves the cluster.")
		}
		list("They had added these, who stay unless --with-invited is given:", would.Invited)
	})
}

// sure asks before something that is final.
func (r *run) sure(ctx context.Context, c *client.Client, known show.Peers, would api.ClusterRemoveResult, f removing) (api.ClusterRemoveResult, error) {
	if f.yes {
		return would, nil
	}
	if len(would.Invited) > 0 && r.InTerminal {
		too, err := r.confirm(ctx, "Remove those whom they had added too?")
		if err != nil {
			return would, err
		}
		if too {
			more := api.ClusterRemoveParams{Nodes: nodeRefs(append(slices.Clone(would.Removed), would.Invited...)), DryRun: true}
			if would, err = r.wouldRemove(ctx, c, more, true); err != nil {
				return would, err
			}
		}
	}
	return would, r.certain(ctx, "Remove "+known.Called().List(would.Removed)+"? This cannot be undone.",
		"Nothing was removed: removing is final, and there is no terminal here to ask for a yes.", "To remove without being asked, add --yes.")
}

// nodeRefs are nodes as the API takes them.
func nodeRefs[N ~string](nodes []N) []api.NodeRef {
	var out []api.NodeRef
	for _, n := range nodes {
		out = append(out, api.NodeRef(n))
	}
	return out
}
