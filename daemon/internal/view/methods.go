package view

import (
	"context"
	"errors"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/liveness"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/topology"
)

// Methods are those by which clients see what is derived.
type Methods struct {
	Ledger *ledger.Ledger
	Nodes  *Nodes
	Graph  *Graph
	Events *Events
	Shown  Shown
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
	var wanted []api.NodeID
	for _, ref := range p.Nodes {
		id, err := m.Nodes.Find(ref)
		if err != nil {
			return api.NodeConditionsResult{Conditions: []api.NodeCondition{}}, err
		}
		wanted = append(wanted, id)
	}
	isWanted := func(id api.NodeID) bool { return len(wanted) == 0 || slices.Contains(wanted, id) }
	return api.NodeConditionsResult{Conditions: m.Shown.Of(isWanted)}, nil
}

// linkList is the graph of the documents as they are now.
func (m Methods) linkList(context.Context, *server.Caller, api.Empty) (api.LinkListResult, error) {
	return m.Graph.Build().List(), nil
}

// linkGet is one cable with what was measured on it and its readiness for RDMA.
func (m Methods) linkGet(_ context.Context, _ *server.Caller, p api.LinkSelect) (api.LinkGetResult, error) {
	graph := m.Graph.Build()
	list := graph.List()
	cable, err := topology.FindCable(list.Cables, p.Link, m.Nodes.Find)
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
func (m Methods) linkWatch(_ context.Context, c *server.Caller, _ api.Empty) (api.LinkWatchResult, error) {
	sub, list, err := stream(c, m.Graph, topology.Diff,
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
func (m Methods) linkExport(_ context.Context, _ *server.Caller, p api.LinkExportParams) (api.LinkExportResult, error) {
	return m.Graph.Build().Export(p, m.Nodes.Find)
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
		func(sub api.Subscription, n uint64, news []api.Event) any {
			return api.EventHappened{Sub: sub, N: n, Events: news}
		},
		func(sub api.Subscription) any { return api.EventHappened{Sub: sub, Lagged: true} })
	if err != nil {
		return api.EventWatchResult{}, err
	}
	return api.EventWatchResult{Sub: sub, EventListResult: first.list(p)}, nil
}

// derived is something that is derived anew after every change.
type derived[V any] interface {
	// watch gives it as it is, and a channel with a token whenever it may have
	// become another.
	watch() (now V, wake <-chan struct{}, done func())
	// Current is it as it is.
	Current() V
}

// stream gives a client something derived, and what changes after it. tell makes
// the message of a change, lagged the last word of a subscription that is over.
func stream[V, C any](c *server.Caller, of derived[V], diff func(before, after V) (C, bool),
	tell func(sub api.Subscription, n uint64, change C) any, lagged func(api.Subscription) any,
) (sub api.Subscription, first V, err error) {
	s, err := c.Subscribe(lagged)
	if err != nil {
		return sub, first, err
	}
	first, wake, done := of.watch()
	go func() {
		defer s.End()
		defer done()
		for seen := first; ; {
			select {
			case <-s.Done():
				return
			case <-wake:
			}
			now := of.Current()
			change, changed := diff(seen, now)
			if !changed {
				continue
			}
			seen = now
			err := s.Send("", func(n uint64) any { return tell(s.Sub(), n, change) })
			if errors.Is(err, api.ReasonMessageTooLarge) {
				_ = s.Send("", func(uint64) any { return lagged(s.Sub()) }) // the last word
			}
			if err != nil {
				return
			}
		}
	}()
	return s.Sub(), first, nil
}
