package command

import (
	"context"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// rdmaCommand is the cables with whether RDMA works over them, and the commands
// that look closer and change it.
func (r *run) rdmaCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "rdma", Short: "RDMA over Thunderbolt 5: which cables are ready, and what is missing on which Mac", Args: cobra.NoArgs,
		Long: "Every Thunderbolt cable with whether RDMA works over it and, where it does not, the one thing that is missing.\n" +
			"Where a person has to go to a Mac, for its switch can be flipped in Recovery or System Settings only, the trips come\n" +
			"first, with what they cost, and their steps at the end. The steps tick themselves off as that Mac goes and comes back.",
		Example: "  fulmen rdma\n  fulmen rdma check mac-studio:1\n  fulmen rdma --json | jq '.links[] | select(.verdict != \"ready\") | .text'",
		RunE: func(c *cobra.Command, _ []string) error {
			return r.with(c.Context(), func(c2 *client.Client) error {
				return listed(c.Context(), r, c2, "rdma.list", nil, func(list api.RDMAListResult, nodes []api.NodeView) error {
					return r.view().RDMA(r.Out, list, nodes)
				})
			})
		},
	}
	c.AddCommand(r.rdmaCheckCommand(), r.rdmaProbeCommand(), r.rdmaClearCommand(), r.rdmaHistoryCommand())
	c.AddCommand(r.rdmaChangeCommands()...)
	return c
}

func (r *run) rdmaCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use: "check [LINK]", Short: "Every check of a cable for RDMA, each with what to do", Args: cobra.MaximumNArgs(1),
		Long: "Goes through all that RDMA over a cable needs, at both ends, in the order in which a person does; without a LINK\n" +
			"through that of every cable. Advice does not stop RDMA.\n" +
			"A LINK is one end, NODE:PORT, or both with ~ between.",
		Example: "  fulmen rdma check\n  fulmen rdma check mac-studio:1\n  fulmen rdma check 'mac-studio:1 ~ mac-studio-2:1' --json",
		RunE: func(c *cobra.Command, args []string) error {
			return r.with(c.Context(), func(c2 *client.Client) error {
				if len(args) == 1 {
					return r.rdmaOne(c.Context(), c2, "rdma.check", args[0])
				}
				return listed(c.Context(), r, c2, "rdma.list", nil, func(list api.RDMAListResult, nodes []api.NodeView) error {
					return r.view().RDMAChecks(r.Out, list.Links, nodes)
				})
			})
		},
	}
}

func (r *run) rdmaClearCommand() *cobra.Command {
	return &cobra.Command{
		Use: "clear LINK", Short: "Say that this Mac's RDMA device at a cable works, although a program that had it was killed", Args: cobra.ExactArgs(1),
		Long: "A program that is killed while it has the RDMA device open may leave it stuck. After a test that hung no jaccl job gets\n" +
			"the cable until another test has passed, the cable was replugged, the Mac was restarted, or somebody who knows better\n" +
			"says so with this command, on that Mac. It is recorded: fulmen events --audit.\n" +
			"A LINK is one end, NODE:PORT, or both with ~ between.",
		Example: "  fulmen rdma clear mac-studio:1",
		RunE: func(c *cobra.Command, args []string) error {
			return r.with(c.Context(), func(c2 *client.Client) error { return r.rdmaOne(c.Context(), c2, "rdma.clear", args[0]) })
		},
	}
}

// rdmaOne asks something about one cable that is answered by its checks.
func (r *run) rdmaOne(ctx context.Context, c *client.Client, method, name string) error {
	nodes, err := client.Call[api.NodeListResult](ctx, c, "node.list", nil)
	if err != nil {
		return err
	}
	got, err := client.Call[api.RDMAReadiness](ctx, c, method, api.LinkSelect{Link: linkRef(name, nodes.Nodes)})
	if err != nil {
		return err
	}
	if r.json {
		return text.JSON(r.Out, got)
	}
	return r.view().RDMAChecks(r.Out, []api.RDMAReadiness{got}, nodes.Nodes)
}
