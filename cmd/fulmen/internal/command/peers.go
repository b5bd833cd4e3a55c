package command

import (
	"context"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

func (r *run) peersCommand() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "peers", Short: "The members of the cluster, and the paths to them", Args: cobra.NoArgs,
		Long: "Who is a member, who added whom, whether each is reached and by which paths, the best first. A delay is half of the\n" +
			"round trip of a probe.",
		Example: "  fulmen peers\n  fulmen peers --all --wide",
		RunE: func(c *cobra.Command, _ []string) error {
			return r.with(c.Context(), func(c2 *client.Client) error { return r.peers(c.Context(), c2, all) })
		},
	}
	c.Flags().BoolVar(&all, "all", false, "also those who were removed")
	return c
}

func (r *run) peers(ctx context.Context, c *client.Client, removed bool) error {
	p, err := roster(ctx, c)
	if err != nil {
		return err
	}
	if r.json {
		return text.JSON(r.Out, p)
	}
	return r.view().Peers(r.Out, p, removed)
}

// roster is who is a member, and what is known of each now.
func roster(ctx context.Context, c *client.Client) (show.Peers, error) {
	var p show.Peers
	all := asking{ctx: ctx, client: c}
	ask(&all, "cluster.peers", nil, &p.Peers)
	ask(&all, "node.list", nil, &p.Nodes)
	return p, all.wait()
}

// members are those of the roster that were not removed, by id.
func members(p show.Peers) map[api.NodeID]api.Member {
	out := map[api.NodeID]api.Member{}
	for _, m := range p.Peers.Members {
		if m.RemovedBy == "" {
			out[m.Node] = m
		}
	}
	return out
}
