package command

import (
	"context"
	"fmt"
	"strings"
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

// linksMeasured is what fulmen measure link --json prints.
type linksMeasured struct {
	// Measurement is as in measure.changed, at its end.
	Measurement api.Measurement `json:"measurement"`
	// Links is link.list after it.
	Links api.LinkListResult `json:"links"`
}

func (r *run) measureLinkCommand() *cobra.Command {
	var all, rdma bool
	var age time.Duration
	c := &cobra.Command{
		Use: "link [LINK|NODE...]", Short: "Measure paths between nodes",
		Long: "Measures bandwidth each way, round trips and their jitter over plain TCP, as docs/measuring.md says: the paths over\n" +
			"the cables named, those to the nodes named, or else all of this node. Both ends are free of jobs meanwhile, and\n" +
			"one path of a node is measured at a time. Ctrl-C cancels the measurement.",
		Example: "  fulmen measure link --all\n  fulmen measure link mac-studio-2\n  fulmen measure link mac-studio:1 --json",
		RunE: func(c *cobra.Command, args []string) error {
			if all && len(args) > 0 {
				return usage("--all already measures %s", strings.Join(args, ", "))
			}
			return r.with(c.Context(), func(c2 *client.Client) error {
				return r.measureLink(c.Context(), c2, args, api.MeasureLinkParams{All: all, RDMA: rdma, MaxAgeS: age.Seconds()})
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "every path between nodes that are reached")
	c.Flags().BoolVar(&rdma, "rdma", false, "over RDMA too, where a cable is ready for it (see fulmen rdma probe)")
	c.Flags().DurationVar(&age, "max-age", 0, "take an earlier result that is not older, such as 5m")
	return c
}

func (r *run) measureLink(ctx context.Context, c *client.Client, args []string, params api.MeasureLinkParams) error {
	nodes, err := client.Call[api.NodeListResult](ctx, c, "node.list", nil)
	if err != nil {
		return err
	}
	for _, a := range args {
		if strings.Contains(a, ":") {
			params.Links = append(params.Links, linkRef(a, nodes.Nodes))
		} else {
			params.Peers = append(params.Peers, api.NodeRef(a))
		}
	}
	last, err := r.measuring(ctx, c, "measure.link", params, nodes.Nodes)
	if err != nil {
		return err
	}
	return r.linksMeasured(ctx, c, last, nodes.Nodes)
}

// linksMeasured shows what a measurement of paths has given, and the failure of
// those without a result.
func (r *run) linksMeasured(ctx context.Context, c *client.Client, last api.Measurement, nodes []api.NodeView) error {
	list, err := client.Call[api.LinkListResult](ctx, c, "link.list", nil)
	if err != nil {
		return err
	}
	if r.json {
		err = text.JSON(r.Out, linksMeasured{last, list})
	} else {
		err = r.view().Measured(r.Out, last, list, nodes)
	}
	if err != nil {
		return err
	}
	return failedItems(last, nodes)
}

// failedItems is the failure of what has no result: the first one, with how many
// there are.
func failedItems(m api.Measurement, nodes []api.NodeView) error {
	var first *api.Error
	failed := 0
	for _, item := range m.Items {
		if item.State == api.MeasureDone {
			continue
		}
		failed++
		if first == nil && item.Error != nil {
			first = item.Error
		}
	}
	switch {
	case failed == 0:
		return nil
	case first == nil:
		return fmt.Errorf("the measurement is %s", m.State)
	case len(m.Items) == 1:
		return first
	}
	e := *first
	e.Message = fmt.Sprintf("%d of %d have no result; the first: %s", failed, len(m.Items), first.Message)
	return &e
}
