package command

import (
	"strings"

	"github.com/spf13/cobra"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// exportCommand writes the graph for other tools.
func (r *run) exportCommand() *cobra.Command {
	return group("export", "Write the cluster's graph for other tools",
		r.exportForm(api.ExportHostfile, "MLX's host file, for mlx.launch",
			"Writes the host file that mlx.launch --hostfile reads, for programs that are started without Fulmen. NODEs are those of the\n"+
				"ranks, in their order; without any, all nodes. --backend is the one that it is for; auto takes what the cables give.",
			"  fulmen export hostfile --backend ring mac-studio mac-studio-2 > hosts.json\n  mlx.launch --hostfile hosts.json train.py"),
		r.exportForm(api.ExportMatrix, "JACCL's matrix of RDMA devices",
			"Writes the matrix that JACCL reads from the file that MLX_IBV_DEVICES names: for each rank, for each other rank, the\n"+
				"devices on the first that lead to the second. A link over which RDMA is not ready is an error that names it.",
			"  fulmen export matrix --backend jaccl mac-studio mac-studio-2 > devices.json"),
		r.exportForm(api.ExportDOT, "a drawing for GraphViz",
			"Writes the graph of nodes and cables in GraphViz's language.",
			"  fulmen export dot | dot -Tsvg > cluster.svg"),
		r.exportForm(api.ExportJSON, "the result of link.list",
			"Writes what the API's link.list gives.",
			"  fulmen export json | jq '.cables[].verdict'"),
	)
}

// exportForm is one form. Host files and matrices are for nodes in an order, and
// for a backend.
func (r *run) exportForm(form api.ExportForm, short, long, example string) *cobra.Command {
	f := topologyFlags{form: string(form)}
	c := &cobra.Command{
		Use: string(form), Short: strings.ToUpper(short[:1]) + short[1:], Long: long, Example: example, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if f.nodes = args; f.backend != "" && !api.Backend(f.backend).Valid() {
				return usage("there is no backend %q; the backends are %s", f.backend, strings.Join(api.Backend("").Values(), ", "))
			}
			return r.with(c.Context(), func(c2 *client.Client) error { return r.export(c.Context(), c2, f.params()) })
		},
	}
	if form == api.ExportHostfile || form == api.ExportMatrix {
		c.Use, c.Args, c.ValidArgsFunction = c.Use+" [NODE...]", cobra.ArbitraryArgs, r.nodeWords
		c.Flags().StringVar(&f.backend, "backend", string(api.BackendAuto), "the backend that it is for: "+strings.Join(api.Backend("").Values(), ", "))
	}
	return c
}
