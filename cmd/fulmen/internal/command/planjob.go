package command

import (
	"context"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

func (r *run) planCommand() *cobra.Command {
	var w wanted
	c := &cobra.Command{
		Use: "plan [flags] [-- COMMAND...]", Short: "Where a program would run, or what stops it", Args: cobra.ArbitraryArgs,
		Long: "Shows where fulmen run with the same flags would run now, over which cables and how fast they are; or, for every set\n" +
			"of nodes, the first thing that stops it, and what would help. Nothing is started. Ends with 1 where there is no place.",
		Example: "  fulmen plan -n 4 --backend jaccl -- python train.py\n  fulmen plan -n 2 --memory 64GiB --wide",
		RunE: func(c *cobra.Command, args []string) error {
			w.said(c)
			request, _, err := w.request(r.App, orPython(args))
			if err != nil {
				return err
			}
			return r.with(c.Context(), func(c2 *client.Client) error { return r.plan(c.Context(), c2, request, w.resolve) })
		},
	}
	w.flags(c)
	w.streamFlags(c)
	r.completeNodes(c, "nodes", "exclude", "rank0")
	c.Flags().SetInterspersed(false)
	return c
}

// orPython is what programs for MLX are run by, where none is named.
func orPython(args []string) []string {
	if len(args) == 0 {
		return []string{"python3"}
	}
	return args
}

func (r *run) plan(ctx context.Context, c *client.Client, request api.JobRequest, resolve func(*api.Placement, []api.NodeView) error) error {
	list, err := client.Call[api.NodeListResult](ctx, c, "node.list", nil)
	if err != nil {
		return err
	}
	if err := resolve(&request.Placement, list.Nodes); err != nil {
		return err
	}
	result, err := client.Call[api.JobPlanResult](ctx, c, "job.plan", api.JobPlanParams{Request: request})
	if err != nil {
		return err
	}
	if r.json {
		err = text.JSON(r.Out, result)
	} else {
		err = r.view().Plan(r.Out, result, shortNames(list.Nodes))
	}
	if err == nil && result.Plan == nil {
		return silent{}
	}
	return err
}

func (r *run) envCommand() *cobra.Command {
	var w wanted
	c := &cobra.Command{
		Use: "env [flags] [-- COMMAND...]", Short: "What each node has of what a program needs", Args: cobra.ArbitraryArgs,
		Long: "Looks on all nodes at once, as the account that stands for you there, for the folder, the interpreter, the versions of\n" +
			"Python, MLX and packages, and the disk, and marks what differs. Ends with 1 where something would stop the program.",
		Example: "  fulmen env\n  fulmen env --nodes mac-studio,mac-mini --venv .venv -- python train.py\n  fulmen env --wide     every package",
		RunE: func(c *cobra.Command, args []string) error {
			w.said(c)
			program, _, err := w.program(r.App, orPython(args))
			if err != nil {
				return err
			}
			return r.with(c.Context(), func(c2 *client.Client) error { return r.preflight(c.Context(), c2, program, w.nodes, len(args) == 0) })
		},
	}
	w.programFlags(c)
	c.Flags().StringSliceVar(&w.nodes, "nodes", nil, "only these nodes, with commas (default: all that are reached)")
	r.completeNodes(c, "nodes")
	c.Flags().SetInterspersed(false)
	return c
}

func (r *run) preflight(ctx context.Context, c *client.Client, program api.Program, nodes []string, wantsMLX bool) error {
	params := api.JobPreflightParams{Program: program}
	params.Program.Stdin = api.StdinNone
	for _, n := range nodes {
		params.Nodes = append(params.Nodes, api.NodeRef(n))
	}
	result, err := client.Call[api.JobPreflightResult](ctx, c, "job.preflight", params)
	if err != nil {
		return err
	}
	if r.json {
		err = text.JSON(r.Out, result)
	} else {
		err = r.view().Preflight(r.Out, result, nodeNames(ctx, c))
	}
	stopped := len(result.Differences) > 0 || wantsMLX && len(result.Notes) > 0
	for _, n := range result.Nodes {
		stopped = stopped || len(n.Problems) > 0
	}
	if err == nil && stopped {
		return silent{}
	}
	return err
}
