package daemon

import (
	"context"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/profile"
	"fulmen/daemon/internal/profile/history"
	"fulmen/daemon/internal/server"
)

// measureHandlers are the methods about measurements.
func (d *daemon) measureHandlers() server.Handlers {
	return server.Handlers{
		"measure.gpu": server.Handle(func(ctx context.Context, c *server.Caller, p api.MeasureGPUParams) (api.MeasureStarted, error) {
			watch, err := d.profiler.MeasureGPU(ctx, d.caller(c), p)
			return d.follow(c, watch, err)
		}),
		"measure.link": server.Handle(func(ctx context.Context, c *server.Caller, p api.MeasureLinkParams) (api.MeasureStarted, error) {
			watch, err := d.profiler.MeasureLink(ctx, d.caller(c), p)
			return d.follow(c, watch, err)
		}),
		"rdma.probe": server.Handle(d.rdmaProbe),
		"measure.watch": server.Handle(func(ctx context.Context, c *server.Caller, p api.MeasureSelect) (api.MeasureStarted, error) {
			watch, err := d.profiler.Watch(ctx, p)
			return d.follow(c, watch, err)
		}),
		"measure.get": server.Handle(func(ctx context.Context, _ *server.Caller, p api.MeasureSelect) (api.Measurement, error) {
			return d.profiler.Get(ctx, p)
		}),
		"measure.list": server.Handle(func(ctx context.Context, _ *server.Caller, p api.Empty) (api.MeasureListResult, error) {
			return d.profiler.List(ctx, p)
		}),
		"measure.cancel": server.Handle(func(ctx context.Context, c *server.Caller, p api.MeasureSelect) (api.Empty, error) {
			return d.profiler.Cancel(ctx, d.caller(c), p)
		}),
		"link.history": server.Handle(d.linkHistory),
		"link.mute":    server.Handle(d.linkMute),
	}
}

// follow sends a client what a measurement comes to, up to its one end.
func (d *daemon) follow(c *server.Caller, watch *profile.Watch, err error) (api.MeasureStarted, error) {
	if err != nil {
		return api.MeasureStarted{}, err
	}
	type step struct {
		now      api.Measurement
		terminal bool
	}
	next := func(ctx context.Context) (s step, err error) {
		s.now, s.terminal, err = watch.Next(ctx)
		return s, err
	}
	sub, err := deliver(c, "progress", next, func() {}, func(sub api.Subscription, n uint64, s step) any {
		return api.MeasureChanged{Sub: sub, N: n, Measurement: s.now, Terminal: s.terminal}
	}, func(s step) bool { return s.terminal })
	return api.MeasureStarted{Sub: sub, Measurement: watch.Measurement}, err
}

// subjects are the paths that a person means, each as the document of the node
// that measures it.
func (d *daemon) subjects(p api.MeasureLinkParams) ([]api.Key, error) {
	graph, self := d.graph.build(), d.identity.Node
	cables := graph.List().Cables
	links, peers := map[api.LinkID]bool{}, map[api.NodeID]bool{}
	for _, ref := range p.Links {
		cable, err := findCable(cables, ref, d.find)
		if err != nil {
			return nil, err
		}
		links[cable.Link] = cable.Link.Valid()
	}
	for _, ref := range p.Peers {
		peer, err := d.find(ref)
		if err != nil {
			return nil, err
		}
		peers[peer] = true
	}
	wanted := func(a, b api.NodeID, link api.LinkID) bool {
		isOwn := a == self || b == self
		isAnybody := len(links) == 0 && len(peers) == 0
		return p.All || links[link] || isOwn && (isAnybody || peers[a] || peers[b])
	}
	var keys []api.Key
	for _, node := range (sight{d}).Reached() {
		owned, _ := graph.Owned(node)
		for _, path := range owned {
			if !path.Stale && path.State != api.PathFailed && wanted(path.From, path.To, path.Link) {
				name := api.PeerAddress{Peer: path.To, Address: path.Address}.String()
				keys = append(keys, api.Key{Node: node, Kind: api.KindLinkProfile, Name: name})
			}
		}
	}
	for _, c := range cables {
		if p.RDMA && c.Link.Valid() && !c.Stale && wanted(c.Link.Low.Node, c.Link.High.Node, c.Link) {
			keys = append(keys, api.Key{Node: c.Link.Low.Node, Kind: api.KindLinkProfile, Name: c.Link.String()})
		}
	}
	if p.All && d.options.Simulation != nil {
		lowest := slices.Min(d.roster.Members())
		keys = append(keys, api.Key{Node: lowest, Kind: api.KindLinkProfile, Name: api.PeerAddress{Peer: lowest, Address: loopback()}.String()})
	}
	return keys, nil
}

// linkHistory is what paths gave earlier.
func (d *daemon) linkHistory(_ context.Context, _ *server.Caller, p api.LinkHistoryParams) (api.LinkHistoryResult, error) {
	result := api.LinkHistoryResult{Paths: []api.PathHistory{}}
	wanted := func(api.NodeID, api.LinkProfile) bool { return true }
	switch {
	case p.Link != "":
		cable, err := findCable(d.graph.build().List().Cables, p.Link, d.find)
		if err != nil {
			return result, err
		}
		wanted = func(_ api.NodeID, v api.LinkProfile) bool { return cable.Link.Valid() && v.Link == cable.Link }
	case p.Peer != "":
		peer, err := d.find(p.Peer)
		if err != nil {
			return result, err
		}
		wanted = func(from api.NodeID, v api.LinkProfile) bool { return v.Peer == peer || from == peer }
	}
	for _, record := range d.ledger.List(ledger.Filter{Kinds: []api.Kind{api.KindLinkProfile}}) {
		var v api.LinkProfile
		key := record.Key()
		if record.Decode(&v) != nil || v.MeasuredAt.IsZero() && len(v.History) == 0 || !wanted(key.Node, v) {
			continue
		}
		result.Paths = append(result.Paths, api.PathHistory{
			LinkRowKey: api.LinkRowKey{From: key.Node, To: v.Peer, Transport: v.Transport, Name: key.Name},
			Best:       v.Best, Median: v.Median, Results: history.Results(v),
		})
	}
	return result, nil
}

// linkMute mutes the warnings of a cable on this node, or no longer.
func (d *daemon) linkMute(_ context.Context, c *server.Caller, p api.LinkMute) (api.Empty, error) {
	cable, err := findCable(d.graph.build().List().Cables, p.Link, d.find)
	if err != nil {
		return api.Empty{}, err
	}
	near, isHere := cable.Link.End(d.identity.Node)
	if !isHere {
		return api.Empty{}, api.Errorf(api.ReasonNoSuchLink, string(p.Link), "The cable has no end at this node, so its warnings are not this node's. Mute it at one of its ends.")
	}
	d.logs.part("profile").Info("a cable's warnings were muted or unmuted", "uid", c.UID, "end", near.String(), "muted", p.Muted)
	peer := cable.Link.Low.Node
	if near == cable.Link.Low {
		peer = cable.Link.High.Node
	}
	return api.Empty{}, d.profiler.Mute(cable.Link, peer, p.Muted)
}
