package command

import (
	"context"

	"github.com/spf13/cobra"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

func (r *run) rdmaProbeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "probe LINK", Short: "Test a cable over RDMA, and measure it", Args: cobra.ExactArgs(1),
		Long: "Runs one MLX worker at each end of a cable, which send to each other over RDMA: rates each way by size of message,\n" +
			"round trips and their jitter. Both ends are free of jobs meanwhile. Each test may leave something behind in Apple's\n" +
			"driver until the Mac is restarted, so none is ever repeated by itself. Ctrl-C cancels the test.",
		Example: "  fulmen rdma probe mac-studio:1\n  fulmen rdma probe mac-studio:1 --json",
		RunE: func(c *cobra.Command, args []string) error {
			return r.with(c.Context(), func(c2 *client.Client) error { return r.rdmaProbe(c.Context(), c2, args[0]) })
		},
	}
}

func (r *run) rdmaProbe(ctx context.Context, c *client.Client, arg string) error {
	nodes, err := client.Call[api.NodeListResult](ctx, c, "node.list", nil)
	if err != nil {
		return err
	}
	last, err := r.measuring(ctx, c, "rdma.probe", api.LinkSelect{Link: linkRef(arg, nodes.Nodes)}, nodes.Nodes)
	if err != nil {
		return err
	}
	return r.linksMeasured(ctx, c, last, nodes.Nodes)
}
