package daemon

import (
	"context"
	"encoding/json"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/placement"
)

// planner places jobs by the documents of now.
type planner struct{ d *daemon }

// Plan is where a job would run now.
func (p planner) Plan(ctx context.Context, spec api.JobSpec, mlx map[api.NodeID]api.ProgramMLX) (api.Plan, error) {
	result, err := p.place(ctx, spec, mlx, true)
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

// Explain is the same in full, with what stands in the way.
func (p planner) Explain(ctx context.Context, spec api.JobSpec, mlx map[api.NodeID]api.ProgramMLX) (api.JobPlanResult, error) {
	result, err := p.place(ctx, spec, mlx, false)
	if err != nil {
		return api.JobPlanResult{}, err
	}
	return result.Wire(), nil
}

// place plans. Brief leaves out what would help, which is most of the work where
// there is no place, and which nobody is told of a job that waits for one; and it asks
// nobody how much memory is free where that changes nothing.
func (p planner) place(ctx context.Context, spec api.JobSpec, mlx map[api.NodeID]api.ProgramMLX, brief bool) (placement.Result, error) {
	d := p.d
	d.asking.Ask()
	if !brief || placement.CountsMemory(spec.Placement, d.roster.Members()) {
		d.node.FetchLive(ctx, []api.Kind{api.KindMemory})
	}
	raw, err := json.Marshal(spec)
	if err != nil {
		return placement.Result{}, err
	}
	var docs []api.Document
	var drawn []*ledger.Record
	for _, record := range d.ledger.List(ledger.Filter{Kinds: placement.Kinds()}) {
		docs = append(docs, record.Document())
		if slices.Contains(placement.GraphKinds(), record.Key().Kind) {
			drawn = append(drawn, record)
		}
	}
	nodes, _ := d.planning.Of(drawn, func(id api.NodeID) bool { return id != d.identity.Node && d.nodes.IsStale(id) })
	current := d.live.Current()
	in, _ := placement.InputOf(placement.Source{
		Spec: spec, SpecSHA256: api.SpecSHA256(raw), Self: d.identity.Node, Documents: docs, Nodes: nodes, Stale: d.nodes.IsStale,
		Programs: mlx, Brief: brief,
		Trusted: current.Network.Trusted, At: api.TimeOf(d.platform.Clock.Now()),
		SocketTTL: current.Measure.SocketTTL, RDMATTL: current.Measure.RDMATTL,
	})
	return placement.Plan(in), nil
}
