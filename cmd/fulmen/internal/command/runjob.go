package command

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/output"
	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// following is how a job that was submitted is shown.
type following struct {
	quiet, noPrefix bool
	// receive gets what happens, in place of the terminal; nil where it is shown there.
	receive func(jobEvent)
}

func (f *following) flags(c *cobra.Command) {
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "say nothing about the job itself except why it failed")
	c.Flags().BoolVar(&f.noPrefix, "no-prefix", false, "do not write the rank in front of each line")
}

func (r *run) runCommand() *cobra.Command {
	var w wanted
	var f following
	c := &cobra.Command{
		Use: "run [flags] -- COMMAND...", Short: "Run a program on one Mac or several", Args: cobra.MinimumNArgs(1),
		Long: "Runs COMMAND as several ranks, by default one on each node, and shows what they print until all have ended. The same folder,\n" +
			"interpreter and Python environment are used on every node, as the account that your jobs run as there; paths under\n" +
			"your home mean the same paths under that account's.\n\n" +
			"Ctrl-C stops the job, a second one kills it, a third one detaches from it. Closing the terminal stops it, unless --detach\n" +
			"was given. On a terminal that rank 0 has for itself Ctrl-C goes to the program, and three in a row stop the job.\n\n" +
			"Ends with the exit code of the first rank that failed: 128+N if signal N ended it, 125 if the job could not be\n" +
			"started or was lost, 126 if the program cannot be executed, 127 if it is not there.",
		Example: "  fulmen run -- python hello.py\n  fulmen run -n 2 -- python train.py --lr 3e-4\n  fulmen run --ranks-per-node 2 -- python train.py     two ranks on one Mac\n" +
			"  fulmen run --nodes mac-studio,mac-mini --backend ring --sync -- python -m my.module\n" +
			"  fulmen run -n 2 --env HF_TOKEN --publish 8080 -d -- mlx_lm.server --port 8080",
		RunE: func(c *cobra.Command, args []string) error {
			w.noteGiven(c)
			request, values, err := w.request(r.App, args)
			if err != nil {
				return notStarted(err)
			}
			return r.submit(c.Context(), request, values, f, w.resolve)
		},
	}
	w.flags(c)
	w.streamFlags(c)
	f.flags(c)
	r.completeNodes(c, "nodes", "exclude", "rank0")
	c.Flags().SetInterspersed(false)
	return c
}

// completeNodes completes flags with the names of nodes.
func (r *run) completeNodes(c *cobra.Command, flags ...string) {
	for _, flag := range flags {
		_ = c.RegisterFlagCompletionFunc(flag, r.nodeWords) // fails only for a flag that is not there
	}
}

// nodeWords completes a word with the names of nodes.
func (r *run) nodeWords(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	return r.complete(c, func(ctx context.Context, c *client.Client) []string {
		return slices.Collect(maps.Values(nodeNames(ctx, c)))
	})
}

// complete completes a word with what the daemon knows; without one with nothing.
func (r *run) complete(c *cobra.Command, words func(context.Context, *client.Client) []string) (out []string, _ cobra.ShellCompDirective) {
	_ = r.with(c.Context(), func(c2 *client.Client) error {
		out = words(c.Context(), c2)
		return nil
	})
	return out, cobra.ShellCompDirectiveNoFileComp
}

// notStarted makes the end of fulmen run of an error before there is a job; what
// makes no sense keeps its own.
func notStarted(err error) error {
	if err == nil || errors.As(err, &exited{}) || errors.As(err, &withStatus{}) {
		return err
	}
	return withStatus{api.RunStatus(api.AsError(err).Data.Reason), err}
}

// submit submits a job and follows it, or prints its id.
func (r *run) submit(ctx context.Context, request api.JobRequest, values map[string]string, f following, resolve func(*api.Placement, []api.NodeView) error) error {
	// Signals are heard from before the job is there, so that none is lost.
	var signals <-chan os.Signal
	if !request.Detached {
		caught, stop := r.stopSignals()
		defer stop()
		signals = caught
	}
	if request.RequestID == "" {
		request.RequestID = rand.Text() // so that it can be submitted again when the answer was lost
	}
	return notStarted(r.with(ctx, func(c *client.Client) error {
		nodes, err := nodeViews(ctx, c)
		if err != nil {
			return err
		}
		if err := resolve(&request.Placement, nodes); err != nil {
			return err
		}
		// Ctrl-C from here on stops the job, which needs its id.
		whole := context.WithoutCancel(ctx)
		result, err := r.submitOnce(whole, c, api.JobSubmitParams{Request: request, Environment: values})
		if err != nil {
			return err
		}
		if request.Detached {
			return r.answer(result, func(w *show.Page) { submitted(w, result) })
		}
		return r.attach(whole, c, &attachment{job: result.Job, input: request.Program.Stdin != api.StdinNone, following: f}, request, nodes, signals)
	}))
}

