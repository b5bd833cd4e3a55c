package command

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/output"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// following is how a job that was submitted is shown.
type following struct {
	detach, quiet, noPrefix bool
}

func (f *following) flags(c *cobra.Command) {
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "say nothing about the job itself but why it failed")
	c.Flags().BoolVar(&f.noPrefix, "no-prefix", false, "do not write the rank in front of each line")
}

func (r *run) runCommand() *cobra.Command {
	var w wanted
	var f following
	c := &cobra.Command{
		Use: "run [flags] -- COMMAND...", Short: "Run a program on one Mac or several", Args: cobra.MinimumNArgs(1),
		Long: "Runs COMMAND as so many ranks, one a node, and shows what they print until all have ended. The same folder,\n" +
			"interpreter and Python environment are used on every node, as the account that stands for you there; paths under\n" +
			"your home mean the same paths under that account's.\n\n" +
			"Ctrl-C stops the job, a second one kills it, a third one leaves it. Closing the terminal stops it, unless --detach\n" +
			"was given. On a terminal that rank 0 has for itself Ctrl-C goes to the program, and three in a row mean the job.\n\n" +
			"Ends with the status of the first rank that failed, 128+N where signal N ended it, 125 where the job could not be\n" +
			"started or was lost, 126 and 127 where the program cannot be executed or is not there.",
		Example: "  fulmen run -- python hello.py\n  fulmen run -n 2 -- python train.py --lr 3e-4\n" +
			"  fulmen run --nodes mac-studio,mac-mini --backend ring --sync -- python -m my.module\n" +
			"  fulmen run -n 2 --env HF_TOKEN --publish 8080 -d -- mlx_lm.server --port 8080",
		RunE: func(c *cobra.Command, args []string) error {
			w.said(c)
			f.detach = w.detach
			request, values, err := w.request(r.App, args)
			if err != nil {
				return notStarted(err)
			}
			return r.submit(c.Context(), request, values, f, func(p *api.Placement, nodes []api.NodeView) error { return w.resolve(p, nodes) })
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
	var out []string
	_ = r.with(c.Context(), func(c2 *client.Client) error {
		for _, name := range nodeNames(c.Context(), c2) {
			out = append(out, name)
		}
		return nil
	}) // then there is nothing to complete with
	return out, cobra.ShellCompDirectiveNoFileComp
}

// notStarted makes the end of fulmen run of an error before there is a job; what
// makes no sense keeps its own.
func notStarted(err error) error {
	if err == nil || errors.As(err, &usageError{}) || errors.As(err, &exited{}) || errors.As(err, &withStatus{}) {
		return err
	}
	return withStatus{api.RunStatus(api.AsError(err).Data.Reason), err}
}

// submit submits a job and follows it, or prints its id.
func (r *run) submit(ctx context.Context, request api.JobRequest, values map[string]string, f following, resolve func(*api.Placement, []api.NodeView) error) error {
	// Signals are heard from before the job is there, so that none is lost.
	signals := make(<-chan os.Signal)
	if r.Signals != nil && !f.detach {
		heard, stop := r.Signals(stopSignals()...)
		defer stop()
		signals = heard
	}
	if request.RequestID == "" {
		request.RequestID = rand.Text() // so that it can be submitted again when the answer was lost
	}
	return notStarted(r.with(ctx, func(c *client.Client) error {
		list, err := client.Call[api.NodeListResult](ctx, c, "node.list", nil)
		if err != nil {
			return err
		}
		if err := resolve(&request.Placement, list.Nodes); err != nil {
			return err
		}
		// Ctrl-C from here on stops the job, which needs its id.
		whole := context.WithoutCancel(ctx)
		result, err := r.submitOnce(whole, c, api.JobSubmitParams{Request: request, Environment: values})
		if err != nil {
			return err
		}
		if f.detach {
			return r.submitted(result)
		}
		return r.attach(whole, c, &attachment{job: result.Job, input: request.Program.Stdin != api.StdinNone, quiet: f.quiet}, f, request, list.Nodes, signals)
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

// submitted prints the id of a job that goes on by itself.
func (r *run) submitted(result api.JobSubmitResult) error {
	if r.json {
		return text.JSON(r.Out, result)
	}
	_, err := fmt.Fprintln(r.Out, result.Job)
	return err
}

// attach follows a job on this terminal.
func (r *run) attach(ctx context.Context, c *client.Client, a *attachment, f following, request api.JobRequest, nodes []api.NodeView, signals <-chan os.Signal) error {
	a.run, a.client, a.names = r, c, map[api.NodeID]string{}
	for _, n := range nodes {
		a.names[n.Node] = n.ShortName
	}
	alone := request.Placement.Ranks == 1
	a.lines = output.New(output.Options{
		Out: r.Out, Err: r.Err, Prefix: !alone && !f.noPrefix, Through: alone, Together: r.Screen && r.Terminal,
		OutTerminal: r.Screen, ErrTerminal: r.Terminal, Verbatim: a.input && request.Program.Terminal,
	})
	a.rest.Together = r.Screen && r.Terminal
	a.event(jobEvent{Submitted: &api.JobSubmitResult{Job: a.job}})
	return endedAs(a.follow(ctx, signals))
}
