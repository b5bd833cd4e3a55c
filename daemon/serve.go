package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"sync"

	"fulmen/assets/dashboard"
	"fulmen/daemon/api"
	"fulmen/daemon/api/schema"
	"fulmen/daemon/internal/lifecycle"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/topology/readiness"
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
	config := server.Config{
		URL: address.URL, Handlers: d.handlers(stop), Facts: view.State{Ledger: d.ledger, Nodes: d.nodes, Jobs: d.jobs, May: d.lending.May}, Tokens: d.tokens, Owner: d.platform.Processes.Owner, Clock: d.platform.Clock,
		Log: d.logs.Part("server"), Node: d.identity.Node, Mode: d.folders.Mode, UID: uint32(os.Getuid()), Version: d.options.Version, Schema: schema.JSON(), Assets: dashboard.Files(),
		Limits: server.Limits{Clients: d.live.Current().Limits.Clients, FeedBytes: d.live.Current().Limits.OutboxBytes},
	}
	config.Metrics = d.metrics()
	calls := d.auditCalls()
	config.Audit = func(ctx context.Context, c *server.Caller, m api.MethodInfo, raw json.RawMessage) func(error) {
		return calls.Begin(ctx, c.Principal(), c.UID, m, raw)
	}
	config.InAdminGroup = adminGroup()
	var running sync.WaitGroup
	if a, ok := d.authorizer(config.Log); ok {
		config.Authorizer = a
		running.Go(func() { a.define(ctx) }) // before anybody asks for it
	}
	running.Go(func() {
		select {
		case err := <-d.damaged:
			d.logs.Part("daemon").Error("the database is damaged; the daemon begins anew and sets it aside", "error", err)
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
	running.Go(func() { d.followInterest(ctx) })
	running.Go(func() { _ = d.profiler.Run(ctx) })
	running.Go(func() { _ = d.changes.Run(ctx, d.ledger, view.GraphKinds()) })
	running.Go(func() {
		d.requests.Run(ctx, func() []readiness.Report { graph, _ := d.graph.Latest(); return graph.Readiness() },
			func(ctx context.Context, by api.Principal, link api.LinkID) error {
				_, err := d.changes.Enable(ctx, by, link, false, nil)
				return err
			}, d.logs.Part("rdma"))
	})
	running.Go(func() { d.tellConditions(ctx) })
	running.Go(func() { d.learnMLX(ctx) })
	running.Go(func() { _ = d.self.Run(ctx) })
	running.Go(func() { d.lending.WatchUse(ctx, d.platform.Clock, d.self) })
	running.Go(func() {
		if err := d.nodes.Run(ctx); ctx.Err() == nil {
			stop(err)
		}
	})
	running.Go(func() { d.options.Simulation.Play(ctx, d.logs.Part("daemon")) })
	running.Go(func() { _ = d.publisher.Run(ctx) })
	running.Go(func() { d.events.Run(ctx) })
	running.Go(func() { d.programs.CleanDaily(ctx) })
	running.Go(func() { d.followBundle(ctx, stop) })
	running.Go(func() {
		if err := d.runJobs(ctx); ctx.Err() == nil {
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
	d.say(ctx, api.SelfAwake)
	d.logs.Part("daemon").Info("ready", "url", address.URL, "socket", address.Socket, "node", d.identity.Node, "state", d.folders.State)
	if d.options.Ready != nil {
		d.options.Ready(address)
	}
	d.tellReady("serves " + address.URL)
	running.Go(func() {
		lifecycle.KeepAlive(ctx, d.platform.Clock, d.options.Supervisor.Watchdog(), d.ledgerAnswers, d.options.Supervisor.Alive)
	})
	<-ctx.Done()
	d.tellStopping(context.Cause(ctx))

	if !errors.Is(context.Cause(ctx), ErrDamaged) { // it is back at once, and could not take that back
		d.say(context.WithoutCancel(ctx), api.SelfStopping)
	}
	leave()
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.live.Current().Times.Drain)
	defer cancel()
	err = s.Shutdown(drain)
	running.Wait()
	d.logs.Part("daemon").Info("stopped", "reason", context.Cause(ctx))
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// say publishes what this node does, and waits for a moment until others have
// heard it.
func (d *daemon) say(ctx context.Context, state api.SelfState) {
	if err := d.self.Say(ctx, state, ""); err != nil {
		d.logs.Part("daemon").Error("the node's state could not be published", "error", err)
	}
}

// followInterest lets live facts move while somebody watches them.
func (d *daemon) followInterest(ctx context.Context) {
	interest := d.ledger.WatchInterest()
	defer interest.Close()
	for {
		select {
		case <-ctx.Done():
			return
		case <-interest.C():
		}
		d.profiler.Recheck()
		for _, kind := range []api.Kind{api.KindMemory, api.KindSystem} {
			d.facts.Watched(kind, d.ledger.Interested(kind, d.identity.Node))
		}
	}
}
