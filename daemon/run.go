package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/audit"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/cluster/node"
	"fulmen/daemon/internal/cluster/policy"
	"fulmen/daemon/internal/config"
	"fulmen/daemon/internal/facts"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/grant/lend"
	"fulmen/daemon/internal/health"
	"fulmen/daemon/internal/home"
	"fulmen/daemon/internal/job"
	"fulmen/daemon/internal/job/attach"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/lifecycle"
	"fulmen/daemon/internal/logs"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/profile"
	"fulmen/daemon/internal/profile/rdmaprobe"
	"fulmen/daemon/internal/rank"
	"fulmen/daemon/internal/rank/prepare"
	"fulmen/daemon/internal/rank/programs"
	"fulmen/daemon/internal/rdma"
	"fulmen/daemon/internal/rdma/trips"
	"fulmen/daemon/internal/relay"
	"fulmen/daemon/internal/relay/sidechannel"
	"fulmen/daemon/internal/server/token"
	"fulmen/daemon/internal/storage"
	"fulmen/daemon/internal/store"
	"fulmen/daemon/internal/view"
	"fulmen/native"
)

// openDeadline bounds the opening of the database, which another process can
// hold, and the first reading of the machine's identity.
const openDeadline = 10 * time.Second

// Run runs a daemon until ctx ends, and then stops it in order. An error before
// it was ready says what is in the way and what to do.
func Run(ctx context.Context, options Options) error {
	err := (&daemon{options: options, started: time.Now(), damaged: make(chan error, 1), reconfigured: make(woken, 1), filled: make(woken, 1)}).run(ctx)
	if errors.Is(err, lifecycle.ErrStaysStopped) {
		return nil
	}
	return err
}

func (d *daemon) run(ctx context.Context) error {
	defer d.close()
	for _, step := range []func(context.Context) error{d.findFolders, d.awaitStart, d.openFolders, d.openPlatform, d.openState, d.openAudit, d.openLedger, d.openParts} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	err := d.serve(ctx)
	if wasAsked(ctx, err) {
		d.thisRun.Ended()
	}
	return err
}

// daemon is the parts of a running daemon.
type daemon struct {
	options   Options
	started   time.Time
	closers   []func() error
	folders   home.Folders
	live      *config.Live
	logs      *logs.Logs
	platform  native.Platform
	database  *store.Store
	records   storage.Records
	damaged   chan error // gets why, once, when the database turns out to be damaged
	identity  cluster.Identity
	moved     *cluster.Moved
	roster    *node.Holder
	policy    *policy.Policy
	gate      *gate.Gate
	node      *node.Node
	self      *policy.Self
	nodes     *view.Nodes
	peers     *peer.Peers
	lending   policy.Now
	grants    *lend.Lender
	preparer  *prepare.Preparer
	programs  *programs.Programs
	ranks     *rank.Ranks
	jobs      *job.Jobs
	attach    *attach.Attach
	attended  *job.Attended
	publisher *relay.Publisher
	departure lifecycle.Departure
	output    *health.Output
	channels  *sidechannel.Channels
	// restart has the daemon begin anew, once everything that runs has ended.
	restart    func()
	ledger     *ledger.Ledger
	writer     *ledger.Writer
	behind     *storage.Behind
	over       *health.Quota
	health     *health.Health
	conditions health.Own
	facts      *facts.Owner
	profiler   *profile.Profiler
	changes    *rdma.Owner
	prober     *rdmaprobe.Prober
	probes     *profile.ProbeCount
	asking     *profile.Asking
	cables     *health.Cables
	graph      *view.Graph
	shown      view.Shown
	trips      *trips.Trips
	requests   *trips.Requests
	events     *view.Events
	audit      *audit.Log
	tokens     *token.Book
	worker     string
	program    string  // this one; it is every rank's shim too
	address    Address // set before clients can connect
	clock      health.ClockWatch
	thisRun    *lifecycle.Run
	trust      lifecycle.Trust

	capabilities native.Capabilities // as they were at the start
	// reconfigured and filled are woken where the configuration's conditions, and that
	// of a full disk, may be otherwise.
	reconfigured, filled woken
}

// onClose has something done at the end, the last opened first.
func (d *daemon) onClose(f func() error) { d.closers = append(d.closers, f) }

func (d *daemon) close() {
	for i := len(d.closers) - 1; i >= 0; i-- {
		if err := d.closers[i](); err != nil && d.logs != nil {
			d.logs.Part("daemon").Warn("closing", "error", err)
		}
	}
}

