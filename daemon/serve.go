package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"fulmen/assets"
	"fulmen/daemon/api"
	"fulmen/daemon/internal/audit"
	"fulmen/daemon/internal/doctor"
	"fulmen/daemon/internal/health"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/lifecycle"
	"fulmen/daemon/internal/methods"
	"fulmen/daemon/internal/metrics"
	"fulmen/daemon/internal/rdma"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/store"
	"fulmen/daemon/internal/topology"
	"fulmen/daemon/internal/topology/readiness"
	"fulmen/daemon/internal/uninstall"
	"fulmen/daemon/internal/uninstall/bundle"
	"fulmen/daemon/internal/view"
)

// serve opens the listeners and runs everything until ctx ends.
func (d *daemon) serve(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	d.restart = func() { stop(ErrRestart) }
	listeners, address, err := d.listen()
	if err != nil {
		return err
	}
	d.address = address
	entrance, err := d.openEndpoint()
	if err != nil {
		return err
	}
	config := server.Config{
		URL: address.URL, Handlers: d.handlers(stop), Facts: view.State{Ledger: d.ledger, Nodes: d.nodes, Jobs: d.jobs, May: d.sharing.May}, Tokens: d.tokens, Owner: d.platform.Processes.Owner, Clock: d.platform.Clock,
		Log: d.logs.Part("server"), Node: d.identity.Node, Mode: d.folders.Mode, UID: uint32(os.Getuid()), Version: d.options.Version, Schema: api.Schema(), Assets: assets.Dashboard(),
		Limits: server.Limits{Clients: d.live.Current().Limits.Clients, FeedBytes: d.live.Current().Limits.OutboxBytes},
	}
	scraped := metrics.Watching{Clock: d.platform.Clock, Want: func() func() {
		return d.ledger.Want(ledger.Filter{Kinds: []api.Kind{api.KindMemory, api.KindSystem}})
	}}
	config.Metrics = metrics.Handler(metrics.Source{
		Version: d.options.Version, Node: d.identity.Node,
		Nodes: func() api.NodeListResult { return d.nodes.Current().List() },
		Links: d.graph.Current,
		Docs: func(kinds ...api.Kind) (docs []api.Document) {
			for _, record := range d.ledger.List(ledger.Filter{Kinds: kinds}) {
				docs = append(docs, record.Document())
			}
			return docs
		},
		Measurements: func() (all []metrics.Measurements) {
			for c, n := range d.profiler.Counts() {
				all = append(all, metrics.Measurements{Kind: c.Kind, IsAsked: c.IsAsked, State: c.State, Count: n})
			}
			return all
		},
		Missed: d.facts.Missed,
		Watch:  scraped.Scrape,
	})
	calls := audit.Calls{Log: d.audit, May: d.sharing.May, OwnerOf: func(ctx context.Context, id api.JobID, measurement api.MeasureID) api.Principal {
		if id != "" {
			known, _ := d.jobs.Current(id)
			return known.Job.Principal
		}
		one, err := d.profiler.Get(ctx, api.MeasureSelect{Measurement: measurement})
		if err != nil {
			return api.Principal{}
		}
		return one.By
	}}
	config.Audit = func(ctx context.Context, c *server.Caller, m api.MethodInfo, raw json.RawMessage) func(error) {
		return calls.Begin(ctx, c.Principal(), c.UID, m, raw)
	}
	config.InAdminGroup = server.AdminGroup()
	var running sync.WaitGroup
	if a, ok := authorizes(d.options, d.folders.Mode, config.Log); ok {
		config.Authorizer = a
		running.Go(func() { a.define(ctx) }) // before anybody asks for it
	}
	running.Go(func() {
		select {
		case err := <-d.damaged:
			d.logs.Part("daemon").Error("the database is damaged; the daemon starts again and sets it aside", "error", err)
			stop(ErrDamaged)
		case <-ctx.Done():
		}
	})
	s := server.New(config)
	for _, listener := range listeners {
		running.Go(func() {
			if err := s.Serve(listener); !errors.Is(err, server.ErrClosed) {
				stop(err)
			}
		})
	}
	running.Go(func() { _ = d.facts.Run(ctx) })
	running.Go(func() {
		health.NewMachine(d.conditions, d.platform.Clock, func() string { return d.nameOf(d.identity.Node) }).Run(ctx, d.ledger)
	})
	running.Go(func() { d.followInterest(ctx) })
	running.Go(func() { _ = d.profiler.Run(ctx) })
	running.Go(func() { _ = d.rdma.Run(ctx, d.ledger, topology.Kinds()) })
	running.Go(func() {
		d.requests.Run(ctx, func() []readiness.Report { graph, _ := d.graph.Latest(); return graph.Readiness() },
			func(ctx context.Context, by api.Principal, link api.LinkID) error {
				_, err := d.rdma.Enable(ctx, by, link, false, nil)
				return err
			}, d.logs.Part("rdma"))
	})
	running.Go(func() { d.reported.Follow(ctx, d.changes) })
	running.Go(func() { d.learnMLX(ctx) })
	running.Go(func() { _ = d.self.Run(ctx) })
	running.Go(func() { d.sharing.WatchUse(ctx, d.platform.Clock, d.self) })
	running.Go(func() {
		if err := d.nodes.Run(ctx); ctx.Err() == nil {
			stop(err)
		}
	})
	running.Go(func() { d.options.Simulation.Play(ctx, d.logs.Part("daemon")) })
	running.Go(func() { _ = d.publisher.Run(ctx) })
	running.Go(func() { _ = d.endpoint.Run(ctx, d.ledger) })
	running.Go(func() {
		if err := d.endpoint.Serve(entrance); !errors.Is(err, http.ErrServerClosed) {
			d.logs.Part("endpoint").Error("the endpoint does not answer any more", "error", err)
		}
	})
	running.Go(func() { d.events.Run(ctx) })
	running.Go(func() { d.instances.Run(ctx) })
	running.Go(func() { d.programs.CleanDaily(ctx) })
	running.Go(func() { d.followBundle(ctx, stop) })
	running.Go(func() {
		// What the daemon before has left is found again first.
		err := d.ranks.Restore(ctx)
		if err == nil {
			err = d.grants.ForgetFormer()
		}
		if err == nil {
			d.watchedJobs.Expect()
			err = d.jobs.Run(ctx)
		}
		if ctx.Err() == nil {
			stop(err)
		}
	})
	running.Go(func() {
		if err := d.graph.Run(ctx); ctx.Err() == nil {
			stop(err)
		}
	})
	online, leave := context.WithCancel(context.WithoutCancel(ctx)) // others hear that this node stops before it is gone
	defer leave()
	running.Go(func() {
		if err := d.node.Run(online); err != nil {
			stop(err)
		}
	})
	d.report(ctx, api.SelfAwake)
	d.logs.Part("daemon").Info("ready", "url", address.URL, "socket", address.Socket, "node", d.identity.Node, "state", d.folders.State)
	if d.options.Ready != nil {
		d.options.Ready(address)
	}
	lifecycle.NotifyReady(d.options.Supervisor, "serves "+address.URL, d.logs.Part("daemon"))
	running.Go(func() {
		lifecycle.KeepAlive(ctx, d.platform.Clock, d.options.Supervisor.Watchdog(), func() { d.ledger.Watchers() }, d.options.Supervisor.Alive)
	})
	<-ctx.Done()
	if !errors.Is(context.Cause(ctx), ErrRestart) { // one that begins anew as another node does not end
		lifecycle.NotifyStopping(d.options.Supervisor, d.logs.Part("daemon"))
	}

	if !errors.Is(context.Cause(ctx), ErrDamaged) { // it is back at once, and could not take that back
		d.report(context.WithoutCancel(ctx), api.SelfStopping)
	}
	within := d.live.Current().Times.Drain
	requests, over := context.WithTimeout(context.WithoutCancel(ctx), within)
	d.endpoint.Shutdown(requests) // before the way to others goes
	d.publisher.Quiet(requests, api.RankRef{})
	over()
	leave()
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	err = s.Shutdown(drain)
	running.Wait()
	d.logs.Part("daemon").Info("stopped", "reason", context.Cause(ctx))
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// report publishes what this node does, and waits for a moment until others have
// heard it.
func (d *daemon) report(ctx context.Context, state api.SelfState) {
	if err := d.self.Announce(ctx, state, ""); err != nil {
		d.logs.Part("daemon").Error("the node's state could not be published", "error", err)
	}
}

// followInterest lets live facts move while somebody watches them.
func (d *daemon) followInterest(ctx context.Context) {
	interest, done := d.ledger.WatchInterest()
	defer done()
	for {
		select {
		case <-ctx.Done():
			return
		case <-interest:
		}
		d.profiler.Recheck()
		for _, kind := range []api.Kind{api.KindMemory, api.KindSystem} {
			d.facts.Watched(kind, d.ledger.Interested(kind, d.identity.Node))
		}
	}
}

// handlers are the methods that are built; the server has those of tokens and
// of state.
func (d *daemon) handlers(stop context.CancelCauseFunc) server.Handlers {
	all := server.Handlers{
		"daemon.info": server.Handle(d.info),
		"daemon.doctor": server.Handle(func(ctx context.Context, _ *server.Caller, p api.DaemonDoctorParams) (api.DaemonDoctorResult, error) {
			return d.doctor().Examine(ctx, p)
		}),
		"daemon.logs": server.Handle(func(_ context.Context, c *server.Caller, p api.DaemonLogsParams) (api.DaemonLogsResult, error) {
			return d.logs.Read(c, p)
		}),
	}
	jobs := methods.Jobs{Jobs: d.jobs, Attach: d.attach, WatchedJobs: d.watchedJobs, Ports: d.publisher, Log: d.logs.Part("job")}
	d.instances = methods.NewInstances(&methods.Instances{
		Jobs: jobs, Find: d.nodes.Find, Nodes: func() int { return len(d.roster.Members()) }, Endpoint: d.entrance, Engines: d.folders.EnginesFolder(), Rolls: d.records.Rolls(), Clock: d.platform.Clock, Log: jobs.Log,
	})
	for _, of := range []server.Handlers{
		view.Methods{
			Ledger: d.ledger, Nodes: d.nodes, Graph: d.graph, Events: d.events, Shown: d.shown, Trusted: d.trusted,
			// A database that nothing is written to may be damaged all the same: whoever looks finds out.
			Alive: func() error { return d.database.View(func(*store.Transaction) error { return nil }) },
			Reads: func(c *server.Caller) func(api.Principal) bool {
				by, isAdmin := c.Principal(), c.Class() == api.ClassAdmin
				return func(whose api.Principal) bool { return isAdmin || d.sharing.May(by, whose) }
			},
		}.Handlers(),
		methods.Service{
			IsActivated: d.options.Sockets.Len() > 0, Mark: lifecycle.Stopped(d.folders.StoppedFile()), EndJobs: d.departure.EndJobs,
			Stop: func() { stop(nil) }, Restart: func() { stop(ErrRestartProgram) }, Log: d.logs.Part("daemon"),
		}.Handlers(),
		methods.Audit(d.audit),
		methods.Settings{Live: d.live, SaveName: d.records.Name().Save, Rename: d.facts.Rename, Simulation: d.options.Simulation, Log: d.logs.Part("daemon")}.Handlers(),
		methods.Measure{Profiler: d.profiler, Ledger: d.ledger, Graph: d.graph.Build, Find: d.nodes.Find, Log: d.logs.Part("profile")}.Handlers(),
		methods.Cluster{
			Node: d.node, Roster: d.roster, Policy: d.policy, Nodes: d.nodes, Ledger: d.ledger, Clock: d.platform.Clock,
			Joined: func() { d.conditions.Clear(api.ReasonRemoved) }, Log: d.logs.Part("cluster"),
		}.Handlers(),
		jobs.Handlers(),
		d.instances.Handlers(),
		methods.Models(d.identity.Node, d.models, d.nodes.Find, d.node.Reached),
		methods.RDMA(rdma.Commands{
			Owner: d.rdma, Requests: d.requests, UserActions: d.userActions, Ledger: d.ledger, Devices: d.cables, Graph: d.graph.Build, Find: d.nodes.Find, Name: d.nodes.Name,
		}, d.logs.Part("health")),
	} {
		maps.Copy(all, of)
	}
	return all
}

func (d *daemon) info(_ context.Context, c *server.Caller, _ api.Empty) (api.DaemonInfoResult, error) {
	result := api.DaemonInfoResult{
		Node: d.identity.Node, Cluster: d.roster.Cluster(), Version: d.options.Version, GoVersion: runtime.Version(),
		Protocol: api.Protocol, Platform: api.Platform(runtime.GOOS), Mode: d.folders.Mode, PID: os.Getpid(),
		StartedAt: api.TimeOf(d.started), APIURL: d.address.URL, Socket: d.address.Socket, Activated: d.options.Sockets.Len() > 0, StateFolder: d.folders.State, Scenario: d.options.Simulation.Scenario(),
		PeerPort: d.node.Port(),
		Class:    c.Class(), User: server.UserName(c.UID),
	}
	for feature, capability := range d.capabilities {
		result.Features = append(result.Features, api.FeatureInfo{
			Feature: string(feature), Supported: capability.Supported,
			Reason: api.Reason(capability.Reason.Key()), Message: capability.Reason.Detail(),
		})
	}
	slices.SortFunc(result.Features, func(a, b api.FeatureInfo) int { return strings.Compare(a.Feature, b.Feature) })
	return result, nil
}

// doctor examines this daemon.
func (d *daemon) doctor() doctor.Doctor {
	examines := doctor.Doctor{
		Ledger: d.ledger, State: d.folders.State, Program: d.program, Shim: d.shim, Worker: d.worker, Programs: d.trust, Facts: d.facts, Machine: d.platform.Facts,
		Capabilities: d.capabilities, Processes: d.platform.Processes, Name: d.nameOf, Log: d.logs.Part("daemon"),
		Graph: func() api.LinkListResult { return d.graph.Build().List() },
	}
	if d.platform.Name == "darwin" {
		examines.Second = doctor.AskSystemProfiler(d.platform.Clock)
	}
	return examines
}

// listen gives what the API is served on, the TCP address that clients are told first.
func (d *daemon) listen() ([]net.Listener, Address, error) {
	all, tcp, instead, err := lifecycle.Listen(lifecycle.ListenConfig{
		Sockets: d.options.Sockets, Path: d.folders.Socket(), Port: d.live.Current().API.Port, IsNamed: d.live.IsSet("api.port"),
	})
	if err != nil {
		return nil, Address{}, err
	}
	if instead != "" {
		d.conditions.Raise(api.ReasonAPIPortTaken, instead+" serves instead")
	}
	return all, Address{URL: "ws://" + tcp.Addr().String() + api.PathAPI, Socket: d.folders.Socket()}, nil
}

// followBundle follows the app that this daemon was started from, where there is one,
// until ctx ends.
func (d *daemon) followBundle(ctx context.Context, stop context.CancelCauseFunc) {
	path := d.options.Bundle
	if path == "" && d.options.Simulation == nil {
		path = bundle.Containing(d.program)
	}
	if path == "" {
		return
	}
	uninstall.Trash{
		Path: path, Clock: d.platform.Clock, GoneFor: d.options.BundleGone, HasSpotlight: d.platform.Name == "darwin",
		PutBack: d.rdma.UndoAll, Record: d.folders.UndoFile(), EndRanks: func(ctx context.Context) { d.departure.EndRanks(ctx, api.SelfStopping, api.ReasonStopping) },
		Options: func() (uninstall.Options, error) { return uninstallHere(d.options.environment()) },
		Stop:    func() { stop(nil) }, Log: d.logs.Part("uninstall"),
	}.Follow(ctx)
}
