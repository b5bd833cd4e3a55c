package view

import (
	"context"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/event"
	"fulmen/daemon/internal/job"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
	"fulmen/native/waker"
)

// eventsSettle is how long events wait for what belongs together: a cable that is
// pulled changes documents of both ends, and a job runs through its first phases
// faster than anybody reads.
const eventsSettle = 250 * time.Millisecond

// eventsBegin is the longest that events wait for this machine to be looked at.
const eventsBegin = 10 * time.Second

// EventsConfig is what [Events] need.
type EventsConfig struct {
	Clock  native.Clock
	Ledger *ledger.Ledger
	Nodes  *Nodes
	Graph  *Graph
	Shown  Shown
	Jobs   *job.Jobs
	// Begun is closed when this machine was looked at.
	Begun <-chan struct{}
}

// Events follows what is derived, and keeps what happened.
type Events struct {
	cfg      EventsConfig
	ring     *event.Ring
	watchers waker.Group   // who waits for something to happen
	begun    chan struct{} // closed when what was there before is known
}

// NewEvents makes what keeps the events.
func NewEvents(c EventsConfig) *Events {
	return &Events{cfg: c, ring: event.NewRing(api.TimeOf(c.Clock.Now())), begun: make(chan struct{})}
}

// Run follows until ctx ends.
func (e *Events) Run(ctx context.Context) {
	wake := waker.New()
	nodes, doneNodes := e.cfg.Nodes.watchers.Add()
	defer doneNodes()
	graph, doneGraph := e.cfg.Graph.watchers.Add() // not its watch: nothing is measured for events
	defer doneGraph()
	var following sync.WaitGroup
	defer following.Wait()
	following.Go(func() { // the documents that nothing else is derived from
		e.cfg.Ledger.FollowEach(ctx, ledger.WatchOptions{Name: "events", Filter: ledger.Filter{Kinds: []api.Kind{api.KindCondition, api.KindJob}}, Passive: true},
			func(ledger.Change) { wake.Wake() })
	})
	e.seeMachine(ctx, nodes)
	e.cfg.Graph.draw() // what was plugged all the time may not have been drawn yet
	var before event.Moment
	for first := true; ; first = false {
		now, err := e.moment(ctx)
		if err != nil {
			return // with ctx
		}
		if now = now.After(before); !first && e.ring.Add(api.TimeOf(e.cfg.Clock.Now()), event.Between(before, now)) {
			e.watchers.Wake()
		}
		if before = now; first {
			close(e.begun)
		}
		select {
		case <-ctx.Done():
			return
		case <-nodes:
		case <-graph:
		case <-wake:
		}
		if !native.Pause(ctx, e.cfg.Clock, eventsSettle) {
			return
		}
	}
}

// seeMachine waits until this machine was looked at once and is listed: its cables
// that were plugged all the time are no news when the daemon starts.
func (e *Events) seeMachine(ctx context.Context, nodes <-chan struct{}) {
	ctx, cancel := context.WithTimeout(ctx, eventsBegin)
	defer cancel()
	select {
	case <-e.cfg.Begun:
	case <-ctx.Done():
	}
	for !slices.ContainsFunc(e.cfg.Nodes.Current().Nodes, func(n api.NodeView) bool { return n.Self }) {
		select {
		case <-nodes:
		case <-ctx.Done():
			return
		}
	}
}

// moment is what is derived now.
func (e *Events) moment(ctx context.Context) (event.Moment, error) {
	// As they were drawn last: that a picture was drawn wakes who asks.
	built, _ := e.cfg.Graph.Latest()
	cables := built.Cables().Cables
	m := event.Moment{Nodes: e.known(e.cfg.Nodes.Current().Nodes), Cables: cables, Conditions: e.cfg.Shown.with(cables)}
	all, err := e.cfg.Jobs.List(ctx, job.Caller{Admin: true}, api.JobListParams{Ended: true})
	if err != nil {
		return m, err
	}
	public, err := e.cfg.Jobs.List(ctx, job.Caller{}, api.JobListParams{Ended: true})
	if err != nil {
		return m, err
	}
	names := map[api.JobID]string{}
	for _, j := range public.Jobs {
		names[j.Job] = j.Name
	}
	for _, j := range all.Jobs {
		m.Jobs = append(m.Jobs, event.Job{JobSummary: j, PublicName: names[j.Job]})
	}
	return m, nil
}

// known are the nodes of which the name is known: one that joins has not said its
// own for a moment.
func (e *Events) known(nodes []api.NodeView) []api.NodeView {
	return slices.DeleteFunc(slices.Clone(nodes), func(n api.NodeView) bool {
		_, found := e.cfg.Ledger.Get(api.Key{Node: n.Node, Kind: api.KindIdentity})
		return !found && !n.Self && n.Liveness != api.LivenessRemoved
	})
}

// readEvents are the events as one caller may read them.
type readEvents struct {
	*Events
	may func(api.Principal) bool
}

// happened is what a caller reads at one time.
type happened struct {
	entries []api.Event
	since   api.Time
}

func (r readEvents) Current() happened {
	entries, since := r.ring.List()
	h := happened{entries: make([]api.Event, len(entries)), since: since}
	for i, e := range entries {
		h.entries[i] = e.For(r.may)
	}
	return h
}

func (r readEvents) watch() (h happened, wake <-chan struct{}, done func()) {
	wake, done = r.watchers.Add() // before they are read: what comes in between wakes
	return r.Current(), wake, done
}

// newer are the events of which a reader does not know yet.
func newer(before, after happened) ([]api.Event, bool) {
	var last uint64
	if n := len(before.entries); n > 0 {
		last = before.entries[n-1].Seq
	}
	for i, e := range after.entries {
		if e.Seq > last {
			return after.entries[i:], true
		}
	}
	return nil, false
}

// list gives the events from the time on that a client asks for.
func (h happened) list(p api.EventSelect) api.EventListResult {
	result := api.EventListResult{Events: []api.Event{}, KeptSince: h.since}
	for _, e := range h.entries {
		if !e.At.Before(p.Since.Time) {
			result.Events = append(result.Events, e)
		}
	}
	return result
}
