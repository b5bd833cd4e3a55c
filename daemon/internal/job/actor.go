package job

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/job/phase"
	"fulmen/native"
)

// actor is one job that has not ended, on this node.
type actor struct {
	j        *Jobs
	id       api.JobID
	shown    atomic.Pointer[shown]
	unplaced atomic.Bool // waits for a place

	mu    sync.Mutex
	queue []func()
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
	trial    bool  // it need not be written: the request is refused then
	pending  int   // calls under way
	timers   map[phase.TimerID]timer
	slept    time.Duration // as awake told last
	stalled  time.Duration // the document could not be written, since wake told that last
	queues   map[api.RankRef]*calls
	starts   map[nodeAttempt][]chan struct{}
	acked    map[api.RankRef]bool  // whose node has taken the order to start
	printed  map[nodeAttempt]int64 // bytes, as the last renewal told
	missed   map[int]unlisted      // ranks that renewals did not list
	progress progress              // of the current attempt
	resumed  int                   // the attempt that went on while this home was away
	planning bool
	again    bool          // plan once more
	settling bool          // a hint makes a plan soon
	lastPlan time.Duration // when it looked for a place last, on Boot
	want     string        // what it stands in line for; empty while it does not
	delay    time.Duration
	late     int // plans in a row with which others were quicker
	holding  holding
	beaten   []api.NodeID
	noted    *noted                        // what the attempt's ranks talk over
	mlx      map[api.NodeID]api.ProgramMLX // what preflights found
	models   foundModels

	asksAgain bool               // for the model, soon
	getAgain  time.Duration      // when it may be got again after a failure, on Boot
	getting   context.CancelFunc // ends the getting of the model; nil while it is not got
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

// begin makes the state of an actor that has none.
type begin struct {
	job     api.Job
	spec    api.JobSpec
	cluster api.ClusterID
	forgot  bool // this home has lost what it knew of it
}

func newActor(j *Jobs, id api.JobID) *actor {
	a := &actor{j: j, id: id, timers: map[phase.TimerID]timer{}, queues: map[api.RankRef]*calls{},
		halt: make(chan struct{}), starts: map[nodeAttempt][]chan struct{}{}, acked: map[api.RankRef]bool{}, printed: map[nodeAttempt]int64{}, missed: map[int]unlisted{}}
	a.shown.Store(&shown{})
	j.stayAwake()
	a.slept = j.away()
	return a
}

// post puts something to be done into the queue. False: the actor is over.
func (a *actor) post(do func()) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return false
	}
	a.queue = append(a.queue, do)
	if !a.busy {
		a.busy = a.j.spawn(a.work)
	}
	return a.busy
}

// notify puts an event into the queue.
func (a *actor) notify(e phase.Event) { a.post(func() { a.event(e) }) }

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
		do := a.queue[0]
		a.queue = a.queue[1:]
		a.mu.Unlock()
		a.follow()
		a.wake()
		do()
		a.after()
	}
}

// look takes in which nodes are reachable now.
func (a *actor) look() {
	a.event(a.j.presence())
	if a.unplaced.Load() {
		a.hinted()
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
		a.event(a.j.presence())
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
	a.event(a.j.presence())
	a.recallOthers()
	a.makeRoom()
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
		a.rankReported(d)
	}
}

// received turns silence into the loss of a node of the attempt.
func (a *actor) received(node api.NodeID, silent time.Duration, lost bool) {
	if !slices.Contains(a.beaten, node) || a.state.Role != phase.RoleHome {
		return
	}
	if !lost {
		a.event(phase.NodeBack{Node: node})
		return
	}
	a.event(phase.NodeLost{Node: node, Since: api.TimeOf(a.j.cfg.Clock.Now().Add(-silent)),
		Cause: phase.Cause{Reason: api.ReasonNodeLost, WaitingFor: a.j.name(node),
			Message: a.j.name(node) + " was not heard for " + silent.Round(100*time.Millisecond).String() + "."}})
}