// findFolders finds the folders, before the configuration may move some of them.
func (d *daemon) findFolders(context.Context) error {
	folders, err := home.Resolve(d.environment())
	if err != nil {
		return err
	}
	d.folders = folders
	if err := folders.Create(); err != nil {
		return err
	}
	if folders.Logs == api.MacLogFolder && folders.CheckFile(folders.Logs) == nil {
		// Also for a daemon that launchd starts again and again, and that gets no further.
		_ = logs.RotateErrors(folders.Logs) // it is no reason not to run
	}
	return folders.Check()
}

// openFolders reads the configuration and locks the folders.
func (d *daemon) openFolders(context.Context) error {
	var err error
	d.live, err = config.Open(d.folders.ConfigFile(), config.Options{Trust: d.folders.CheckFile, Report: func(config.Status) { d.reconfigured.wake() }})
	if err != nil {
		return err
	}
	d.onClose(d.live.Close)
	current := d.live.Current()
	d.folders = d.folders.With(current.Paths.State, current.Paths.Logs)
	if err := errors.Join(d.folders.Create(), d.folders.Check()); err != nil {
		return err
	}
	lock, err := d.folders.Lock()
	if err != nil {
		return err
	}
	d.onClose(lock.Release)
	if simulation := d.options.Simulation; simulation != nil {
		// After the lock, which the socket's folder shares with a real daemon.
		if d.folders.State, err = simulation.Folder(d.folders.State); err != nil {
			return err
		}
		if err := errors.Join(d.folders.Create(), d.folders.Check()); err != nil {
			return err
		}
	}
	file, err := logs.OpenFile(d.folders.Logs, current.Limits.LogBytes)
	if err != nil {
		return home.Explain(err, "write", filepath.Join(d.folders.Logs, logs.File))
	}
	d.onClose(file.Close)
	out := io.Writer(file)
	if d.options.Log != nil {
		out = io.MultiWriter(file, d.options.Log)
	}
	d.logs = logs.New(out, current.Log)
	_, cancel := d.live.Subscribe(config.Subscriber{Name: "log", Commit: func(next config.Config) { d.logs.Set(next.Log) }})
	d.onClose(func() error { cancel(); return nil })
	return nil
}

// openPlatform opens the system, and finds the worker.
func (d *daemon) openPlatform(context.Context) error {
	platform, err := d.options.Platform, error(nil)
	host := func() (native.Platform, error) { return systemPlatform(filepath.Join(d.folders.Runtime, "units")) }
	switch {
	case d.options.Simulation != nil:
		platform, err = d.options.Simulation.Platform(host)
	case platform.Name == "":
		platform, err = host()
	}
	if err != nil {
		return err
	}
	if platform, err = platform.Complete(); err != nil {
		return err
	}
	d.platform = platform
	d.onClose(platform.Close)
	if d.program, err = os.Executable(); err != nil {
		return err
	}
	d.worker = d.live.Current().Paths.Worker
	if d.worker == "" {
		d.worker = d.options.Worker
	}
	if d.worker == "" {
		d.worker = filepath.Join(filepath.Dir(d.program), "fulmen-rank")
	}
	d.trust = lifecycle.Trust{Folders: d.folders, Clock: platform.Clock, Refused: func(detail string) {
		d.conditions.Raise(api.ReasonInsecurePermissions, detail)
	}}
	d.platform.Supervisor = d.trust.Supervisor(d.platform.Supervisor)
	return nil
}

// openState opens the database and the node's key.
func (d *daemon) openState(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, openDeadline)
	defer cancel()
	var err error
	d.database, err = store.Open(ctx, d.folders.DatabaseFile(), store.Options{
		Buckets: storage.Buckets(), MaxBytes: int64(d.live.Current().Limits.DatabaseBytes), OnDamage: func(err error) { d.damaged <- err }, OnFull: d.filled.wake,
	})
	if err != nil {
		return err
	}
	d.onClose(d.database.Close)
	d.records = storage.Records{DB: d.database}
	snapshot, err := d.platform.Facts.Snapshot(ctx, native.AreaIdentity)
	if err != nil {
		return fmt.Errorf("this machine cannot be identified: %w", err)
	}
	hardware := ""
	if snapshot.Identity != nil {
		hardware = snapshot.Identity.HardwareID
	}
	opened, err := cluster.OpenIdentity(d.folders.State, hardware, time.Now())
	if err != nil {
		return err
	}
	d.identity, d.moved = opened.Identity, opened.Moved
	roster, _, err := cluster.OpenRoster(d.records, d.identity, time.Now())
	if err != nil {
		return err
	}
	d.roster = node.NewHolder(roster, d.records)
	return nil
}

