package daemon

import (
	"context"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/profile"
	"fulmen/daemon/internal/profile/rdmaprobe"
	"fulmen/daemon/internal/relay/sidechannel"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/topology"
	"fulmen/native"
)

// openProber makes what tests cables over RDMA.
func (d *daemon) openProber() {
	config := rdmaprobe.Config{
		Node: d.identity.Node, Clock: d.platform.Clock, Peers: d.peers, Channels: probeChannels{d.channels},
		Ready: d.rdmaReady, Hold: d.grants.VisitRDMA, Worker: d.worker, Env: workerEnvironment(os.Environ()), Folder: d.folders.Runtime,
		Launch: d.launch,
		Opened: d.probeOpened,
		Used:   func(r api.Receptacle) { d.cables.Used(r) },
		Killed: func(r api.Receptacle) { d.cables.Killed(r, "a test of the cable") },
		Name:   d.shortNameOf, Log: d.logs.part("profile"),
	}
	if simulation := d.options.Simulation; simulation != nil {
		config.Worker, config.IsRehearsal = simulation.Rehearse, true
	}
	d.prober = rdmaprobe.New(config)
	d.onClose(func() error { d.prober.Close(); return nil })
}

// probeChannels are the side channels in the form that tests have use for.
type probeChannels struct{ *sidechannel.Channels }

// Open is the prober's. A test has no home that could change: its epoch is 1.
func (c probeChannels) Open(rank api.RankRef, nodes []api.NodeID, within time.Duration) (netip.AddrPort, error) {
	return c.Channels.Open(sidechannel.Channel{Rank: rank, Epoch: 1, Nodes: nodes, Within: within})
}

// probeRDMA is the prober in the form that the profiler has use for.
func (d *daemon) probeRDMA(ctx context.Context, id api.MeasureID, path profile.Path, progress func(string, float64)) (profile.Reading, error) {
	r, err := d.prober.Measure(ctx, id, path.Link, progress)
	if err != nil || len(r.Sizes) == 0 {
		return profile.Reading{}, err
	}
	return profile.Reading{
		UpBitsPerS: &r.UpBitsPerS, DownBitsPerS: &r.DownBitsPerS, RTTUS: &r.RTTUS, JitterUS: &r.JitterUS,
		RTTSamples: r.RTTSamples, MovedBytes: r.MovedBytes, Sizes: r.Sizes,
	}, nil
}

const (
	// showsWithin is how long documents may stay behind a change for RDMA that has
	// just been made, and showsAgain is between two looks.
	showsWithin = 2 * time.Second
	showsAgain  = 50 * time.Millisecond
)

// rdmaReady is the RDMA device of an end of this node that a test can use now, or
// why there is none, as the documents have it.
func (d *daemon) rdmaReady(ctx context.Context, end api.LinkEnd) (device string, fault *api.Error) {
	reread := sync.OnceFunc(func() { d.facts.Reread(native.AreaRDMA) })
	for late := d.platform.Clock.Boot() + showsWithin; ; reread() {
		device, fault = d.rdmaShown(ctx, end)
		if fault == nil || !mayShow(fault.Data.Reason) || d.platform.Clock.Boot() > late || !native.Pause(ctx, d.platform.Clock, showsAgain) {
			return device, fault
		}
	}
}

// mayShow reports whether what is missing may be there, and not published yet.
func mayShow(why api.Reason) bool {
	return why == api.ReasonRDMANoDevice || why == api.ReasonRDMAPortDown || why == api.ReasonRDMANoIPv4GID
}

