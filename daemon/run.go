package daemon

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/node"
	"fulmen/daemon/internal/cluster/policy"
	"fulmen/daemon/internal/endpoint"
	"fulmen/daemon/internal/facts"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/grant/lend"
	"fulmen/daemon/internal/health"
	"fulmen/daemon/internal/job"
	"fulmen/daemon/internal/job/attach"
	"fulmen/daemon/internal/lifecycle"
	"fulmen/daemon/internal/logs"
	"fulmen/daemon/internal/methods"
	"fulmen/daemon/internal/model"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/profile"
	"fulmen/daemon/internal/profile/rdmaprobe"
	"fulmen/daemon/internal/rank"
	"fulmen/daemon/internal/rank/prepare"
	"fulmen/daemon/internal/rdma"
	"fulmen/daemon/internal/rdma/useractions"
	"fulmen/daemon/internal/relay"
	"fulmen/daemon/internal/relay/sidechannel"
	"fulmen/daemon/internal/server/token"
	"fulmen/daemon/internal/view"
	"fulmen/native"
	"fulmen/native/waker"
)

// Run runs a daemon until ctx ends, and then stops it in order. An error before
// it was ready says what is in the way and what to do.
func Run(ctx context.Context, options Options) error { return newDaemon(options).run(ctx) }

func newDaemon(options Options) *daemon {
	return &daemon{base: &base{options: options, started: time.Now(), damaged: make(chan error, 1), changes: waker.New()}}
}

func (d *daemon) run(ctx context.Context) error {
	defer d.close()
	err := d.base.open(ctx)
	if errors.Is(err, lifecycle.ErrStaysStopped) {
		return nil
	}
	if err == nil {
		err = d.open(ctx)
	}
	if err != nil {
		return err
	}
	if err = d.serve(ctx); wasAsked(ctx, err) {
		d.thisRun.Ended()
	}
	return err
}

// wasAsked reports whether a run ended because somebody wanted it to. One that fails
// is as unexpected as one that dies.
func wasAsked(ctx context.Context, err error) bool {
	return ctx.Err() != nil || err == nil || errors.Is(err, ErrRestart) || errors.Is(err, ErrRestartProgram)
}

// daemon is the parts of a running daemon.
type daemon struct {
	*base

	policy      *policy.Policy
	gate        *gate.Gate
	node        *node.Node
	self        *policy.Self
	nodes       *view.Nodes
	peers       *peer.Peers
	sharing     policy.Now
	grants      *lend.Lender
	preparer    *prepare.Preparer
	programs    *prepare.Programs
	models      *model.Models
	ranks       *rank.Ranks
	jobs        *job.Jobs
	attach      *attach.Attach
	instances   *methods.Instances
	watchedJobs *job.WatchedJobs
	publisher   *relay.Relay
	endpoint    *endpoint.Endpoint
	entrance    string // where that answers, as clients of OpenAI's API have it
	departure   lifecycle.Departure
	output      *health.Output
	channels    *sidechannel.Channels
	// restart has the daemon begin anew, once everything that runs has ended.
	restart     func()
	facts       *facts.Owner
	profiler    *profile.Profiler
	rdma        *rdma.Owner
	prober      *rdmaprobe.Prober
	probes      *profile.ProbeCount
	asking      *profile.Asking
	cables      *health.Cables
	graph       *view.Graph
	shown       view.Shown
	userActions *useractions.UserActions
	requests    *useractions.Requests
	events      *view.Events
	tokens      *token.Book
	address     Address // set before clients can connect
	thisRun     *lifecycle.Run
	reported    lifecycle.Reported

	capabilities native.Capabilities // as they were at the start
}

// open makes the owners of facts and what serves clients.
func (d *daemon) open(ctx context.Context) error {
	name, err := d.records.Name().Load()
	if err != nil {
		return err
	}
	probes, err := d.records.Probes().Load()
	if err != nil {
		return err
	}
	d.probes = profile.CountProbes(d.identity.Node, probes, d.records.Probes().Save, d.conditions, d.logs.Part("profile"))
	d.probes.Notify(facts.BootID(ctx, d.platform.Clock, d.platform.Facts))
	var clock health.ClockWatch
	look := func() {
		if step := clock.Look(d.platform.Clock); step != 0 {
			d.logs.Part("daemon").Warn("the wall clock was set", "by", step)
			d.conditions.Raise(api.ReasonClockStepped, "by "+step.Round(time.Second).String())
			d.node.CompareClocks()
		}
	}
	published := d.owner("facts", api.KindIdentity, api.KindMemory, api.KindSystem, api.KindNetwork, api.KindThunderbolt, api.KindRDMA)
	published.Before, published.Settled = look, true
	static := facts.Static{
		PublicKey: d.identity.Public(), FulmenVersion: d.options.Version, Protocol: api.Protocol, StartedAt: api.TimeOf(d.started),
		FriendlyName: name, ShortName: func(computer string) string {
			return view.OwnShortName(d.ledger, d.roster.Current().Members(), computer)
		}, Probes: d.probes.Since,
		Ours: func(id string) bool { return d.rdma.Ours(id) },
	}
	if d.options.Simulation != nil {
		static.Platform = api.PlatformDarwin // what is simulated are Macs
	}
	d.facts = facts.New(d.platform.Facts, published, static, d.logs.Part("facts"))
	if err := d.openCables(ctx); err != nil {
		return err
	}
	if err := d.openCluster(); err != nil {
		return err
	}
	if err := d.openViews(); err != nil {
		return err
	}
	if err := d.openJobs(); err != nil {
		return err
	}
	d.openMeasurements()
	d.openChanges()
	d.events = view.NewEvents(view.EventsConfig{
		Clock: d.platform.Clock, Ledger: d.ledger, Nodes: d.nodes, Graph: d.graph, Shown: d.shown, Jobs: d.jobs, Begun: d.facts.Begun(),
	})
	d.tokens, err = token.Open(d.records, d.platform.Clock, d.logs.Part("server"))
	if err != nil {
		return err
	}
	d.reported = lifecycle.Reported{
		Live: d.live, IsFull: d.database.IsFull, State: d.folders.State, Conditions: d.conditions,
	}
	d.reported.Notify()
	if d.capabilities, err = d.platform.Facts.Capabilities(ctx); err != nil {
		d.logs.Part("daemon").Warn("the platform does not tell what it can do", "error", err)
	} else if code, why := facts.MissesPressure(d.platform.Name, d.capabilities); code != "" {
		d.conditions.Raise(code, why)
	}
	d.trust.Look(d.logs.Part("daemon"), d.program, d.shim, d.worker)
	d.thisRun = lifecycle.Begin(lifecycle.RunConfig{
		Clock: d.platform.Clock, File: d.folders.LifeFile(), Program: d.program, Logs: filepath.Join(d.folders.Logs, logs.File),
		Conditions: d.conditions, Log: d.logs.Part("daemon"),
	})
	d.onClose(d.thisRun.Close)
	if aside := d.database.Quarantined(); aside != nil {
		d.conditions.Raise(api.ReasonStateCorrupt, aside.Consequence())
	}
	if d.options.WasRemoved {
		d.conditions.Raise(api.ReasonRemoved, "it is alone now, and has a new key with which it can be paired again")
	}
	if d.moved != nil {
		d.conditions.Raise(api.ReasonKeyOnOtherHardware, "the old key is kept as "+d.moved.File)
	}
	return nil
}
