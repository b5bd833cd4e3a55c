package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// topologyFlags are those of fulmen topology.
type topologyFlags struct {
	scenario string
	form     string
	dot      bool
	nodes    []string
	backend  string
}

func (r *run) topologyCommand() *cobra.Command {
	var f topologyFlags
	c := &cobra.Command{
		Use: "topology", Short: "What is plugged where, and how fast", Args: cobra.NoArgs,
		Long: "Every node with its Thunderbolt ports and what hangs on them, then every path between two nodes with what was\n" +
			"measured. A delay is half of the round trip.\n\n" +
			"--form writes the graph for other tools: dot (GraphViz), hostfile (mlx.launch), matrix (JACCL's devices), json.\n" +
			"--scenario builds it of a simulated cluster, without a daemon.",
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
					return r.export(c.Context(), c2, f.params())
				}
				return r.topology(c.Context(), c2)
			})
		},
	}
	c.Flags().StringVar(&f.scenario, "scenario", "", "show a simulated cluster: the name of a scenario, or a file")
	c.Flags().StringVar(&f.form, "form", "", "write it for other tools: "+strings.Join(api.ExportForm("").Values(), ", "))
	c.Flags().BoolVar(&f.dot, "dot", false, "the same as --form dot")
	c.Flags().StringSliceVar(&f.nodes, "node", nil, "only these nodes, in the order of ranks; for a form")
	c.Flags().StringVar(&f.backend, "backend", "", "the backend that a hostfile or matrix is for")
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
	case f.form == "" && (len(f.nodes) > 0 || f.backend != ""):
		return usage("--node and --backend go with --form")
	case f.scenario != "" && (len(f.nodes) > 0 || f.backend != ""):
		return usage("--node and --backend do not go with --scenario")
	}
	return nil
}

func (f *topologyFlags) params() api.LinkExportParams {
	p := api.LinkExportParams{Form: api.ExportForm(f.form), Backend: api.Backend(f.backend)}
	for _, n := range f.nodes {
		p.Nodes = append(p.Nodes, api.NodeRef(n))
	}
	return p
}

func (r *run) topology(ctx context.Context, c *client.Client) error {
	var t show.Topology
	var list api.NodeListResult
	all := asking{ctx: ctx, client: c}
	ask(&all, "node.list", nil, &list)
	ask(&all, "link.list", nil, &t.Links)
	all.try(func() (err error) {
		t.Docs, err = documents(ctx, c, show.TopologyKinds())
		return err
	})
	if err := all.wait(); err != nil {
		return err
	}
	t.Nodes = list.Nodes
	return r.draw(t)
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
	if !r.json {
		return r.view().Topology(r.Out, t)
	}
	return text.JSON(r.Out, t)
}

// export writes the graph for another tool, and what to know about it on
// standard error.
func (r *run) export(ctx context.Context, c *client.Client, params api.LinkExportParams) error {
	result, err := client.Call[api.LinkExportResult](ctx, c, "link.export", params)
	if err != nil {
		return err
	}
	return r.exported(result)
}

func (r *run) exported(result api.LinkExportResult) error {
	if r.json {
		return text.JSON(r.Out, result)
	}
	if _, err := fmt.Fprintln(r.Out, strings.TrimSuffix(text.CleanLines(result.Text), "\n")); err != nil {
		return err
	}
	for _, n := range result.Notes {
		fmt.Fprintf(r.Err, "fulmen: %s\n", text.Clean(n.Message))
		if n.Remedy != "" {
			fmt.Fprintf(r.Err, "  %s\n", text.Clean(n.Remedy))
		}
	}
	return nil
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
		return r.exported(api.LinkExportResult{Text: out.String()})
	}
	var t show.Topology
	if err := json.Unmarshal(out.Bytes(), &t); err != nil {
		e := api.Errorf(api.ReasonMalformedMessage, "fulmend", "What fulmend says of the scenario is not what this version knows.")
		e.Data.Remedy = "Install fulmen and fulmend from the same release: fulmen version"
		return e
	}
	return r.draw(t)
}