// async makes a call aside; what it gives to be done about what came of it, nil for
// nothing, is put into the queue.
func (a *actor) async(call func() (then func())) {
	a.pending++
	isCalled := a.j.spawn(func() {
		then := call()
		a.post(func() {
			a.pending--
			if then != nil {
				then()
			}
		})
	})
	if !isCalled {
		a.pending--
	}
}

// events gives what a call came to to the phase machine, once it is back in the queue.
func (a *actor) events(all ...phase.Event) (then func()) {
	return func() {
		for _, e := range all {
			if e != nil {
				a.event(e)
			}
		}
	}
}

// later posts do to the queue after d.
func (a *actor) later(d time.Duration, do func()) {
	a.j.cfg.Clock.AfterFunc(d, func() { a.post(do) })
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
// on the error says why: the request is kept until it can.
func (a *actor) ask(ctx context.Context, do func()) error {
	return a.await(ctx, do, a.halting)
}

// await is ask, which gives up early once halting gives a channel that is closed.
func (a *actor) await(ctx context.Context, do func(), halting func() (<-chan struct{}, error)) error {
	done := make(chan struct{})
	isPosted := a.post(func() {
		do()
		a.show()
		close(done)
	})
	if !isPosted {
		return api.NewError(api.ReasonJobEnded, a.id.String())
	}
	ctx, cancel := native.WithTimeout(ctx, a.j.cfg.Clock, requestWithin, "the job "+a.id.String()+" to take a request")
	defer cancel()
	for {
		halt, why := halting()
		if why != nil {
			return api.Errorf(api.AsError(why).Data.Reason, a.id.String(), "The job is waiting, and will do as asked when it can go on: %s", api.AsError(why).Message).
				WithRemedy(api.AsError(why).Data.Remedy)
		}
		select {
		case <-done:
			return nil
		case <-halt:
		case <-a.j.ctx.Done():
			return api.NewError(api.ReasonStopping, "")
		case <-ctx.Done():
			if err := context.Cause(ctx); err != context.Canceled {
				return api.NewError(api.ReasonDeadline, a.id.String()).WithWait(err.Error())
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

// carry does what the phase machine wants, in its order. What does not come to
// disk stops what rests on it.
func (a *actor) carry(effects []phase.Effect) {
	for _, e := range effects {
		if a.failure != nil || a.j.ctx.Err() != nil {
			return
		}
		switch e := e.(type) {
		case phase.PutDocument:
			a.put(e.Job)
		case phase.AskPlan:
			if e.Later {
				a.planLater()
			} else {
				a.plan()
			}
		case phase.HandOver:
			a.handOver(e)
		case phase.AskVotes:
			a.askVotes(e)
		case phase.Preflight:
			a.preflight(e)
		case phase.AskGrant:
			a.askGrant(e)
		case phase.Release:
			a.release(e)
		case phase.StartRank:
			a.startRank(e)
		case phase.SpawnRank:
			a.spawnRank(e)
		case phase.Renew:
			a.renew(e)
		case phase.EndRanks:
			a.endRanks(e)
		case phase.ForwardStop:
			a.forwardStop(e)
		case phase.StartTimer:
			a.startTimer(e.Timer, e.After)
		case phase.StopTimer:
			if t, runs := a.timers[e.Timer]; runs {
				t.Stop()
				delete(a.timers, e.Timer)
			}
		case phase.NotifyTerminal:
			if a.getting != nil {
				a.getting()
			}
			a.j.cfg.Log.Info("a job has ended", "job", a.id, "phase", e.Phase, "exit_code", e.ExitCode)
		}
	}
}

// put writes the document, and tries until it can: nothing goes on before. Ranks
// that run meanwhile are not renewed and end by their leases. A request that nobody
// has been promised anything for is refused instead.
func (a *actor) put(job api.Job) {
	began, away := a.j.cfg.Clock.Boot(), a.j.away()
	for reported := false; ; reported = true {
		err := a.j.write(a.id, job)
		switch {
		case err == nil:
			a.trial = false
			a.halted(nil)
			if reported {
				stalled := a.j.cfg.Clock.Boot() - began - (a.j.away() - away)
				a.stalled += stalled
				a.countAnew(stalled)
			}
			return
		case a.trial:
			a.failure = err
			return
		case !reported:
			a.j.cfg.Log.Error("a job's document cannot be written; the job waits", "job", a.id, "error", err)
		}
		a.halted(err)
		if !a.pause(retryPut) {
			return
		}
	}
}

// write publishes a document of this node and takes it in at once. What the document
// points to is not changed any more: see [phase.Next].
func (j *Jobs) write(id api.JobID, job api.Job) error {
	err := j.cfg.Documents.Put(api.KindJob, id.String(), job, nil)
	if errors.Is(err, api.ReasonDocumentTooLarge) {
		job = smaller(job)
		err = j.cfg.Documents.Put(api.KindJob, id.String(), job, nil)
	}
	if err != nil {
		return err
	}
	if r, ok := j.cfg.Ledger.Get(j.key(id)); ok {
		j.absorb(r)
	}
	return nil
}

func (j *Jobs) key(id api.JobID) api.Key {
	return api.Key{Node: j.cfg.Node, Kind: api.KindJob, Name: id.String()}
}

// maxPhasesSmall are the phases that a document keeps that would be too large.
const maxPhasesSmall = 64

// smaller leaves out of a document what is for people only: earlier plans, what
// plans rest on, and early phases.
func smaller(job api.Job) api.Job {
	attempts := make([]api.Attempt, len(job.Attempts))
	for i, at := range job.Attempts {
		if at.Plan != nil && at.Attempt != job.Attempt {
			at.Plan = nil
		} else if at.Plan != nil {
			plan := *at.Plan
			plan.Used, plan.Notes = nil, nil
			at.Plan = &plan
		}
		attempts[i] = at
	}
	job.Attempts = attempts
	if over := len(job.Phases) - maxPhasesSmall; over > 0 {
		job.Phases = job.Phases[over:]
	}
	return job
}

// pause waits for d. It reports false where the jobs were closed before.
func (a *actor) pause(d time.Duration) bool { return native.Pause(a.j.ctx, a.j.cfg.Clock, d) }

// forwardStop tells the new home of a request that the former one has taken.
func (a *actor) forwardStop(e phase.ForwardStop) {
	params := api.PeerJobParams{RequestKind: api.RequestStop, Job: a.id, By: e.Stop.By, Kill: e.Stop.Kill}
	a.async(func() func() {
		for {
			err := a.j.call(a.j.ctx, e.To, "peer.job", params, nil, requestWithin, "to stop the job "+a.id.String())
			if err == nil || definite(err) || !a.pause(retryPut) {
				if err != nil {
					a.j.cfg.Log.Warn("a stop was not taken by the job's new home", "job", a.id, "node", e.To, "error", err)
				}
				return nil
			}
		}
	})
}

// handOver asks another node to be the home. That it is, its document says; until that has
// come the phase machine asks again.
func (a *actor) handOver(e phase.HandOver) {
	job := e.Job
	params := api.PeerJobParams{RequestKind: api.RequestSubmit, Job: a.id, By: job.Principal, Handed: &job, Offer: &e.Offer, Environment: a.j.environment(a.id)}
	a.async(func() func() {
		err := a.j.call(a.j.ctx, e.To, "peer.job", params, nil, requestWithin, "to keep the job "+a.id.String())
		switch {
		case err == nil:
			return nil
		case definite(err):
			if newer := a.j.newerHome(a.id, e.To, err); newer != nil {
				return a.events(newer)
			}
			return a.events(phase.HandOverRefused{Node: e.To, Cause: a.j.causeOf(err, e.To)})
		}
		a.j.cfg.Log.Info("a node has not said whether it keeps a job", "job", a.id, "node", e.To, "error", err)
		return nil
	})
}

// environment are the values of a job's variables, where this node has them.
func (j *Jobs) environment(id api.JobID) map[string]string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.values[id]
}
