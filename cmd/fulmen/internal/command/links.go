package command

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

func (r *run) linksCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "links [LINK]", Short: "The cables and how fast every path is, or everything about one cable", Args: cobra.MaximumNArgs(1),
		Long: "The cables between the Macs: what they are, how fast, through which hubs, whether they can do RDMA, and what is\n" +
			"wrong with them. Then every path between two nodes with what was measured each way; a delay is half of the round\n" +
			"trip. Where a speed differs by direction, that from the first end to the second comes first.\n" +
			"A LINK is one end, NODE:PORT, or both with ~ between.",
		Example: "  fulmen links\n  fulmen links mac-studio:1\n  fulmen links 'mac-studio:1 ~ mac-studio-2:1' --json\n  fulmen links history\n" +
			"  fulmen links mute mac-studio:1",
		RunE: r.asks(func(ctx context.Context, c *client.Client, args []string) error {
			if len(args) == 1 {
				return r.link(ctx, c, args[0])
			}
			return listed(ctx, r, c, "link.list", nil, r.view().Links)
		}),
	}
	c.AddCommand(r.linksHistoryCommand(), r.linksMuteCommand("mute", true), r.linksMuteCommand("unmute", false))
	return c
}

func (r *run) link(ctx context.Context, c *client.Client, name string) error {
	return onCable(ctx, c, name, func(nodes []api.NodeView, link api.LinkRef) error {
		return answered(ctx, r, c, "link.get", api.LinkSelect{Link: link}, func(w *show.Page, got api.LinkGetResult) { r.view().Link(w, got, nodes) })
	})
}

// onCable does something with the cable of a name; none where that is empty.
func onCable(ctx context.Context, c *client.Client, name string, do func(nodes []api.NodeView, link api.LinkRef) error) error {
	nodes, err := nodeViews(ctx, c)
	if err != nil {
		return err
	}
	return do(nodes, linkRef(name, nodes))
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
		Use: "history [LINK|NODE]", Short: "Earlier measurements of paths", Args: cobra.MaximumNArgs(1),
		Long: "For every path that was measured, or only those over a cable or of a node: the best and the median of each number,\n" +
			"and the results, the newest first.",
		Example: "  fulmen links history\n  fulmen links history mac-studio:1\n  fulmen links history mac-studio-2 --wide",
		RunE:    r.asks(r.linksHistory),
	}
}

func (r *run) linksHistory(ctx context.Context, c *client.Client, args []string) error {
	name := strings.Join(args, "")
	return onCable(ctx, c, name, func(nodes []api.NodeView, link api.LinkRef) error {
		params := api.LinkHistoryParams{Link: link}
		if !strings.Contains(name, ":") {
			params = api.LinkHistoryParams{Peer: api.NodeRef(name)}
		}
		return answered(ctx, r, c, "link.history", params, func(w *show.Page, got api.LinkHistoryResult) { r.view().History(w, got, nodes) })
	})
}

func (r *run) linksMuteCommand(name string, muted bool) *cobra.Command {
	short := "Stop warning about a cable"
	if !muted {
		short = "Warn about a cable again"
	}
	return &cobra.Command{
		Use: name + " LINK", Short: short, Args: cobra.ExactArgs(1), Example: "  fulmen links " + name + " mac-studio:1",
		RunE: r.asks(func(ctx context.Context, c *client.Client, args []string) error {
			return onCable(ctx, c, args[0], func(_ []api.NodeView, link api.LinkRef) error {
				_, err := client.Call[api.Empty](ctx, c, "link.mute", api.LinkMute{Link: link, Muted: muted})
				return err
			})
		}),
	}
}
