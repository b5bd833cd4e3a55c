package command

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/show"
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
		Example: "  fulmen measure gpu\n  fulmen measure gpu --max-age 1h    an earlier result is good enough\n  fulmen measure gpu --json 2>/dev/null",
		RunE: func(c *cobra.Command, args []string) error {
			params := api.MeasureGPUParams{Nodes: nodeRefs(args), All: all, MaxAgeS: age.Seconds()}
			return r.with(c.Context(), func(c2 *client.Client) error { return r.measureGPU(c.Context(), c2, params) })
		},
	}
	gpu.Flags().BoolVar(&all, "all", false, "every node that is reached")
	gpu.Flags().DurationVar(&age, "max-age", 0, "accept an earlier result up to this old, such as 1h")
	return group("measure", "Measure how fast the hardware is", gpu, r.measureLinkCommand())
}

func (r *run) measureGPU(ctx context.Context, c *client.Client, params api.MeasureGPUParams) error {
	nodes, err := nodeViews(ctx, c)
	if err != nil {
		return err
	}
	last, err := r.measuring(ctx, c, "measure.gpu", params, nodes)
	if err != nil {
		return err
	}
	sel := api.StateSelect{Kinds: []api.Kind{api.KindGPUProfile}}
	for _, item := range last.Items {
		sel.Nodes = append(sel.Nodes, api.NodeRef(item.Document.Node))
	}
	state, err := client.Call[api.StateGetResult](ctx, c, "state.get", sel)
	if err != nil {
		return err
	}
	out := measured{Measurement: last, Docs: state.Docs}
	if err := r.answer(out, func(w *show.Page) { r.view().Profiles(w, last, state.Docs) }); err != nil {
		return err
	}
	return failedItems(last)
}

// measuring begins a measurement and shows how far it is, up to its end.
func (r *run) measuring(ctx context.Context, c *client.Client, method string, params any, nodes []api.NodeView) (api.Measurement, error) {
	asked, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	b := &bar{out: r.Err, terminal: r.Terminal}
	var last api.Measurement
	isOver := false
	err := client.Measure(asked, c, method, params, func(m api.Measurement, ended bool) {
		if last.ID == "" { // Ctrl-C waits for the answer: what it names can be cancelled
			context.AfterFunc(ctx, stop)
		}
		if last, isOver = m, ended; len(m.Items) > 1 {
			b.names = show.NamesOf(nodes)
		}
		b.show(m)
	})
	b.clear()
	if last.ID != "" && ctx.Err() != nil && !isOver {
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
	if err := client.Measure(ctx, c, "measure.watch", sel, func(api.Measurement, bool) {}); err != nil {
		return err
	}
	return api.Errorf(api.ReasonCancelled, id.String(), "The measurement was cancelled.")
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
			"the cables named, those to the nodes named, or else all of this node. No job runs at either end meanwhile, and\n" +
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
	c.Flags().DurationVar(&age, "max-age", 0, "accept an earlier result up to this old, such as 5m")
	return c
}

func (r *run) measureLink(ctx context.Context, c *client.Client, args []string, params api.MeasureLinkParams) error {
	nodes, err := nodeViews(ctx, c)
	if err != nil {
		return err
	}
	for _, a := range args {
		if strings.Contains(a, ":") {
			params.Links = append(params.Links, linkRef(a, nodes))
		} else {
			params.Peers = append(params.Peers, api.NodeRef(a))
		}
	}
	return r.measurePaths(ctx, c, "measure.link", params, nodes)
}

// measurePaths measures paths and shows what each gives, and the failure of those
// without a result.
func (r *run) measurePaths(ctx context.Context, c *client.Client, method string, params any, nodes []api.NodeView) error {
	last, err := r.measuring(ctx, c, method, params, nodes)
	if err != nil {
		return err
	}
	list, err := client.Call[api.LinkListResult](ctx, c, "link.list", nil)
	if err != nil {
		return err
	}
	if err := r.answer(linksMeasured{last, list}, func(w *show.Page) { r.view().Measured(w, last, list, nodes) }); err != nil {
		return err
	}
	return failedItems(last)
}

// failedItems is the failure of what has no result: the first one, with how many
// there are.
func failedItems(m api.Measurement) error {
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
	e.Message = fmt.Sprintf("%d of %d were not measured; the first: %s", failed, len(m.Items), first.Message)
	return &e
}

// barWidth is the progress bar's, in characters.
const barWidth = 24

// bar shows the progress of a measurement: on a terminal a bar that is drawn
// over, else a line for each step.
type bar struct {
	out      io.Writer
	terminal bool
	names    show.Names // where there are several subjects
	last     map[api.Key]string
}

// show draws a state of the measurement.
func (b *bar) show(m api.Measurement) {
	for _, item := range m.Items {
		words := b.words(item)
		done := 0.0
		if item.DoneRatio != nil {
			done = min(max(*item.DoneRatio, 0), 1)
		}
		if b.terminal {
			if item.State == api.MeasureRunning || item.State == api.MeasureWaiting && len(m.Items) == 1 {
				full := int(done * barWidth)
				fmt.Fprintf(b.out, "\r\x1b[K[%s%s] %3.0f %%  %s", strings.Repeat("#", full), strings.Repeat(".", barWidth-full), done*100, words)
			}
			continue
		}
		if b.last[item.Document] != words {
			fmt.Fprintf(b.out, "%3.0f %%  %s\n", done*100, words)
		}
		if b.last == nil {
			b.last = map[api.Key]string{}
		}
		b.last[item.Document] = words
	}
}

// words say what is done now, and where.
func (b *bar) words(item api.MeasureItem) string {
	what := string(item.State)
	switch {
	case item.WaitingFor != "":
		what = "waiting for " + item.WaitingFor
	case item.State == api.MeasureRunning && item.Step != "":
		what = item.Step
	}
	if of := b.of(item.Document); of != "" {
		what = of + ": " + what
	}
	return text.Clean(what)
}

// of names a subject where there are several.
func (b *bar) of(key api.Key) string {
	if len(b.names) == 0 {
		return ""
	}
	name := b.name(key.Node)
	if key.Kind != api.KindLinkProfile {
		return name
	}
	if to, err := api.ParsePeerAddress(key.Name); err == nil {
		return name + " to " + b.name(to.Peer) + " at " + to.Address.String()
	}
	return name + ", cable " + key.Name
}

func (b *bar) name(id api.NodeID) string {
	if name := b.names[id]; name != "" {
		return name
	}
	return id.Display()
}

// clear takes the bar away.
func (b *bar) clear() {
	if b.terminal {
		fmt.Fprint(b.out, "\r\x1b[K")
	}
}
