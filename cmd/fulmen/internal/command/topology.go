package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// topologyFlags are the flags of fulmen topology.
type topologyFlags struct {
	scenario string
	form     string
	dot      bool
	nodes    []string
	backend  string
	networks []string
}

func (r *run) topologyCommand() *cobra.Command {
	var f topologyFlags
	c := &cobra.Command{
		Use: "topology", Short: "What is plugged in where, and how fast", Args: cobra.NoArgs,
		Long: "Every node with its Thunderbolt ports and what is connected to them, then every path between two nodes with what was\n" +
			"measured. A delay is half of the round trip.\n\n" +
			"--form writes the graph for other tools: dot (GraphViz), hostfile (mlx.launch), matrix (JACCL's devices), json.\n" +
			"--scenario shows a simulated cluster, without a daemon.",
		Example: "  fulmen topology\n  fulmen topology --dot | dot -Tsvg > cluster.svg\n  fulmen topology --form hostfile --backend ring --node mac-studio,mac-studio-2\n" +
			"  fulmen topology --scenario two-studios",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.check(c); err != nil {
				return err
			}
			if f.scenario != "" {
				return r.scenario(c.Context(), f)
			}
			return r.with(c.Context(), func(c2 *client.Client) error {
				if f.form != "" {
					return r.export(c.Context(), c2, f)
				}
				return r.topology(c.Context(), c2)
			})
		},
	}
	c.Flags().StringVar(&f.scenario, "scenario", "", "show a simulated cluster: the name of a scenario, or a file")
	c.Flags().StringVar(&f.form, "form", "", "the format for other tools: "+strings.Join(api.ExportForm("").Values(), ", "))
	c.Flags().BoolVar(&f.dot, "dot", false, "the same as --form dot")
	c.Flags().StringSliceVar(&f.nodes, "node", nil, "only these nodes, in the order of ranks; for a form")
	c.Flags().StringVar(&f.backend, "backend", "", "the backend that a hostfile or matrix is for")
	c.Flags().StringSliceVar(&f.networks, "network", nil, networkUsage+"; for a hostfile")
	return c
}

// check refuses flags that do not fit together.
func (f *topologyFlags) check(c *cobra.Command) error {
	if f.dot {
		if f.form != "" && f.form != string(api.ExportDOT) {
			return usage("--dot and --form %s contradict each other", f.form)
		}
		f.form = string(api.ExportDOT)
	}
	switch {
	case c.Flags().Changed("scenario") && f.scenario == "":
		return usage("--scenario needs a name or a file")
	case f.form != "" && !api.ExportForm(f.form).Valid():
		return usage("there is no form %q; the forms are %s", f.form, strings.Join(api.ExportForm("").Values(), ", "))
	case f.backend != "" && !api.Backend(f.backend).Valid():
		return usage("there is no backend %q; the backends are %s", f.backend, strings.Join(api.Backend("").Values(), ", "))
	case f.form == "" && (len(f.nodes) > 0 || f.backend != "" || len(f.networks) > 0):
		return usage("--node, --backend and --network go with --form")
	case f.scenario != "" && (len(f.nodes) > 0 || f.backend != "" || len(f.networks) > 0):
		return usage("--node, --backend and --network do not go with --scenario")
	}
	return nil
}

func (r *run) topology(ctx context.Context, c *client.Client) error {
	t, err := topologyNow(ctx, c)
	if err != nil {
		return err
	}
	return r.draw(t)
}

// topologyNow is what is plugged where, and what is measured.
func topologyNow(ctx context.Context, c *client.Client) (t show.Topology, err error) {
	var list api.NodeListResult
	var all errgroup.Group
	ask(ctx, c, &all, "node.list", nil, &list)
	ask(ctx, c, &all, "link.list", nil, &t.Links)
	all.Go(func() (err error) {
		t.Docs, err = documents(ctx, c, show.TopologyKinds())
		return err
	})
	err = all.Wait()
	t.Nodes = list.Nodes
	return t, err
}

// documents are all documents of some kinds, however many.
func documents(ctx context.Context, c *client.Client, kinds []api.Kind) ([]api.Document, error) {
	sel := api.StateSelect{Kinds: kinds}
	got, err := client.Call[api.StateGetResult](ctx, c, "state.get", sel)
	if err != nil || !got.More {
		return got.Docs, err
	}
	for event, err := range c.Watch(ctx, sel) { // its snapshot comes in parts
		return event.Put, err
	}
	return nil, ctx.Err()
}

func (r *run) draw(t show.Topology) error {
	return r.answer(t, func(w *show.Page) { r.view().Topology(w, t) })
}

// export writes the graph for another tool.
func (r *run) export(ctx context.Context, c *client.Client, f topologyFlags) error {
	p := api.LinkExportParams{Form: api.ExportForm(f.form), Backend: api.Backend(f.backend), Nodes: nodeRefs(f.nodes), Networks: f.networks}
	return answered(ctx, r, c, "link.export", p, r.exported)
}

// exported is the graph, and what to know about it on standard error.
func (r *run) exported(w *show.Page, result api.LinkExportResult) {
	fmt.Fprintln(w, strings.TrimSuffix(text.CleanLines(result.Text), "\n"))
	for _, n := range result.Notes {
		fmt.Fprintf(r.Err, "fulmen: %s\n", text.Clean(n.Message))
		if n.Remedy != "" {
			fmt.Fprintf(r.Err, "  %s\n", text.Clean(n.Remedy))
		}
	}
}

// scenario shows a simulated cluster, which the daemon's program builds.
func (r *run) scenario(ctx context.Context, f topologyFlags) error {
	args := []string{"topology", "--scenario", f.scenario}
	if f.form != "" {
		args = append(args, "--form", f.form)
	}
	var out bytes.Buffer
	if err := r.fulmend(ctx, &out, args...); err != nil {
		return err
	}
	if f.form != "" {
		result := api.LinkExportResult{Text: out.String()}
		return r.answer(result, func(w *show.Page) { r.exported(w, result) })
	}
	var t show.Topology
	if err := json.Unmarshal(out.Bytes(), &t); err != nil {
		return advised(api.Errorf(api.ReasonMalformedMessage, "fulmend", "This version of fulmen does not understand what fulmend says about the scenario."),
			"Install fulmen and fulmend from the same release: fulmen version")
	}
	return r.draw(t)
}

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
			return r.with(c.Context(), func(c2 *client.Client) error { return r.export(c.Context(), c2, f) })
		},
	}
	if form == api.ExportHostfile || form == api.ExportMatrix {
		c.Use, c.Args, c.ValidArgsFunction = c.Use+" [NODE...]", cobra.ArbitraryArgs, r.nodeWords
		c.Flags().StringVar(&f.backend, "backend", string(api.BackendAuto), "the backend that it is for: "+strings.Join(api.Backend("").Values(), ", "))
	}
	if form == api.ExportHostfile {
		c.Flags().StringSliceVar(&f.networks, "network", nil, networkUsage)
	}
	return c
}
