package view

import (
	"context"
	"encoding/json"
	"net/netip"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/placement"
	"fulmen/daemon/internal/topology"
)

// Planner places jobs by the documents as they are now.
type Planner struct {
	Ledger *ledger.Ledger
	Nodes  *Nodes
	Graph  *Graph
	// Members are the cluster's.
	Members func() []api.NodeID
	// Trusted are the networks that carry jobs.
	Trusted func() []netip.Prefix
	// Asked hears that measurements were read.
	Asked func()
}

// Plan implements job.Planner.
func (p *Planner) Plan(ctx context.Context, spec api.JobSpec, mlx map[api.NodeID]api.ProgramMLX, models map[api.NodeID]api.FoundModel, line placement.Line) (api.Plan, error) {
	result, err := p.place(ctx, spec, mlx, models, line, true)
	if err != nil {
		return api.Plan{}, err
	}
	if refused := result.Err(); refused != nil {
		if result.Final {
			refused.Code = api.CodeInvalid
		}
		return api.Plan{}, refused
	}
	return *result.Plan, nil
}

// Explain plans alike and gives the whole result, with what stands in the way.
func (p *Planner) Explain(ctx context.Context, spec api.JobSpec, mlx map[api.NodeID]api.ProgramMLX, models map[api.NodeID]api.FoundModel, line placement.Line) (api.JobPlanResult, error) {
	result, err := p.place(ctx, spec, mlx, models, line, false)
	if err != nil {
		return api.JobPlanResult{}, err
	}
	return result.Wire(), nil
}

// place plans. Brief leaves out what would help, which is most of the work where
// there is no place, and which nobody is told of a job that waits for one; and it asks
// nobody how much memory is free where that changes nothing.
func (p *Planner) place(ctx context.Context, spec api.JobSpec, mlx map[api.NodeID]api.ProgramMLX, models map[api.NodeID]api.FoundModel, line placement.Line, brief bool) (placement.Result, error) {
	p.Asked()
	if line.Without != nil { // it has just been asked
	} else if !brief || spec.Model.Model != "" || placement.CountsMemory(spec.Placement, p.Members()) {
		p.Nodes.cfg.Cluster.FetchLive(ctx, []api.Kind{api.KindMemory})
	}
	raw, err := json.Marshal(spec)
	if err != nil {
		return placement.Result{}, err
	}
	var docs []api.Document
	var drawn []*ledger.Record
	for _, record := range p.Ledger.List(ledger.Filter{Kinds: placement.Kinds()}) {
		docs = append(docs, record.Document())
		if slices.Contains(topology.Kinds(), record.Key().Kind) {
			drawn = append(drawn, record)
		}
	}
	nodes, _ := p.Graph.read.Of(drawn, p.Nodes.IsStale)
	in, _ := placement.InputOf(placement.Input{
		Spec: spec, SpecSHA256: api.SpecSHA256(raw), Documents: docs, Graph: p.Graph.buildOf(nodes), Trusted: p.Trusted(), Line: line, Brief: brief,
	}, nodes, mlx, models)
	return placement.Plan(in), nil
}
