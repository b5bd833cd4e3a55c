package command

import (
	"context"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

func (r *run) nodesCommand() *cobra.Command {
	return &cobra.Command{
		Use: "nodes [NODE]", Short: "The nodes of the cluster, or all about one", Args: cobra.MaximumNArgs(1),
		Long: "The nodes of the cluster with what they have; the node that is asked has a star.\n" +
			"A NODE is a name, an id, or any beginning of an id that is unique.",
		Example: "  fulmen nodes\n  fulmen nodes mac-studio --wide",
		RunE: func(c *cobra.Command, args []string) error {
			return r.with(c.Context(), func(c2 *client.Client) error {
				if len(args) == 1 {
					return r.node(c.Context(), c2, api.NodeRef(args[0]))
				}
				return r.nodes(c.Context(), c2)
			})
		},
	}
}

func (r *run) nodes(ctx context.Context, c *client.Client) error {
	var list api.NodeListResult
	var state api.StateGetResult
	all := asking{ctx: ctx, client: c}
	ask(&all, "node.list", nil, &list)
	if !r.json {
		ask(&all, "state.get", shownKinds(), &state)
	}
	if err := all.wait(); err != nil {
		return err
	}
	if r.json {
		return text.JSON(r.Out, list)
	}
	return r.view().Nodes(r.Out, list, state.Docs)
}

func (r *run) node(ctx context.Context, c *client.Client, node api.NodeRef) error {
	result, err := client.Call[api.NodeGetResult](ctx, c, "node.get", api.NodeSelect{Node: node})
	if err != nil {
		return err
	}
	if r.json {
		return text.JSON(r.Out, result)
	}
	return r.view().Node(r.Out, result)
}

// nodeNames are the nodes' short names; none where they cannot be had, and ids
// are shown then.
func nodeNames(ctx context.Context, c *client.Client) map[api.NodeID]string {
	names := map[api.NodeID]string{}
	list, err := client.Call[api.NodeListResult](ctx, c, "node.list", nil)
	if err != nil {
		return names
	}
	for _, n := range list.Nodes {
		names[n.Node] = n.ShortName
	}
	return names
}