// rdmaShown is the same as it is published now.
func (d *daemon) rdmaShown(ctx context.Context, end api.LinkEnd) (device string, fault *api.Error) {
	where := d.shortNameOf(end.Node) + ":" + end.Receptacle.String()
	var now api.RDMA
	record, found := d.ledger.Get(api.Key{Node: d.identity.Node, Kind: api.KindRDMA, Name: end.Receptacle.String()})
	if end.Node != d.identity.Node || !found || record.Decode(&now) != nil || now.Device == nil || now.Device.Name == "" {
		return "", api.Errorf(api.ReasonRDMANoDevice, end.String(), "%s shows no RDMA device.", where)
	}
	if d.changes.IsChangingEnd(end) {
		return "", api.Errorf(api.ReasonLinkBusy, end.String(), "RDMA is being changed at %s.", where)
	}
	if why, _ := d.deviceRefusal(ctx, []api.Receptacle{end.Receptacle}); why != "" {
		return "", api.Errorf(why, end.String(), "The RDMA device of %s cannot be used: a program that had it was killed.", where)
	}
	var identity api.Identity
	switch {
	case now.Device.PortState != "" && now.Device.PortState != api.RDMAPortActive:
		return "", api.Errorf(api.ReasonRDMAPortDown, end.String(), "The RDMA port of %s is %s, not active.", where, now.Device.PortState)
	case now.Device.GIDs != nil && !slices.ContainsFunc(now.Device.GIDs, func(g api.GID) bool { return g.Address.Is4In6() }):
		return "", api.NewError(api.ReasonRDMANoIPv4GID, end.String())
	case d.options.Simulation != nil:
	case d.own(api.KindIdentity, &identity) && identity.MLXBackends != nil && !slices.Contains(identity.MLXBackends, api.MLXBackendJACCL):
		return "", api.Errorf(api.ReasonJACCLMissing, string(end.Node), "MLX on %s has no JACCL.", d.shortNameOf(end.Node))
	}
	return now.Device.Name, nil
}

// rdmaProbe is rdma.probe.
func (d *daemon) rdmaProbe(ctx context.Context, c *server.Caller, p api.LinkSelect) (api.MeasureStarted, error) {
	cable, err := topology.FindCable(d.graph.Build().List().Cables, p.Link, d.find)
	if err != nil {
		return api.MeasureStarted{}, err
	}
	if !cable.Link.Valid() {
		return api.MeasureStarted{}, api.Errorf(api.ReasonPeerUnknown, string(p.Link), "What is plugged in at the other end runs no Fulmen, and a test needs both ends.")
	}
	watch, err := d.profiler.MeasureCable(ctx, d.caller(c), cable.Link)
	return d.follow(c, watch, err)
}

// probeCable tests a cable of this node over RDMA and says whether it works. The
// error is an *api.Error.
func (d *daemon) probeCable(ctx context.Context, link api.LinkID) error {
	watch, err := d.profiler.MeasureCable(ctx, profile.Caller{}, link)
	if err != nil {
		return err
	}
	for {
		m, terminal, err := watch.Next(ctx)
		switch {
		case err != nil:
			_, _ = d.profiler.Cancel(context.WithoutCancel(ctx), profile.Caller{Admin: true}, api.MeasureSelect{Measurement: watch.Measurement.ID}) // nobody waits for it any more
			return api.AsError(context.Cause(ctx))
		case !terminal:
		case m.Items[0].Error != nil:
			return m.Items[0].Error
		case m.Items[0].State != api.MeasureDone:
			return api.NewError(api.ReasonCancelled, link.String())
		default:
			return nil
		}
	}
}

// probesOf counts the tests of an end since its Mac started, as its node says.
func (d *daemon) probesOf(end api.LinkEnd) int {
	var r api.RDMA
	record, found := d.ledger.Get(api.Key{Node: end.Node, Kind: api.KindRDMA, Name: end.Receptacle.String()})
	if !found || record.Decode(&r) != nil {
		return 0
	}
	return r.ProbesSinceBoot
}

// probeOpened counts a test that has opened a device.
func (d *daemon) probeOpened(r api.Receptacle) {
	bootID := d.bootID(context.Background())
	d.probes.Add(bootID, r)
	d.facts.Reread(native.AreaRDMA)
}
