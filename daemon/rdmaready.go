package daemon

import (
	"context"
	"slices"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/topology"
	"fulmen/daemon/internal/topology/readiness"
)

// rdmaReadyHandlers are the methods that tell of the readiness for RDMA.
func (d *daemon) rdmaReadyHandlers() server.Handlers {
	return server.Handlers{
		"rdma.list":  server.Handle(d.rdmaList),
		"rdma.check": server.Handle(d.rdmaCheck),
		"rdma.clear": server.Handle(d.rdmaClear),
	}
}

// rdmaList is every cable's readiness, and the trips that people must make.
func (d *daemon) rdmaList(context.Context, *server.Caller, api.Empty) (api.RDMAListResult, error) {
	graph := d.graph.Build()
	result := api.RDMAListResult{Links: []api.RDMAReadiness{}}
	for _, report := range graph.Readiness() {
		result.Links = append(result.Links, report.RDMAReadiness)
	}
	cables := graph.RDMACables()
	result.Errands = readiness.Errands(cables, d.trips.see(cables))
	for i := range result.Errands {
		if e := &result.Errands[i]; !e.Done && slices.ContainsFunc(e.Links, d.continued.waits) {
			e.Note = strings.TrimSpace(e.Note + " Fulmen then enables RDMA by itself.")
		}
	}
	result.Price = readiness.Price(result.Errands)
	return result, nil
}

// rdmaCheck is every check of one cable.
func (d *daemon) rdmaCheck(_ context.Context, _ *server.Caller, p api.LinkSelect) (api.RDMAReadiness, error) {
	graph := d.graph.Build()
	cable, err := topology.FindCable(graph.List().Cables, p.Link, d.find)
	if err != nil {
		return api.RDMAReadiness{}, err
	}
	return graph.ReadinessOf(cable), nil
}
