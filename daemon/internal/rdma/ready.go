package rdma

import (
	"fmt"
	"slices"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology"
	"fulmen/daemon/internal/topology/readiness"
)

// List is every cable's readiness, and the trips that people must make.
func (c Commands) List() (api.RDMAListResult, error) {
	graph := c.Graph()
	result := api.RDMAListResult{Links: []api.RDMAReadiness{}}
	for _, report := range graph.Readiness() {
		result.Links = append(result.Links, report.RDMAReadiness)
	}
	cables := graph.RDMACables()
	result.Errands = readiness.Errands(cables, c.Trips.See(cables))
	for i := range result.Errands {
		if e := &result.Errands[i]; !e.Done && slices.ContainsFunc(e.Links, c.Requests.Waits) {
			e.Note = strings.TrimSpace(e.Note + " Fulmen then enables RDMA by itself.")
		}
	}
	result.Price = readiness.Price(result.Errands)
	return result, nil
}

// Check is every check of one cable.
func (c Commands) Check(p api.LinkSelect) (api.RDMAReadiness, error) {
	graph := c.Graph()
	cable, err := topology.FindCable(graph.List().Cables, p.Link, c.Find)
	if err != nil {
		return api.RDMAReadiness{}, err
	}
	return graph.ReadinessOf(cable), nil
}

// Clear takes a person's word that this Mac's device at a cable works.
func (c Commands) Clear(p api.LinkSelect) (api.RDMAReadiness, error) {
	cable, err := topology.FindCable(c.Graph().List().Cables, p.Link, c.Find)
	if err != nil {
		return api.RDMAReadiness{}, err
	}
	isCleared := false
	for _, e := range cable.Ends {
		if e.End.Node == c.Ledger.Node() && c.Devices.IsSuspect(e.End.Receptacle) {
			c.Devices.Used(e.End.Receptacle)
			isCleared = true
		}
	}
	for _, e := range cable.Ends {
		_, isSuspect := c.Ledger.Get(api.Key{Node: e.End.Node, Kind: api.KindCondition, Name: string(api.ReasonRDMAPortSuspect) + "/" + e.End.String()})
		if isSuspect && e.End.Node != c.Ledger.Node() && !isCleared { // who is there knows
			there := c.Name(e.End.Node)
			refused := api.Errorf(api.ReasonRDMAPortSuspect, e.End.String(), "The RDMA device that may be stuck is that of %s:%s.", there, e.End.Receptacle)
			refused.Data.Remedy = fmt.Sprintf("Run `fulmen rdma clear %s:%s` on %s.", there, e.End.Receptacle, there)
			return api.RDMAReadiness{}, refused
		}
	}
	return c.Check(p)
}
