package daemon

import (
	"context"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/topology"
)

// linkList is the graph of the documents as they are now.
func (d *daemon) linkList(context.Context, *server.Caller, api.Empty) (api.LinkListResult, error) {
	return d.graph.build().List(), nil
}

// linkGet is one cable with what was measured on it and its readiness for RDMA.
func (d *daemon) linkGet(_ context.Context, _ *server.Caller, p api.LinkSelect) (api.LinkGetResult, error) {
	graph := d.graph.build()
	list := graph.List()
	cable, err := topology.FindCable(list.Cables, p.Link, d.find)
	if err != nil {
		return api.LinkGetResult{}, err
	}
	result := api.LinkGetResult{Cable: cable, Rows: []api.LinkRow{}, RDMA: graph.ReadinessOf(cable)}
	for _, row := range list.Rows {
		if cable.Link.Valid() && row.Link == cable.Link {
			result.Rows = append(result.Rows, row)
		}
	}
	return result, nil
}

// linkWatch is the graph, and every change after.
func (d *daemon) linkWatch(_ context.Context, c *server.Caller, _ api.Empty) (api.LinkWatchResult, error) {
	sub, list, err := stream(c, d.graph, topology.Diff,
		func(sub api.Subscription, n uint64, change api.LinkChanged) any {
			change.Sub, change.N = sub, n
			return change
		},
		func(sub api.Subscription) any { return api.LinkChanged{Sub: sub, Lagged: true} })
	if err != nil {
		return api.LinkWatchResult{}, err
	}
	return api.LinkWatchResult{Sub: sub, LinkListResult: list}, nil
}

// linkExport writes the graph for another tool.
func (d *daemon) linkExport(_ context.Context, _ *server.Caller, p api.LinkExportParams) (api.LinkExportResult, error) {
	return d.graph.build().Export(p, d.find)
}
