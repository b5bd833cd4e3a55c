package methods

import (
	"context"
	"log/slog"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/profile"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/topology"
)

// Measure are the methods about measurements.
type Measure struct {
	Profiler *profile.Profiler
	Ledger   *ledger.Ledger
	Graph    func() topology.Graph
	Find     func(api.NodeRef) (api.NodeID, error)
	Log      *slog.Logger
}

// measurer is the caller as the profiler knows it.
func measurer(c *server.Caller) profile.Caller {
	return profile.Caller{Principal: c.Principal(), Admin: c.Class() == api.ClassAdmin}
}

// Handlers are the methods.
func (d Measure) Handlers() server.Handlers {
	return server.Handlers{
		"measure.gpu": server.Handle(func(ctx context.Context, c *server.Caller, p api.MeasureGPUParams) (api.MeasureStarted, error) {
			watch, err := d.Profiler.MeasureGPU(ctx, measurer(c), p)
			return follow(c, watch, err)
		}),
		"measure.link": server.Handle(func(ctx context.Context, c *server.Caller, p api.MeasureLinkParams) (api.MeasureStarted, error) {
			watch, err := d.Profiler.MeasureLink(ctx, measurer(c), p)
			return follow(c, watch, err)
		}),
		"rdma.probe": server.Handle(d.rdmaProbe),
		"measure.watch": server.Handle(func(ctx context.Context, c *server.Caller, p api.MeasureSelect) (api.MeasureStarted, error) {
			watch, err := d.Profiler.Watch(ctx, p)
			return follow(c, watch, err)
		}),
		"measure.get": server.Handle(func(ctx context.Context, _ *server.Caller, p api.MeasureSelect) (api.Measurement, error) {
			return d.Profiler.Get(ctx, p)
		}),
		"measure.list": server.Handle(func(ctx context.Context, _ *server.Caller, p api.Empty) (api.MeasureListResult, error) {
			return d.Profiler.List(ctx, p)
		}),
		"measure.cancel": server.Handle(func(ctx context.Context, c *server.Caller, p api.MeasureSelect) (api.Empty, error) {
			return d.Profiler.Cancel(ctx, measurer(c), p)
		}),
		"link.history": server.Handle(d.linkHistory),
		"link.mute":    server.Handle(d.linkMute),
	}
}

// follow sends a client what a measurement comes to, up to its one end.
func follow(c *server.Caller, watch *profile.Watch, err error) (api.MeasureStarted, error) {
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
	sub, err := server.Deliver(c, "progress", next, func() {}, func(sub api.Subscription, n uint64, s step) any {
		return api.MeasureChanged{Sub: sub, N: n, Measurement: s.now, Terminal: s.terminal}
	}, func(s step) bool { return s.terminal })
	return api.MeasureStarted{Sub: sub, Measurement: watch.Measurement}, err
}

// rdmaProbe is rdma.probe.
func (d Measure) rdmaProbe(ctx context.Context, c *server.Caller, p api.LinkSelect) (api.MeasureStarted, error) {
	cable, err := topology.FindCable(d.Graph().List().Cables, p.Link, d.Find)
	if err != nil {
		return api.MeasureStarted{}, err
	}
	if !cable.Link.Valid() {
		return api.MeasureStarted{}, api.Errorf(api.ReasonPeerUnknown, string(p.Link), "The machine at the other end does not run Fulmen, and a test needs both ends.")
	}
	watch, err := d.Profiler.MeasureCable(ctx, measurer(c), cable.Link)
	return follow(c, watch, err)
}

// linkHistory is what paths gave earlier.
func (d Measure) linkHistory(_ context.Context, _ *server.Caller, p api.LinkHistoryParams) (api.LinkHistoryResult, error) {
	result := api.LinkHistoryResult{Paths: []api.PathHistory{}}
	wanted := func(api.NodeID, api.LinkProfile) bool { return true }
	switch {
	case p.Link != "":
		cable, err := topology.FindCable(d.Graph().List().Cables, p.Link, d.Find)
		if err != nil {
			return result, err
		}
		wanted = func(_ api.NodeID, v api.LinkProfile) bool { return cable.Link.Valid() && v.Link == cable.Link }
	case p.Peer != "":
		peer, err := d.Find(p.Peer)
		if err != nil {
			return result, err
		}
		wanted = func(from api.NodeID, v api.LinkProfile) bool { return v.Peer == peer || from == peer }
	}
	result.Paths = profile.Histories(d.Ledger.List(ledger.Filter{Kinds: []api.Kind{api.KindLinkProfile}}), wanted)
	return result, nil
}

// linkMute mutes the warnings of a cable on this node, or no longer.
func (d Measure) linkMute(_ context.Context, c *server.Caller, p api.LinkMute) (api.Empty, error) {
	cable, err := topology.FindCable(d.Graph().List().Cables, p.Link, d.Find)
	if err != nil {
		return api.Empty{}, err
	}
	near, isHere := cable.Link.End(d.Ledger.Node())
	if !isHere {
		return api.Empty{}, api.Errorf(api.ReasonNoSuchLink, string(p.Link), "The cable has no end at this node, so its warnings are not this node's. Mute it at one of its ends.")
	}
	d.Log.Info("a cable's warnings were muted or unmuted", "uid", c.UID, "end", near.String(), "muted", p.Muted)
	return api.Empty{}, d.Profiler.Mute(cable.Link, cable.Link.Other(near).Node, p.Muted)
}
