package command

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

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
