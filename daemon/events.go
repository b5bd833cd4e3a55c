package daemon

import (
	"context"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/event"
	"fulmen/daemon/internal/job"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/server"
	"fulmen/native"
)

// eventsSettle is how long events wait for what belongs together: a cable that is
// pulled changes documents of both ends, and a job runs through its first phases
// faster than anybody reads.
const eventsSettle = 100 * time.Millisecond

// eventsBegin is the longest that events wait for this machine to be looked at.
const eventsBegin = 10 * time.Second

// events follows what is derived, and keeps what happened.
type events struct {
	daemon   *daemon
	ring     *event.Ring
	watchers watchers
	begun    chan struct{} // closed when what was there before is known
}

// openEvents makes what keeps the events.
func (d *daemon) openEvents() {
	d.events = &events{daemon: d, ring: event.NewRing(api.TimeOf(d.platform.Clock.Now())), begun: make(chan struct{})}
}

// run follows until ctx ends.
func (e *events) run(ctx context.Context) {
	wake := make(chan struct{}, 1)
	nudge := func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
	d := e.daemon
	nodes, doneNodes := d.nodes.watchers.add()
	defer doneNodes()
	graph, doneGraph := d.graph.watchers.add() // not its watch: nothing is measured for events
	defer doneGraph()
	var following sync.WaitGroup
	defer following.Wait()
	following.Go(func() { // the documents that nothing else is derived from
		d.ledger.FollowEach(ctx, ledger.WatchOptions{Name: "events", Filter: ledger.Filter{Kinds: []api.Kind{api.KindCondition, api.KindJob}}, Passive: true},
			func(ledger.Change) { nudge() })
	})
	d.seeMachine(ctx, nodes)
	var before event.Moment
	for first := true; ; first = false {
		now, err := e.moment(ctx)
		if err != nil {
			return // with ctx
		}
		if now = now.After(before); !first && e.ring.Add(api.TimeOf(d.platform.Clock.Now()), event.Between(before, now)) {
			e.watchers.wake()
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
		if !native.Pause(ctx, d.platform.Clock, eventsSettle) {
			return
		}
	}
}

// seeMachine waits until this machine was looked at once and is listed: its cables
// that were plugged all the time are no news when the daemon starts.
func (d *daemon) seeMachine(ctx context.Context, nodes <-chan struct{}) {
	ctx, cancel := context.WithTimeout(ctx, eventsBegin)
	defer cancel()
	select {
	case <-d.facts.Begun():
	case <-ctx.Done():
	}
	for !slices.ContainsFunc(d.nodes.current().Nodes, func(n api.NodeView) bool { return n.Self }) {
		select {
		case <-nodes:
		case <-ctx.Done():
			return
		}
	}
}

// moment is what is derived now.
func (e *events) moment(ctx context.Context) (event.Moment, error) {
	d := e.daemon
	m := event.Moment{Nodes: e.known(d.nodes.current().Nodes), Cables: d.graph.cablesNow(), Conditions: d.conditionsOf(func(api.NodeID) bool { return true })}
	all, err := d.jobs.List(ctx, job.Caller{Admin: true}, api.JobListParams{Ended: true})
	if err != nil {
		return m, err
	}
	public, err := d.jobs.List(ctx, job.Caller{}, api.JobListParams{Ended: true})
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
func (e *events) known(nodes []api.NodeView) []api.NodeView {
	return slices.DeleteFunc(slices.Clone(nodes), func(n api.NodeView) bool {
		_, found := e.daemon.ledger.Get(api.Key{Node: n.Node, Kind: api.KindIdentity})
		return !found && !n.Self && n.Liveness != api.LivenessRemoved
	})
}

// readEvents are the events as one caller may read them.
type readEvents struct {
	*events
	may func(api.Principal) bool
}

// happened is what a caller reads at one time.
type happened struct {
	entries []api.Event
	since   api.Time
}

func (r readEvents) current() happened {
	entries, since := r.ring.List()
	h := happened{entries: make([]api.Event, len(entries)), since: since}
	for i, e := range entries {
		h.entries[i] = e.For(r.may)
	}
	return h
}

func (r readEvents) watch() (h happened, wake <-chan struct{}, done func()) {
	wake, done = r.watchers.add() // before they are read: what comes in between wakes
	return r.current(), wake, done
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

// list is what is wanted of it.
func (h happened) list(p api.EventSelect) api.EventListResult {
	result := api.EventListResult{Events: []api.Event{}, KeptSince: h.since}
	for _, e := range h.entries {
		if !e.At.Before(p.Since.Time) {
			result.Events = append(result.Events, e)
		}
	}
	return result
}

// eventsFor are the events as a caller may read them, once it is known what are any.
func (d *daemon) eventsFor(ctx context.Context, c *server.Caller) (readEvents, error) {
	select {
	case <-d.events.begun:
	case <-ctx.Done():
		return readEvents{}, ctx.Err()
	}
	by := d.jobCaller(c)
	return readEvents{d.events, func(whose api.Principal) bool { return by.Admin || access{d}.May(by.Principal, whose) }}, nil
}

// eventList is what happened lately.
func (d *daemon) eventList(ctx context.Context, c *server.Caller, p api.EventSelect) (api.EventListResult, error) {
	events, err := d.eventsFor(ctx, c)
	if err != nil {
		return api.EventListResult{}, err
	}
	return events.current().list(p), nil
}

// eventWatch is event.list, and every event after.
func (d *daemon) eventWatch(ctx context.Context, c *server.Caller, p api.EventSelect) (api.EventWatchResult, error) {
	events, err := d.eventsFor(ctx, c)
	if err != nil {
		return api.EventWatchResult{}, err
	}
	sub, first, err := stream(c, events, newer,
		func(sub api.Subscription, n uint64, news []api.Event) any {
			return api.EventHappened{Sub: sub, N: n, Events: news}
		},
		func(sub api.Subscription) any { return api.EventHappened{Sub: sub, Lagged: true} })
	if err != nil {
		return api.EventWatchResult{}, err
	}
	return api.EventWatchResult{Sub: sub, EventListResult: first.list(p)}, nil
}
