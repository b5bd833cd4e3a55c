package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
			"being paired again, with a new identity. Whoever was added by a member that is removed may be just as unwanted, so\n" +
			"they are named first, and can be removed too. To remove this Mac itself is to leave the cluster.",
		Example: "  fulmen remove mac-mini --dry-run\n  fulmen remove mac-mini\n  fulmen remove mac-mini --with-invited --yes",
		RunE: func(c *cobra.Command, args []string) error {
			if f.dryRun && f.yes {
				return usage("--dry-run and --yes contradict each other")
			}
			return r.with(c.Context(), func(c2 *client.Client) error { return r.remove(c.Context(), c2, args, f) })
		},
	}
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "say who would be removed and whom they had added, and change nothing")
	c.Flags().BoolVar(&f.withInvited, "with-invited", false, "also those whom they had added, and so on")
	return c
}

func (r *run) remove(ctx context.Context, c *client.Client, words []string, f removing) error {
	known, err := roster(ctx, c)
	if err != nil {
		return err
	}
	params := api.ClusterRemoveParams{DryRun: true}
	for _, w := range words {
		params.Nodes = append(params.Nodes, api.NodeRef(w))
	}
	would, err := r.wouldRemove(ctx, c, params, f.withInvited)
	if err != nil {
		return err
	}
	if f.dryRun && r.json {
		return text.JSON(r.Out, would)
	}
	if err := r.tellRemoval(known, would, f); err != nil || f.dryRun {
		return err
	}
	if would, err = r.sure(ctx, c, known, would, f); err != nil {
		return err
	}
	params = api.ClusterRemoveParams{Nodes: refs(would.Removed)}
	result, err := client.Call[api.ClusterRemoveResult](ctx, c, "cluster.remove", params)
	if err != nil {
		return err
	}
	if r.json {
		return text.JSON(r.Out, result)
	}
	if slices.Contains(result.Removed, self(known.Nodes)) {
		_, err = fmt.Fprintln(r.Out, "This Mac has left the cluster. It is one of its own now; join another with: fulmen join")
		return err
	}
	_, err = fmt.Fprintf(r.Out, "Removed: %s.\n", text.Clean(r.list(known, result.Removed)))
	return err
}

// wouldRemove asks what a removal would be. Each answer may name more who had
// been added; they belong to it where that is wanted.
func (r *run) wouldRemove(ctx context.Context, c *client.Client, params api.ClusterRemoveParams, withInvited bool) (api.ClusterRemoveResult, error) {
	for {
		would, err := client.Call[api.ClusterRemoveResult](ctx, c, "cluster.remove", params)
		if err != nil || !withInvited || len(would.Invited) == 0 {
			return would, err
		}
		next := refs(append(slices.Clone(would.Removed), would.Invited...))
		if len(next) <= len(params.Nodes) {
			return would, nil // it names nobody new
		}
		params.Nodes = next
	}
}

// tellRemoval says who goes, and whom they had added.
func (r *run) tellRemoval(known show.Peers, would api.ClusterRemoveResult, f removing) error {
	out := r.Err
	if f.dryRun {
		out = r.Out
	}
	called, all := show.Names(known.Peers.Members, known.Nodes.Nodes), members(known)
	list := func(heading string, nodes []api.NodeID) error {
		var of []api.Member
		for _, n := range nodes {
			of = append(of, all[n])
		}
		if len(of) == 0 {
			return nil
		}
		if _, err := fmt.Fprintln(out, heading); err != nil {
			return err
		}
		return r.view().Members(out, of, called)
	}
	heading := "These would be removed, for good:"
	if !f.dryRun {
		heading = "These are removed, for good:"
	}
	if err := list(heading, would.Removed); err != nil {
		return err
	}
	if slices.Contains(would.Removed, self(known.Nodes)) {
		fmt.Fprintln(out, "This Mac is one of them: it leaves the cluster.")
	}
	if err := list("They had added these, who stay unless --with-invited is given:", would.Invited); err != nil {
		return err
	}
	return nil
}

// sure asks before something that is final.
func (r *run) sure(ctx context.Context, c *client.Client, known show.Peers, would api.ClusterRemoveResult, f removing) (api.ClusterRemoveResult, error) {
	if f.yes {
		return would, nil
	}
	if !r.InTerminal {
		e := api.Errorf(api.ReasonBadValue, "yes", "Nothing was removed: it is final, and nobody can be asked here.")
		e.Data.Remedy = "Say --yes if it is meant."
		return would, e
	}
	if len(would.Invited) > 0 {
		too, err := r.confirm(ctx, "Remove those whom they had added too?")
		if err != nil {
			return would, err
		}
		if too {
			more := api.ClusterRemoveParams{Nodes: refs(append(slices.Clone(would.Removed), would.Invited...)), DryRun: true}
			if would, err = r.wouldRemove(ctx, c, more, true); err != nil {
				return would, err
			}
		}
	}
	yes, err := r.confirm(ctx, "Remove "+r.list(known, would.Removed)+"? This cannot be undone.")
	if err == nil && !yes {
		err = api.Errorf(api.ReasonCancelled, "", "Nothing was removed.")
	}
	return would, err
}

// list names nodes.
func (r *run) list(known show.Peers, nodes []api.NodeID) string {
	called := show.Names(known.Peers.Members, known.Nodes.Nodes)
	var out []string
	for _, n := range nodes {
		name := called[n]
		if name == "" {
			name = n.Display()
		}
		out = append(out, name)
	}
	return strings.Join(out, ", ")
}

// self is the node that was asked.
func self(list api.NodeListResult) api.NodeID {
	for _, n := range list.Nodes {
		if n.Self {
			return n.Node
		}
	}
	return ""
}

func refs(nodes []api.NodeID) []api.NodeRef {
	var out []api.NodeRef
	for _, n := range nodes {
		out = append(out, api.NodeRef(n))
	}
	return out
}
