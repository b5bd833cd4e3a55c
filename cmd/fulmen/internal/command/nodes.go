package command

import (
	"context"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

func (r *run) nodesCommand() *cobra.Command {
	return &cobra.Command{
		Use: "nodes [NODE]", Short: "The nodes of the cluster, or everything about one", Args: cobra.MaximumNArgs(1),
		Long: "The nodes of the cluster with what they have; this Mac has a star.\n" +
			"A NODE is a name, an id, or enough of an id's beginning to be unique.",
		Example: "  fulmen nodes\n  fulmen nodes mac-studio --wide",
		RunE: r.asks(func(ctx context.Context, c *client.Client, args []string) error {
			if len(args) == 1 {
				return r.node(ctx, c, api.NodeRef(args[0]))
			}
			return r.nodes(ctx, c)
		}),
	}
}

func (r *run) node(ctx context.Context, c *client.Client, ref api.NodeRef) error {
	var node api.NodeGetResult
	var of show.Topology
	var all errgroup.Group
	ask(ctx, c, &all, "node.get", api.NodeSelect{Node: ref}, &node)
	if !r.json {
		all.Go(func() (err error) {
			of, err = topologyNow(ctx, c)
			return err
		})
	}
	if err := all.Wait(); err != nil {
		return err
	}
	return r.answer(node, func(w *show.Page) { r.view().Node(w, node, of) })
}

func (r *run) nodes(ctx context.Context, c *client.Client) error {
	var list api.NodeListResult
	var state api.StateGetResult
	var all errgroup.Group
	ask(ctx, c, &all, "node.list", nil, &list)
	if !r.json {
		ask(ctx, c, &all, "state.get", shownKinds(), &state)
	}
	if err := all.Wait(); err != nil {
		return err
	}
	return r.answer(list, func(w *show.Page) { r.view().Nodes(w, list, state.Docs) })
}

// nodeNames are the nodes' short names; none where they cannot be had, and ids
// are shown then.
func nodeNames(ctx context.Context, c *client.Client) show.Names {
	nodes, _ := nodeViews(ctx, c)
	return show.NamesOf(nodes)
}

func (r *run) peersCommand() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "peers", Short: "The members of the cluster, and the paths to them", Args: cobra.NoArgs,
		Long: "Who is a member, who added whom, whether each is reached and by which paths, the best first. A delay is half of the\n" +
			"round trip of a probe.",
		Example: "  fulmen peers\n  fulmen peers --all --wide",
		RunE: r.asks(func(ctx context.Context, c *client.Client, _ []string) error {
			p, err := roster(ctx, c)
			if err != nil {
				return err
			}
			return r.answer(p, func(w *show.Page) { r.view().Peers(w, p, all) })
		}),
	}
	c.Flags().BoolVar(&all, "all", false, "also show those that were removed")
	return c
}

// roster is who is a member, and what is known of each now.
func roster(ctx context.Context, c *client.Client) (show.Peers, error) {
	var p show.Peers
	var all errgroup.Group
	ask(ctx, c, &all, "cluster.peers", nil, &p.Peers)
	ask(ctx, c, &all, "node.list", nil, &p.Nodes)
	return p, all.Wait()
}

// members are the members of the roster that were not removed, by id.
func members(p show.Peers) map[api.NodeID]api.Member {
	out := map[api.NodeID]api.Member{}
	for _, m := range p.Peers.Members {
		if m.RemovedBy == "" {
			out[m.Node] = m
		}
	}
	return out
}

func (r *run) renameCommand() *cobra.Command {
	var follow bool
	c := &cobra.Command{
		Use: "rename NAME", Short: "Give this Mac another name in the cluster",
		Long:    "Gives this Mac another name, of 1 to 63 characters; the computer's own name stays. Its id, by which members know it,\ndoes not change.",
		Example: "  fulmen rename \"Studio at the window\"\n  fulmen rename --reset",
		Args:    oneLess(&follow, 1),
		RunE: func(c *cobra.Command, args []string) error {
			name := ""
			if !follow {
				if name = args[0]; name == "" {
					return usage("the name is empty; to go back to the computer's own name: fulmen rename --reset")
				}
			}
			words := "This Mac is called " + name + " now."
			if name == "" {
				words = "This Mac is called by the computer's own name again."
			}
			return r.with(c.Context(), func(c2 *client.Client) error {
				return r.done(c.Context(), c2, "node.rename", api.NodeRename{Name: name}, words)
			})
		},
	}
	c.Flags().BoolVar(&follow, "reset", false, "use the computer's own name again")
	return c
}
