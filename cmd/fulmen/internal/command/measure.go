package command

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// measured is what fulmen measure gpu --json prints.
type measured struct {
	// Measurement is as in measure.changed, at its end.
	Measurement api.Measurement `json:"measurement"`
	// Docs are the profiles that it filled, as in state.get.
	Docs []api.Document `json:"docs"`
}

func (r *run) measureCommand() *cobra.Command {
	var all bool
	var age time.Duration
	gpu := &cobra.Command{
		Use: "gpu [NODE...]", Short: "Measure the speed of a GPU and of its memory",
		Long: "Measures square matrix products in fp16 and the memory's bandwidth, as docs/measuring.md says, on this node or\n" +
			"on those named. Ctrl-C cancels the measurement.",
		Example: "  fulmen measure gpu\n  fulmen measure gpu --max-age 1h    an earlier result will do\n  fulmen measure gpu --json 2>/dev/null",
		RunE: func(c *cobra.Command, args []string) error {
			params := api.MeasureGPUParams{All: all, MaxAgeS: age.Seconds()}
			for _, a := range args {
				params.Nodes = append(params.Nodes, api.NodeRef(a))
			}
			return r.with(c.Context(), func(c2 *client.Client) error { return r.measureGPU(c.Context(), c2, params) })
		},
	}
	gpu.Flags().BoolVar(&all, "all", false, "every node that is reached")
	gpu.Flags().DurationVar(&age, "max-age", 0, "take an earlier result that is not older, such as 1h")
	return group("measure", "Measure what the hardware gives", gpu, r.measureLinkCommand())
}

func (r *run) measureGPU(ctx context.Context, c *client.Client, params api.MeasureGPUParams) error {
	list, err := client.Call[api.NodeListResult](ctx, c, "node.list", nil)
	if err != nil {
		return err
	}
	last, err := r.measuring(ctx, c, "measure.gpu", params, list.Nodes)
	if err != nil {
		return err
	}
	return r.measured(ctx, c, last, list.Nodes)
}

// measuring begins a measurement and shows how far it is, up to its end.
func (r *run) measuring(ctx context.Context, c *client.Client, method string, params any, nodes []api.NodeView) (api.Measurement, error) {
	// Ctrl-C waits for the answer: what it names can be cancelled.
	asked, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	started, changes, err := client.Stream[api.MeasureStarted, api.MeasureChanged](asked, c, method, params)
	if err != nil {
		return api.Measurement{}, err
	}
	defer context.AfterFunc(ctx, stop)()
	last := started.Measurement
	b := &bar{out: r.Err, terminal: r.Terminal}
	if len(last.Items) > 1 {
		b.names = map[api.NodeID]string{}
		for _, n := range nodes {
			b.names[n.Node] = n.ShortName
		}
	}
	b.show(last)
	ended := false
	for change, problem := range changes {
		if err = problem; err != nil {
			break
		}
		last, ended = change.Measurement, change.Terminal
		b.show(last)
		if ended {
			break
		}
	}
	b.clear()
	if ctx.Err() != nil && !ended {
		return last, r.cancel(context.WithoutCancel(ctx), c, last.ID)
	}
	return last, err
}

// cancelTimeout is how long a worker may take to end.
const cancelTimeout = 5 * time.Second

// cancel ends the measurement that nobody waits for any more, and waits until
// it has ended: one that begins before would join it.
func (r *run) cancel(ctx context.Context, c *client.Client, id api.MeasureID) error {
	ctx, stop := context.WithTimeout(ctx, cancelTimeout)
	defer stop()
	sel := api.MeasureSelect{Measurement: id}
	if _, err := client.Call[api.Empty](ctx, c, "measure.cancel", sel); err != nil {
		return err
	}
	_, changes, err := client.Stream[api.MeasureStarted, api.MeasureChanged](ctx, c, "measure.watch", sel)
	if err != nil {
		return err
	}
	for change, err := range changes {
		if err != nil {
			return err
		}
		if change.Terminal {
			break
		}
	}
	return api.Errorf(api.ReasonCancelled, id.String(), "The measurement was cancelled.")
}

// measured shows the result, and the failure of what has none.
func (r *run) measured(ctx context.Context, c *client.Client, m api.Measurement, nodes []api.NodeView) error {
	out := measured{Measurement: m}
	var sel api.StateSelect
	sel.Kinds = []api.Kind{api.KindGPUProfile}
	for _, item := range m.Items {
		sel.Nodes = append(sel.Nodes, api.NodeRef(item.Document.Node))
	}
	state, err := client.Call[api.StateGetResult](ctx, c, "state.get", sel)
	if err != nil {
		return err
	}
	out.Docs = state.Docs
	if r.json {
		if err := text.JSON(r.Out, out); err != nil {
			return err
		}
	} else if err := r.view().Profiles(r.Out, m, state.Docs); err != nil {
		return err
	}
	return failedItems(m, nodes)
}
