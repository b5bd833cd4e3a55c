package daemon

import (
	"context"
	"net/netip"
	"os"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/profile"
	"fulmen/daemon/internal/profile/probe"
)

// openMeasurements makes what measures this node's GPU and paths, and answers
// those who measure theirs to it.
func (d *daemon) openMeasurements() {
	prober := probe.New(probe.Config{
		Peers: d.peers, Sockets: d.platform.Sockets, Clock: d.platform.Clock, Key: d.identity.Key(),
		Members: func(id api.NodeID) ([]byte, bool) { return d.publicKey(id) },
		Leave:   d.grants.leave, Interface: d.interfaceOf, Log: d.logs.part("profile"),
	})
	d.onClose(func() error { prober.Close(); return nil })
	d.openProber()
	paths := &measured{daemon: d, first: map[string]time.Duration{}}
	config := profile.Config{
		Node: d.identity.Node, Clock: d.platform.Clock, Documents: d.realDocuments(), Conditions: d.health,
		Worker: d.worker, Launch: d.launch, Env: workerEnvironment(os.Environ()), Circumstances: d.circumstances,
		Turn: d.grants.turn, Resolve: d.find, Log: d.logs.part("profile"),
		Peers: d.peers, Reached: sight{d}.Reached, Paths: paths.list, Subjects: d.subjects, Probe: probeWith(prober),
		ProbeRDMA: d.probeRDMA,
		Wanted:    func(kind api.Kind) bool { return d.ledger.Interested(kind, d.identity.Node) },
		Obstacle:  d.obstacle, System: d.system, Name: d.shortNameOf,
		TTL: func() (gpu, socket time.Duration) {
			current := d.live.Current().Measure
			return current.GPUTTL, current.SocketTTL
		},
	}
	config.Last, config.LastPaths = d.lastProfiles()
	if d.options.Simulation != nil {
		config.Scenario = &recordings{documents: d.owner("profile", api.KindGPUProfile, api.KindLinkProfile), paths: paths}
	}
	d.profiler = profile.New(config)
	d.onClose(func() error { d.profiler.Close(); return nil })
	d.asking = &asking{want: func() func() {
		return d.ledger.Want(ledger.Filter{Kinds: []api.Kind{api.KindGPUProfile, api.KindLinkProfile}})
	}, clock: d.platform.Clock}
	d.onClose(func() error { d.asking.close(); return nil })
}

// realDocuments are those of what was really measured, also on a simulated Mac.
func (d *daemon) realDocuments() documents {
	return documents{writer: d.writer.Owner("profile", api.KindGPUProfile, api.KindLinkProfile)}
}

// lastProfiles are the measurements from before a restart.
func (d *daemon) lastProfiles() (gpu *api.GPUProfile, paths map[string]api.LinkProfile) {
	gpu, paths = new(api.GPUProfile), map[string]api.LinkProfile{}
	if !d.own(api.KindGPUProfile, gpu) {
		gpu = nil
	}
	for _, record := range d.ledger.List(ledger.Filter{Kinds: []api.Kind{api.KindLinkProfile}, Nodes: []api.NodeID{d.identity.Node}}) {
		var one api.LinkProfile
		if record.Decode(&one) == nil {
			paths[record.Key().Name] = one
		}
	}
	return gpu, paths
}

// recheckMeasurements has the profiler look again.
func (d *daemon) recheckMeasurements() {
	if d.profiler != nil {
		d.profiler.Recheck()
	}
}

// system is what this node runs, as its identity document has it.
func (d *daemon) system() (osBuild, mlx string) {
	var identity api.Identity
	d.own(api.KindIdentity, &identity)
	return identity.OSBuild, identity.MLXVersion
}

// interfaceOf is this node's interface that has an address.
func (d *daemon) interfaceOf(sink netip.Addr) (iface string, ok bool) {
	if sink.IsLoopback() {
		return loopbackInterface, true
	}
	var network api.Network
	d.own(api.KindNetwork, &network)
	for _, i := range network.Interfaces {
		if slices.ContainsFunc(i.Addresses, func(a api.InterfaceAddress) bool { return a.Address.Addr().WithZone("") == sink.WithZone("") }) {
			return i.Name, true
		}
	}
	return "", false
}

// probeWith is the prober in the form that the profiler has use for.
func probeWith(prober *probe.Prober) profile.Probe {
	return func(ctx context.Context, id api.MeasureID, path profile.Path, full bool, progress func(string, float64)) (profile.Reading, error) {
		amount := probe.AmountRefresh
		if full {
			amount = probe.AmountFull
		}
		r, err := prober.Measure(ctx, id, probe.Path{
			Peer: path.Peer, Interface: path.Interface, Source: path.Source, Sink: path.Sink, Streams: path.Streams,
		}, amount, progress)
		return profile.Reading{
			UpBitsPerS: r.UpBitsPerS, DownBitsPerS: r.DownBitsPerS, RTTUS: r.RTTUS, JitterUS: r.JitterUS, LossRatio: r.LossRatio,
			RTTSamples: r.RTTSamples, Streams: r.Streams, MovedBytes: r.MovedBytes,
		}, err
	}
}
