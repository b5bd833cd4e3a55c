package daemon

import (
	"context"
	"os"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/api/worker"
	"fulmen/daemon/internal/facts"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/proc"
	"fulmen/daemon/internal/profile"
	"fulmen/daemon/internal/profile/probe"
	"fulmen/daemon/internal/profile/rdmaprobe"
	"fulmen/daemon/internal/simulate"
	"fulmen/daemon/internal/topology"
	"fulmen/native"
)

// openMeasurements makes what measures this node's GPU and paths, and answers
// those who measure theirs to it.
func (d *daemon) openMeasurements() {
	prober := probe.New(probe.Config{
		Peers: d.peers, Sockets: d.platform.Sockets, Clock: d.platform.Clock, Key: d.identity.Key(),
		Members: d.roster.PublicKey,
		Leave:   d.grants.Visit, Interface: simulate.WithLoopback(facts.Published{Ledger: d.ledger}.InterfaceOf), Log: d.logs.Part("profile"),
	})
	d.onClose(func() error { prober.Close(); return nil })
	d.openProber()
	ways := profile.PathsConfig{
		Node: d.identity.Node, Clock: d.platform.Clock, Graph: d.graph.Latest, Build: d.graph.Build, Members: d.roster.Members, Probes: func(end api.LinkEnd) int { return profile.ProbesOf(d.ledger, end) },
		Aged: func() { d.profiler.Recheck() }, Loopback: simulate.LoopbackInterface, LoopbackAddress: simulate.Loopback(),
	}
	if simulation := d.options.Simulation; simulation != nil {
		log := d.logs.Part("profile")
		ways.Record = func(g topology.Graph) profile.Recording { return simulation.Recorded(d.identity.Node, g, log) }
	}
	paths := profile.NewPaths(ways)
	config := profile.Config{
		Node: d.identity.Node, Clock: d.platform.Clock, Documents: ledger.Documents{Writer: d.writer.Owner("profile", api.KindGPUProfile, api.KindLinkProfile)}, // what is really measured is real, also on a simulated Mac
		Conditions: d.conditions,
		Worker:     d.worker, Launch: d.trust.Launch, Env: proc.WorkerEnvironment(os.Environ()), Circumstances: func(ctx context.Context) (api.MeasureConditions, map[string]api.Reason) {
			return facts.Circumstances(ctx, d.platform.Facts)
		},
		Turn: d.grants.Turn, Resolve: d.nodes.Find, Log: d.logs.Part("profile"),
		Peers: d.peers, Reached: d.node.Reached, Paths: paths.List, Look: paths.Look, Subjects: func(p api.MeasureLinkParams) ([]api.Key, error) {
			return paths.Subjects(p, d.graph.Build(), d.node.Reached(), d.nodes.Find)
		}, Probe: prober.Read,
		ProbeRDMA: d.prober.Read,
		Wanted:    func(kind api.Kind) bool { return d.ledger.Interested(kind, d.identity.Node) },
		Obstacle:  d.obstacle, System: facts.Published{Ledger: d.ledger}.System, Name: d.nodes.Name,
		TTL: func() (gpu, socket time.Duration) {
			current := d.live.Current().Measure
			return current.GPUTTL, current.SocketTTL
		},
	}
	config.Last, config.LastPaths = profile.LastOf(d.ledger.List(ledger.Filter{
		Kinds: []api.Kind{api.KindGPUProfile, api.KindLinkProfile}, Nodes: []api.NodeID{d.identity.Node},
	}), d.identity.Node)
	if d.options.Simulation != nil {
		config.Recorded, config.Simulated = paths.Recorded, d.owner("profile", api.KindGPUProfile, api.KindLinkProfile)
	}
	d.profiler = profile.New(config)
	d.onClose(func() error { d.profiler.Close(); return nil })
	d.asking = profile.NewAsking(d.platform.Clock, func() func() {
		return d.ledger.Want(ledger.Filter{Kinds: []api.Kind{api.KindGPUProfile, api.KindLinkProfile}})
	})
	d.onClose(func() error { d.asking.Close(); return nil })
}

// openProber makes what tests cables over RDMA.
func (d *daemon) openProber() {
	shown := rdmaprobe.Shown{
		Ledger: d.ledger, Clock: d.platform.Clock, Reread: func() { d.facts.Reread(native.AreaRDMA) }, Refused: d.deviceRefused,
		IsChanging:  func(end api.LinkEnd) bool { return d.rdma.IsChangingEnd(end) },
		IsRehearsal: d.options.Simulation != nil, Name: d.nodes.Name,
	}
	config := rdmaprobe.Config{
		Node: d.identity.Node, Clock: d.platform.Clock, Peers: d.peers, Channels: d.channels,
		Ready: shown.Ready, Hold: d.grants.VisitRDMA, Worker: d.worker, Env: proc.WorkerEnvironment(os.Environ()), Folder: d.folders.Runtime,
		Launch: d.trust.Launch,
		Opened: func(r api.PortNumber) {
			d.probes.Add(facts.BootID(context.Background(), d.platform.Clock, d.platform.Facts), r)
			d.facts.Reread(native.AreaRDMA)
		},
		Used:   d.cables.Used,
		Killed: func(r api.PortNumber) { d.cables.Killed(r, "a test of the cable") },
		Name:   d.nodes.Name, Log: d.logs.Part("profile"),
	}
	if simulation := d.options.Simulation; simulation != nil {
		config.Worker, config.IsRehearsal = simulation.Rehearse, true
	}
	d.prober = rdmaprobe.New(config)
	d.onClose(func() error { d.prober.Close(); return nil })
}

// learnMLX asks the worker what MLX there is, until it answers: a first start may be
// slow, and Metal may not be there before somebody has logged in.
func (d *daemon) learnMLX(ctx context.Context) {
	ask := func(ctx context.Context) proc.Record {
		return d.trust.Launch(ctx, proc.Command{
			Path: d.worker, Args: []string{string(worker.CommandInfo)}, Env: proc.WorkerEnvironment(os.Environ()), Deadline: profile.InfoDeadline,
		})
	}
	profile.AskMLX(ctx, d.platform.Clock, ask, func(info *worker.Info, why api.Reason, record proc.Record) {
		var mlx *facts.MLX
		if info != nil {
			mlx = facts.MLXOf(*info)
		} else {
			d.logs.Part("daemon").Warn("MLX could not be asked", "outcome", record.Outcome, "sentence", record.Sentence)
		}
		for _, code := range []api.Reason{api.ReasonMLXMissing, api.ReasonMLXNoAnswer} {
			d.conditions.Hold(code, "", code == why, record.Sentence)
		}
		d.facts.Learn(mlx, why)
	})
}
