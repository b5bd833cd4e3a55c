package command

import (
	"context"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// rdmaPast is what fulmen rdma history --json prints.
type rdmaPast struct {
	// Changes are as in rdma.history.
	Changes []api.RDMAChange `json:"changes"`
	// Tests are what the tests over RDMA gave, as in link.history.
	Tests []api.PathHistory `json:"tests"`
}

func (r *run) rdmaHistoryCommand() *cobra.Command {
	return &cobra.Command{
		Use: "history [LINK]", Short: "What was changed for RDMA on this Mac, by whom, and what tests gave", Args: cobra.MaximumNArgs(1),
		Long: "Every change of this Mac's settings for RDMA, the newest first, with its single steps with --wide; and of every\n" +
			"cable that was tested over RDMA what the tests gave.",
		Example: "  fulmen rdma history\n  fulmen rdma history mac-studio:1 --wide",
		RunE: func(c *cobra.Command, args []string) error {
			return r.with(c.Context(), func(c2 *client.Client) error { return r.rdmaHistory(c.Context(), c2, args) })
		},
	}
}

func (r *run) rdmaHistory(ctx context.Context, c *client.Client, args []string) error {
	nodes, err := client.Call[api.NodeListResult](ctx, c, "node.list", nil)
	if err != nil {
		return err
	}
	var link api.LinkRef
	if len(args) > 0 {
		link = linkRef(args[0], nodes.Nodes)
	}
	var changes api.RDMAHistoryResult
	var measured api.LinkHistoryResult
	all := asking{ctx: ctx, client: c}
	ask(&all, "rdma.history", api.RDMAHistoryParams{Link: link}, &changes)
	ask(&all, "link.history", api.LinkHistoryParams{Link: link}, &measured)
	if err := all.wait(); err != nil {
		return err
	}
	past := rdmaPast{Changes: changes.Changes, Tests: []api.PathHistory{}}
	for _, p := range measured.Paths {
		if p.Transport == api.TransportRDMA {
			past.Tests = append(past.Tests, p)
		}
	}
	if r.json {
		return text.JSON(r.Out, past)
	}
	return r.view().RDMAPast(r.Out, past.Changes, past.Tests, nodes.Nodes)
}
