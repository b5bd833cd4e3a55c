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

func (r *run) linksHistoryCommand() *cobra.Command {
	return &cobra.Command{
		Use: "history [LINK|NODE]", Short: "What paths gave earlier", Args: cobra.MaximumNArgs(1),
		Long: "Of every path that was measured, of those over a cable, or of those of a node: the best and the median of each\n" +
			"number, and the results, the newest first.",
		Example: "  fulmen links history\n  fulmen links history mac-studio:1\n  fulmen links history mac-studio-2 --wide",
		RunE: func(c *cobra.Command, args []string) error {
			return r.with(c.Context(), func(c2 *client.Client) error { return r.linksHistory(c.Context(), c2, args) })
		},
	}
}

func (r *run) linksHistory(ctx context.Context, c *client.Client, args []string) error {
	nodes, err := client.Call[api.NodeListResult](ctx, c, "node.list", nil)
	if err != nil {
		return err
	}
	var params api.LinkHistoryParams
	switch {
	case len(args) == 0:
	case strings.Contains(args[0], ":"):
		params.Link = linkRef(args[0], nodes.Nodes)
	default:
		params.Peer = api.NodeRef(args[0])
	}
	got, err := client.Call[api.LinkHistoryResult](ctx, c, "link.history", params)
	if err != nil {
		return err
	}
	if r.json {
		return text.JSON(r.Out, got)
	}
	return r.view().History(r.Out, got, nodes.Nodes)
}

func (r *run) linksMuteCommand(name string, muted bool) *cobra.Command {
	short := "Do not warn about a cable any more"
	if !muted {
		short = "Warn about a cable again"
	}
	return &cobra.Command{
		Use: name + " LINK", Short: short, Args: cobra.ExactArgs(1), Example: "  fulmen links " + name + " mac-studio:1",
		RunE: func(c *cobra.Command, args []string) error {
			return r.with(c.Context(), func(c2 *client.Client) error {
				nodes, err := client.Call[api.NodeListResult](c.Context(), c2, "node.list", nil)
				if err != nil {
					return err
				}
				_, err = client.Call[api.Empty](c.Context(), c2, "link.mute", api.LinkMute{Link: linkRef(args[0], nodes.Nodes), Muted: muted})
				return err
			})
		},
	}
}
