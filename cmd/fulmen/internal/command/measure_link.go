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
