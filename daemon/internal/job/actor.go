package job

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/job/phase"
)

// actor is one job that has not ended, on this node.
type actor struct {
	j        *Jobs
	id       api.JobID
	shown    atomic.Pointer[shown]
	unplaced atomic.Bool // waits for a place

	mu    sync.Mutex
	queue []any
	busy  bool
	over  bool
	stuck error         // the document cannot be written: nothing goes on
	halt  chan struct{} // closed while it is so

	// What follows is for the goroutine that works the queue off.
	state    phase.State
	spec     api.JobSpec
	cluster  api.ClusterID // for which spec is signed; empty where that is not known
	begun    bool
	failure  error // the document could not be written: nothing was begun
	trial    bool  // it need not be written: the wish is refused then
	pending  int   // calls under way
	timers   map[phase.TimerID]timer
	slept    time.Duration // as awake told last
	stalled  time.Duration // the document could not be written, since wake told that last
	lanes    map[api.RankRef]*lane
	starts   map[nodeAttempt][]chan struct{}
	acked    map[nodeAttempt]bool  // whose node has taken the order to start
	printed  map[nodeAttempt]int64 // bytes, as the last renewal told
	missed   map[int]int           // renewals that did not list a rank
	resumed  int                   // the attempt that went on while this home was away
	planning bool
	again    bool          // plan once more
	settling bool          // a hint makes a plan soon
	lastPlan time.Duration // when it looked for a place last, on Boot
	want     string        // what it stands in line for; empty while it does not
	delay    time.Duration
	holding  holding
	beaten   []api.NodeID
	noted    *noted                        // what the attempt's ranks talk over
	mlx      map[api.NodeID]api.ProgramMLX // what preflights found
}

type nodeAttempt struct {
	node    api.NodeID
	attempt int
}

// shown is what everybody may read of an actor's state.
type shown struct {
	role  phase.Role
	phase api.JobPhase
	since api.Time // of home_lost
	home  api.NodeID
	epoch uint64
	beat  []api.NodeID
	try   int // the current attempt
}

// What comes into the queue beside events of package phase, and rankDoc.
type (
	// begin makes the state of an actor that has none.
	begin struct {
		job     api.Job
		spec    api.JobSpec
		cluster api.ClusterID
		forgot  bool // this home has lost what it knew of it
	}
	// wish is something that a caller waits for; its effects are carried out.
	wish struct {
		do   func() []phase.Effect
		done chan struct{}
	}
	// look reads who is in sight.
	look struct{}
	// heard is what the beater noticed.
	heard struct {
		node   api.NodeID
		silent time.Duration
		lost   bool
	}
	// hint says that a place may be found now.
	hint struct{}
	// came is what calls made aside came to.
	came struct {
		items []any
		after func() // in the actor's goroutine
	}
)

func newActor(j *Jobs, id api.JobID) *actor {
	a := &actor{j: j, id: id, timers: map[phase.TimerID]timer{}, lanes: map[api.RankRef]*lane{},
		halt: make(chan struct{}), starts: map[nodeAttempt][]chan struct{}{}, acked: map[nodeAttempt]bool{}, printed: map[nodeAttempt]int64{}, missed: map[int]int{}}
	a.shown.Store(&shown{})
	j.stayAwake()
	a.slept = j.away()
	return a
}

// post puts something into the queue. False: the actor is over.
func (a *actor) post(item any) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return false
	}
	a.queue = append(a.queue, item)
	if !a.busy {
		a.busy = a.j.spawn(a.work)
	}
	return a.busy
}

// halted notes that nothing can go on, and why, or, with nil, that it does again.
func (a *actor) halted(why error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch was := a.stuck; {
	case was == nil && why != nil:
		close(a.halt)
	case was != nil && why == nil:
		a.halt = make(chan struct{})
	}
	a.stuck = why
}

// work works the queue off.
func (a *actor) work() {
	for {
		a.mu.Lock()
		if len(a.queue) == 0 || a.j.ctx.Err() != nil {
			a.busy = false
			a.mu.Unlock()
			return
		}
		item := a.queue[0]
		a.queue = a.queue[1:]
		a.mu.Unlock()
		a.follow()
		a.wake()
		a.take(item)
		a.after()
	}
}

func (a *actor) take(item any) {
	switch it := item.(type) {
	case begin:
		a.begin(it)
	case wish:
		a.carry(it.do())
		a.show()
		close(it.done)
	case look:
		a.see(a.j.sight())
		if a.unplaced.Load() {
			a.hinted()
		}
	case heard:
		a.heard(it)
	case rankDoc:
		a.rankSaid(it)
	case hint:
		a.hinted()
	case turn:
		if a.begun {
			a.planIn(planTurn)
		}
	case inspect:
		a.inspect()
	case rang:
		a.fired(it)
	case came:
		a.pending--
		it.finish(a)
	case phase.Event:
		a.event(it)
	case func():
		it()
	}
}

// event gives the phase machine an event and carries out what it wants.
func (a *actor) event(e phase.Event) {
	if !a.begun {
		return
	}
	was := a.state.Role
	var out []phase.Effect
	a.state, out = phase.Next(a.state, a.j.now(), e)
	a.carry(out)
	if was != phase.RoleHome && a.state.Role == phase.RoleHome {
		a.recallOthers()
	}
}

func (a *actor) see(s phase.Sight) { a.event(s) }

// rules are those of the job, with the times of now.
func (a *actor) rules() phase.Rules {
	r := phase.RulesOf(a.spec, a.j.cfg.Times())
	r.Name = a.j.name
	r.Steps = a.steps()
	return r
}

func (a *actor) steps() phase.Steps {
	return steps{a.id, a.j.cfg.Key, a.j.cfg.Electors.Cluster()}
}