// openLedger opens the ledger on what is stored.
func (d *daemon) openLedger(context.Context) error {
	d.behind = storage.NewBehind(d.records, d.identity.Node, d.platform.Clock, d.logs.Part("ledger"))
	d.onClose(d.behind.Close)
	d.over = health.NewQuota(d.platform.Clock, func() []ledger.Over { return d.ledger.OverQuota() }, d.nameOf,
		func(detail string) { d.conditions.Set(api.ReasonTooManyDocuments, detail) }, d.logs.Part("ledger"))
	d.onClose(d.over.Close)
	begun, err := d.records.Begun(d.started)
	if err != nil {
		return err
	}
	d.ledger, d.writer, err = ledger.Open(ledger.Options{
		TakesBack: storage.TakesBack(begun),
		Key:       d.identity.Key(), Cluster: d.roster.Cluster(), Counter: d.behind, Store: d.behind, Members: d.roster, OnOver: d.over.Changed,
	})
	if err != nil {
		return err
	}
	for _, problem := range d.ledger.Skipped() {
		d.logs.Part("ledger").Warn("a stored document was left out", "error", problem)
	}
	return d.forgetStrangers()
}

// forgetStrangers drops what is left of nodes that are no members: of a former
// cluster, and of this node's former key.
func (d *daemon) forgetStrangers() error {
	strangers := map[api.NodeID]bool{}
	for _, record := range d.ledger.List(ledger.Filter{}) {
		if id := record.Key().Node; !d.roster.IsMember(id) {
			strangers[id] = true
		}
	}
	for id := range strangers {
		if err := d.ledger.Forget(id); err != nil {
			return err
		}
	}
	return nil
}

// openParts makes the owners of facts and what serves clients.
func (d *daemon) openParts(ctx context.Context) error {
	d.health = health.New(d.owner("health", api.KindCondition), time.Now)
	d.conditions = d.health.Own(d.logs.Part("health"))
	name, err := d.records.LoadName()
	if err != nil {
		return err
	}
	if err := d.openProbeCount(ctx); err != nil {
		return err
	}
	published := watched{d.owner("facts", api.KindIdentity, api.KindMemory, api.KindSystem, api.KindNetwork, api.KindThunderbolt, api.KindRDMA), d.lookAtClock}
	static := facts.Static{
		PublicKey: d.identity.Public(), FulmenVersion: d.options.Version, Protocol: api.Protocol, StartedAt: api.TimeOf(d.started),
		FriendlyName: name, ShortName: func(computer string) string {
			return view.OwnShortName(d.ledger, d.roster.Current().Members(), computer)
		}, Probes: d.probes.Since,
		Ours: func(id string) bool { return d.changes.Ours(id) },
	}
	if d.options.Simulation != nil {
		static.Platform = api.PlatformDarwin // what is simulated are Macs
	}
	d.facts = facts.New(d.platform.Facts, published, static, d.logs.Part("facts"))
	d.openCables()
	if err := errors.Join(d.openSuspects(ctx), d.openTrips()); err != nil {
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
	d.openEvents()
	d.tokens, err = token.Open(d.records, d.platform.Clock, d.logs.Part("server"))
	if err != nil {
		return err
	}
	d.tellConfiguration()
	d.tellDisk()
	if d.capabilities, err = d.platform.Facts.Capabilities(ctx); err != nil {
		d.logs.Part("daemon").Warn("the platform does not tell what it can do", "error", err)
	} else if why, misses := facts.MissesPressure(d.platform.Name, d.capabilities); misses {
		d.conditions.Raise(api.ReasonPSIUnavailable, why)
	}
	d.trust.Look(d.logs.Part("daemon"), d.program, d.worker)
	d.thisRun = lifecycle.Begin(lifecycle.RunConfig{
		Clock: d.platform.Clock, File: d.folders.LifeFile(), Program: d.program, Logs: filepath.Join(d.folders.Logs, logs.File),
		Conditions: d.conditions, Log: d.logs.Part("daemon"),
	})
	d.onClose(d.thisRun.Close)
	if aside := d.database.Aside(); aside != nil {
		d.conditions.Raise(api.ReasonStateCorrupt, aside.Says())
	}
	if d.options.WasRemoved {
		d.conditions.Raise(api.ReasonRemoved, "it is alone now, and has a new key with which it can be paired again")
	}
	if d.moved != nil {
		d.conditions.Raise(api.ReasonKeyOnOtherHardware, "the key of before is kept as "+d.moved.File)
	}
	return nil
}

// owner is the writer of a part.
func (d *daemon) owner(name string, kinds ...api.Kind) documents {
	return documents{writer: d.writer.Owner(name, kinds...), simulated: d.platform.Simulated}
}