// submitOnce submits a job; where the answer was lost with the connection, it is
// asked for again, which the request's id makes harmless.
func (r *run) submitOnce(ctx context.Context, c *client.Client, params api.JobSubmitParams) (api.JobSubmitResult, error) {
	result, err := client.Call[api.JobSubmitResult](ctx, c, "job.submit", params)
	if errors.Is(err, api.ReasonNoDaemon) {
		return client.Call[api.JobSubmitResult](ctx, c, "job.submit", params)
	}
	return result, err
}

// submitted is the id of a job that goes on by itself.
func submitted(w *show.Page, result api.JobSubmitResult) { w.Line(result.Job.String()) }

// attach follows a job on this terminal.
func (r *run) attach(ctx context.Context, c *client.Client, a *attachment, request api.JobRequest, nodes []api.NodeView, signals <-chan os.Signal) error {
	a.run, a.client, a.names = r, c, show.NamesOf(nodes)
	alone := request.Placement.Ranks == 1
	a.lines = output.New(output.Options{
		Out: r.Out, Err: r.Err, Prefix: !alone && !a.noPrefix, Through: alone, Together: r.Screen && r.Terminal,
		OutTerminal: r.Screen, ErrTerminal: r.Terminal, Verbatim: a.input && request.Program.Terminal,
	})
	a.rest.Together = r.Screen && r.Terminal
	if a.receive == nil && r.json {
		a.receive = func(e jobEvent) { _ = text.JSONLine(r.Out, e) } // the job goes on also where nobody reads
	}
	a.event(jobEvent{Submitted: &api.JobSubmitResult{Job: a.job}})
	return endedAs(a.follow(ctx, signals))
}

func (r *run) planCommand() *cobra.Command {
	var w wanted
	c := &cobra.Command{
		Use: "plan [flags] [-- COMMAND...]", Short: "Where a program would run, or what stops it", Args: cobra.ArbitraryArgs,
		Long: "Shows where fulmen run with the same flags would run now, over which cables and how fast they are; or, for every set\n" +
			"of nodes, the first thing that stops it, and what would help. Nothing is started. Ends with 1 if there is no place.",
		Example: "  fulmen plan -n 4 --backend jaccl -- python train.py\n  fulmen plan -n 2 --memory 64GiB --wide",
		RunE: func(c *cobra.Command, args []string) error {
			w.noteGiven(c)
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
	nodes, err := nodeViews(ctx, c)
	if err != nil {
		return err
	}
	if err := resolve(&request.Placement, nodes); err != nil {
		return err
	}
	result, err := client.Call[api.JobPlanResult](ctx, c, "job.plan", api.JobPlanParams{Request: request})
	if err != nil {
		return err
	}
	err = r.answer(result, func(w *show.Page) { r.view().Plan(w, result, show.NamesOf(nodes)) })
	if err == nil && result.Plan == nil {
		return exited{api.ExitFailed}
	}
	return err
}

func (r *run) envCommand() *cobra.Command {
	var w wanted
	c := &cobra.Command{
		Use: "env [flags] [-- COMMAND...]", Short: "Whether each node has what a program needs", Args: cobra.ArbitraryArgs,
		Long: "Looks on all nodes at once, as the account that your jobs run as there, for the folder, the interpreter, the versions of\n" +
			"Python, MLX and packages, and the disk, and marks what differs. Ends with 1 if something would stop the program.",
		Example: "  fulmen env\n  fulmen env --nodes mac-studio,mac-mini --venv .venv -- python train.py\n  fulmen env --wide     every package",
		RunE: func(c *cobra.Command, args []string) error {
			w.noteGiven(c)
			program, _, err := w.program(r.App, orPython(args))
			if err != nil {
				return err
			}
			return r.with(c.Context(), func(c2 *client.Client) error { return r.preflight(c.Context(), c2, program, w.nodes, len(args) == 0) })
		},
	}
	w.programFlags(c)
	c.Flags().StringSliceVar(&w.nodes, "nodes", nil, "only these nodes, separated by commas (default: all that are reached)")
	r.completeNodes(c, "nodes")
	c.Flags().SetInterspersed(false)
	return c
}

func (r *run) preflight(ctx context.Context, c *client.Client, program api.Program, nodes []string, wantsMLX bool) error {
	params := api.JobPreflightParams{Program: program, Nodes: nodeRefs(nodes)}
	params.Program.Stdin = api.StdinNone
	result, err := client.Call[api.JobPreflightResult](ctx, c, "job.preflight", params)
	if err != nil {
		return err
	}
	err = r.answer(result, func(w *show.Page) { r.view().Preflight(w, result, nodeNames(ctx, c)) })
	stopped := len(result.Differences) > 0 || wantsMLX && len(result.Notes) > 0
	for _, n := range result.Nodes {
		stopped = stopped || len(n.Problems) > 0
	}
	if err == nil && stopped {
		return exited{api.ExitFailed}
	}
	return err
}