// begin makes the state: of the home that this node was before, or of a follower.
func (a *actor) begin(b begin) {
	if a.begun {
		a.event(phase.Seen{Job: b.job})
		return
	}
	a.spec, a.cluster, a.begun = b.spec, b.cluster, true
	if b.job.Home != a.j.cfg.Node {
		a.state = phase.Follow(a.j.cfg.Node, b.job, a.rules())
		a.see(a.j.sight())
		return
	}
	job, isOwn := a.sign(b.job)
	var out []phase.Effect
	if at := b.job.OpenAttempt(); at != nil {
		a.resumed = at.Attempt
	}
	resume := phase.Resume
	if b.forgot {
		resume = phase.TakeBack
	}
	a.state, out = resume(a.j.cfg.Node, job, a.rules(), a.j.now())
	a.carry(out)
	a.see(a.j.sight())
	a.recallOthers()
	if !isOwn {
		a.event(phase.StopAsked{By: a.spec.Principal, Reason: api.ReasonRemoved})
	}
}

// recallOthers tells a home what other homes wrote of the job.
func (a *actor) recallOthers() {
	a.j.mu.Lock()
	k := a.j.know(a.id)
	var seen []api.Job
	for _, n := range writers(k) {
		if n != a.j.cfg.Node {
			seen = append(seen, k.docs[n].job)
		}
	}
	var ranks []rankDoc
	for _, d := range k.ranks {
		ranks = append(ranks, d)
	}
	a.j.mu.Unlock()
	for _, job := range seen {
		a.event(phase.Seen{Job: job})
	}
	for _, d := range ranks {
		a.rankSaid(d)
	}
}

// heard turns silence into the loss of a node of the attempt.
func (a *actor) heard(h heard) {
	if !slices.Contains(a.beaten, h.node) || a.state.Role != phase.RoleHome {
		return
	}
	if !h.lost {
		a.event(phase.NodeBack{Node: h.node})
		return
	}
	a.event(phase.NodeLost{Node: h.node, Since: api.TimeOf(a.j.cfg.Clock.Now().Add(-h.silent)),
		Cause: phase.Cause{Reason: api.ReasonNodeLost, WaitingFor: a.j.name(h.node),
			Message: a.j.name(h.node) + " was not heard for " + h.silent.Round(100*time.Millisecond).String() + "."}})
}

// async makes a call aside; what it comes to is put into the queue.
func (a *actor) async(f func() came) {
	a.pending++
	if !a.j.spawn(func() { a.post(f()) }) {
		a.pending--
	}
}

// finish takes what calls came to.
func (c came) finish(a *actor) {
	if c.after != nil {
		c.after()
	}
	for _, e := range c.items {
		if e != nil {
			a.take(e)
		}
	}
}

// events are what a call came to.
func events(all ...phase.Event) came {
	c := came{}
	for _, e := range all {
		if e != nil {
			c.items = append(c.items, e)
		}
	}
	return c
}

// later posts something after a time.
func (a *actor) later(d time.Duration, item any) {
	a.j.cfg.Clock.AfterFunc(d, func() { a.post(item) })
}

// MembersRemoved follows the removal of nodes from the cluster: the jobs of their
// people end, and what ran there counts as lost. Homes that were removed are
// replaced as those are that went away.
func (j *Jobs) MembersRemoved(nodes []api.NodeID) {
	for _, a := range j.actors() {
		a.post(func() { a.membersRemoved(nodes) })
	}
}

func (a *actor) membersRemoved(nodes []api.NodeID) {
	if a.state.Role != phase.RoleHome {
		return
	}
	if slices.Contains(nodes, a.spec.Principal.Node) {
		a.event(phase.StopAsked{By: a.spec.Principal, Reason: api.ReasonRemoved})
		return
	}
	for _, n := range nodes {
		a.event(phase.NodeLost{Node: n, Cause: phase.Cause{Reason: api.ReasonRemoved, WaitingFor: "node " + a.j.name(n),
			Message: a.j.name(n) + " was removed from the cluster."}})
	}
}

// ask lets the actor do something and waits until it has. Where the job cannot go
// on the error says why: the wish is kept until it can.
func (a *actor) ask(ctx context.Context, do func() []phase.Effect) error {
	return a.await(ctx, do, a.halting)
}

// await is ask, which gives up early once halting gives a channel that is closed.
func (a *actor) await(ctx context.Context, do func() []phase.Effect, halting func() (<-chan struct{}, error)) error {
	done := make(chan struct{})
	if !a.post(wish{do, done}) {
		return api.NewError(api.ReasonJobEnded, a.id.String())
	}
	ctx, cancel := timeout{wishWithin, "the job " + a.id.String() + " to take a wish"}.of(ctx, a.j.cfg.Clock)
	defer cancel()
	for {
		halt, why := halting()
		if why != nil {
			e := api.Errorf(api.AsError(why).Data.Reason, a.id.String(), "The job waits, and does as asked when it can go on: %s", api.AsError(why).Message)
			e.Data.Remedy = api.AsError(why).Data.Remedy
			return e
		}
		select {
		case <-done:
			return nil
		case <-halt:
		case <-a.j.ctx.Done():
			return api.NewError(api.ReasonStopping, "")
		case <-ctx.Done():
			if err := context.Cause(ctx); err != context.Canceled {
				e := api.NewError(api.ReasonDeadline, a.id.String())
				e.Data.WaitingFor = err.Error()
				return e
			}
			return api.NewError(api.ReasonCancelled, "")
		}
	}
}

// halting gives what is closed when nothing can go on, and why where that is so.
func (a *actor) halting() (<-chan struct{}, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.halt, a.stuck
}

// never is halting for what must not be answered before it is done.
func never() (<-chan struct{}, error) { return nil, nil }
