package view

import (
	"context"
	"net/netip"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/liveness"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/topology"
)

// Methods are the methods of the API that show what is derived.
type Methods struct {
	Ledger *ledger.Ledger
	Nodes  *Nodes
	Graph  *Graph
	Events *Events
	Shown  Shown
	// Trusted are the networks that carry jobs.
	Trusted func() []netip.Prefix
	// Alive finds out whether the database can be read.
	Alive func() error
	// Reads says of whose jobs a client may read what happened.
	Reads func(*server.Caller) func(api.Principal) bool
}

// Handlers are the methods.
func (m Methods) Handlers() server.Handlers {
	return server.Handlers{
		"node.list":       server.Handle(m.nodeList),
		"node.watch":      server.Handle(m.nodeWatch),
		"node.get":        server.Handle(m.nodeGet),
		"node.conditions": server.Handle(m.nodeConditions),
		"link.list":       server.Handle(m.linkList),
		"link.get":        server.Handle(m.linkGet),
		"link.watch":      server.Handle(m.linkWatch),
		"link.export":     server.Handle(m.linkExport),
		"event.list":      server.Handle(m.eventList),
		"event.watch":     server.Handle(m.eventWatch),
	}
}

// nodeList is every member with what is derived about it.
func (m Methods) nodeList(ctx context.Context, _ *server.Caller, _ api.Empty) (api.NodeListResult, error) {
	m.Nodes.cfg.Cluster.FetchLive(ctx, []api.Kind{api.KindMemory, api.KindSystem}) // the totals are of what is known of all
	m.Nodes.Derive()
	return m.Nodes.Current().List(), nil
}

// nodeGet is one node with its documents.
func (m Methods) nodeGet(_ context.Context, _ *server.Caller, p api.NodeSelect) (api.NodeGetResult, error) {
	id, err := m.Nodes.Find(p.Node)
	if err != nil {
		return api.NodeGetResult{}, err
	}
	result := api.NodeGetResult{Docs: []api.Document{}}
	result.Node, _ = m.Nodes.Current().Node(id)
	for _, record := range m.Ledger.List(ledger.Filter{Nodes: []api.NodeID{id}}) {
		result.Docs = append(result.Docs, record.Document())
	}
	return result, nil
}

// nodeWatch is node.list, and every change after.
func (m Methods) nodeWatch(_ context.Context, c *server.Caller, _ api.Empty) (api.NodeWatchResult, error) {
	sub, view, err := stream(c, m.Nodes, liveness.Diff,
		func(sub api.Subscription, n uint64, change liveness.Change) any {
			return api.NodeChanged{Sub: sub, N: n, Put: change.Put, Del: change.Del, Totals: change.Totals}
		},
		func(sub api.Subscription) any { return api.NodeChanged{Sub: sub, Lagged: true} })
	if err != nil {
		return api.NodeWatchResult{}, err
	}
	return api.NodeWatchResult{Sub: sub, NodeListResult: view.List()}, nil
}

// nodeConditions is what is wrong: what the nodes say, and what is derived of them.
func (m Methods) nodeConditions(_ context.Context, _ *server.Caller, p api.NodeConditionsParams) (api.NodeConditionsResult, error) {
	// A database that nothing is written to may be damaged all the same: whoever looks finds out.
	if err := m.Alive(); err != nil {
		return api.NodeConditionsResult{}, err
	}
	wanted, err := topology.FindAll(p.Nodes, m.Nodes.Find)
	if err != nil {
		return api.NodeConditionsResult{}, err
	}
	return m.Shown.Of(func(c api.NodeCondition) bool {
		return (p.Muted || !c.Muted) && (len(wanted) == 0 || slices.Contains(wanted, c.Node))
	}), nil
}

// eventsFor are the events as a caller may read them, once it is known what are any.
func (m Methods) eventsFor(ctx context.Context, c *server.Caller) (readEvents, error) {
	select {
	case <-m.Events.begun:
	case <-ctx.Done():
		return readEvents{}, ctx.Err()
	}
	return readEvents{m.Events, m.Reads(c)}, nil
}

// eventList is what happened lately.
func (m Methods) eventList(ctx context.Context, c *server.Caller, p api.EventSelect) (api.EventListResult, error) {
	events, err := m.eventsFor(ctx, c)
	if err != nil {
		return api.EventListResult{}, err
	}
	return events.Current().list(p), nil
}

// eventWatch is event.list, and every event after.
func (m Methods) eventWatch(ctx context.Context, c *server.Caller, p api.EventSelect) (api.EventWatchResult, error) {
	events, err := m.eventsFor(ctx, c)
	if err != nil {
		return api.EventWatchResult{}, err
	}
	sub, first, err := stream(c, events, newer,
		func(sub api.Subscription, n uint64, more []api.Event) any {
			return api.EventHappened{Sub: sub, N: n, Events: more}
		},
		func(sub api.Subscription) any { return api.EventHappened{Sub: sub, Lagged: true} })
	if err != nil {
		return api.EventWatchResult{}, err
	}
	return api.EventWatchResult{Sub: sub, EventListResult: first.list(p)}, nil
}
