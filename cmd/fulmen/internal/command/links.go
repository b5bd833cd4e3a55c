package command

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

func (r *run) linksCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "links [LINK]", Short: "The cables and what every path gives, or all about one cable", Args: cobra.MaximumNArgs(1),
		Long: "The cables between the Macs: what they are, how fast, through which hubs, whether they can do RDMA, and what is\n" +
			"wrong with them. Then every path between two nodes with what was measured each way; a delay is half of the round\n" +
			"trip. Where a speed differs by direction, that from the first end to the second comes first.\n" +
			"A LINK is one end, NODE:PORT, or both with ~ between.",
		Example: "  fulmen links\n  fulmen links mac-studio:1\n  fulmen links 'mac-studio:1 ~ mac-studio-2:1' --json\n  fulmen links history\n" +
			"  fulmen links mute mac-studio:1",
		RunE: func(c *cobra.Command, args []string) error {
			return r.with(c.Context(), func(c2 *client.Client) error {
				if len(args) == 1 {
					return r.link(c.Context(), c2, args[0])
				}
				return r.links(c.Context(), c2)
			})
		},
	}
	c.AddCommand(r.linksHistoryCommand(), r.linksMuteCommand("mute", true), r.linksMuteCommand("unmute", false))
	return c
}

func (r *run) links(ctx context.Context, c *client.Client) error {
	return listed(ctx, r, c, "link.list", nil, func(list api.LinkListResult, nodes []api.NodeView) error {
		return r.view().Links(r.Out, list, nodes)
	})
}

func (r *run) link(ctx context.Context, c *client.Client, name string) error {
	nodes, err := client.Call[api.NodeListResult](ctx, c, "node.list", nil)
	if err != nil {
		return err
	}
	got, err := client.Call[api.LinkGetResult](ctx, c, "link.get", api.LinkSelect{Link: linkRef(name, nodes.Nodes)})
	if err != nil {
		return err
	}
	if r.json {
		return text.JSON(r.Out, got)
	}
	return r.view().Link(r.Out, got, nodes.Nodes)
}

// linkRef takes a cable's name as tables show it, both ends with short names,
// to its id. One that it cannot read is the daemon's to explain.
func linkRef(name string, nodes []api.NodeView) api.LinkRef {
	as := api.LinkRef(strings.TrimSpace(name))
	first, second, both := strings.Cut(name, "~")
	if !both {
		return as
	}
	ids := map[string]api.NodeID{}
	for _, n := range nodes {
		ids[n.ShortName] = n.Node
	}
	end := func(s string) (api.LinkEnd, error) {
		node, port, _ := strings.Cut(strings.TrimSpace(s), ":")
		if id, ok := ids[node]; ok {
			node = string(id)
		}
		return api.ParseLinkEnd(node + ":" + port)
	}
	a, err := end(first)
	if err != nil {
		return as
	}
	b, err := end(second)
	if err != nil {
		return as
	}
	id, err := api.NewLinkID(a, b)
	if err != nil {
		return as
	}
	return api.LinkRef(id.String())
}
