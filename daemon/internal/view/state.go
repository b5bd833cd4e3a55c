package view

import (
	"context"
	"errors"
	"slices"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/topology"
)

// batchBytes bounds what one reading of changes gives, so that it fits a
// message with its envelope.
const batchBytes = api.MaxMessageBytes / 2

// State is the ledger as clients read it.
type State struct {
	Ledger *ledger.Ledger
	Nodes  *Nodes
	// Jobs knows which jobs' documents count. May reports whether the principal by may
	// act for the principal of.
	Jobs JobsKnown
	May  func(by, of api.Principal) bool
}

// JobsKnown knows which documents of jobs count; job.Jobs does.
type JobsKnown interface {
	// Counts reports whether a document of a job is its home's latest.
	Counts(id api.JobID, job api.Job) bool
	// Known is what of a job counts.
	Known(id api.JobID) (gate.Known, bool)
}

// sees says which documents a client may read: those of a job are for whoever may
// act for its principal, and for administrators. What everybody may know of a job
// job.list tells.
func (v State) sees(who server.Viewer) func(*ledger.Record) bool {
	if who.Class == api.ClassAdmin {
		return func(*ledger.Record) bool { return true }
	}
	viewer := api.Principal{User: server.UserName(who.UID), Node: v.Ledger.Node()}
	return func(r *ledger.Record) bool {
		switch key := r.Key(); key.Kind {
		case api.KindJob:
			job, err := ledger.Shared[api.Job](r)
			return err == nil && v.May(viewer, job.Principal) && v.Jobs.Counts(api.JobID(key.Name), job)
		case api.KindRank:
			ref, err := api.ParseRankRef(key.Name)
			known, found := v.Jobs.Known(ref.Job)
			return err == nil && found && !known.Gone && v.May(viewer, known.Job.Principal)
		}
		return true
	}
}

// Snapshot implements [server.Facts]: the documents that the viewer may read.
func (v State) Snapshot(ctx context.Context, viewer server.Viewer, sel api.StateSelect) (server.Snapshot, error) {
	nodes, err := topology.FindAll(sel.Nodes, v.Nodes.Find)
	if err != nil {
		return server.Snapshot{}, err
	}
	v.Nodes.cfg.Cluster.FetchLive(ctx, sel.Kinds)
	return server.Snapshot{Docs: records(v.Ledger.List(ledger.Filter{Kinds: sel.Kinds, Nodes: nodes}), v.sees(viewer)), Stale: v.Nodes.staleNow()}, nil
}

// Watch implements [server.Facts]: a snapshot, and what changes after it.
func (v State) Watch(_ context.Context, viewer server.Viewer, sel api.StateSelect, name string) (server.Snapshot, server.Changes, error) {
	nodes, err := topology.FindAll(sel.Nodes, v.Nodes.Find)
	if err != nil {
		return server.Snapshot{}, nil, err
	}
	found, watcher := v.Ledger.Watch(ledger.WatchOptions{Name: name, Filter: ledger.Filter{Kinds: sel.Kinds, Nodes: nodes}, BatchBytes: batchBytes})
	c := &changes{watcher: watcher, nodes: v.Nodes, sees: v.sees(viewer), reported: v.Nodes.staleNow()}
	c.done = v.Nodes.OnStale(c.staleChanged)
	return server.Snapshot{Docs: records(found, c.sees), Stale: c.reported}, c, nil
}

// changes is a watcher in the form of the server, with the nodes that are stale.
type changes struct {
	watcher  *ledger.Watcher
	nodes    *Nodes
	sees     func(*ledger.Record) bool
	reported []api.NodeID
	done     func()

	mu        sync.Mutex
	interrupt context.CancelFunc // ends the wait of Next
}

// Next implements [server.Changes]: documents that changed, or that others are stale
// now.
func (c *changes) Next(ctx context.Context) (server.Change, error) {
	for {
		waiting, cancel := context.WithCancel(ctx)
		c.mu.Lock()
		c.interrupt = cancel
		c.mu.Unlock()
		if stale := c.nodes.staleNow(); !slices.Equal(stale, c.reported) {
			cancel()
			c.reported = stale
			return server.Change{Stale: stale}, nil
		}
		change, err := c.watcher.Next(waiting)
		cancel()
		put := records(change.Put, c.sees)
		switch {
		case err == nil && len(put)+len(change.Del) == 0: // what changed is not for this client
		case err == nil || ctx.Err() != nil || !errors.Is(err, context.Canceled):
			return server.Change{Put: put, Del: change.Del}, err
		}
	}
}

// staleChanged has Next look at the stale nodes.
func (c *changes) staleChanged() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.interrupt != nil {
		c.interrupt()
	}
}

// Close implements [server.Changes].
func (c *changes) Close() {
	c.done()
	c.watcher.Close()
}

// records are those of a list that a client may read.
func records(list []*ledger.Record, sees func(*ledger.Record) bool) []server.Record {
	all := make([]server.Record, 0, len(list))
	for _, record := range list {
		if sees(record) {
			all = append(all, record)
		}
	}
	return all
}
