package attach

import (
	"context"
	"sync"

	"fulmen/daemon/api"
)

// MaxKept is how much of a job's input is kept, in bytes.
const MaxKept = 1 << 20

// feed is the input of one job, as long as the job lives.
type feed struct {
	attach *Attach
	id     api.JobID
	ctx    context.Context // ends with the feed
	cancel context.CancelFunc
	giving chan struct{} // whoever has put something in may give

	follower *follower

	mu      sync.Mutex
	changed chan struct{} // closed and replaced at every change
	by      api.Principal // who gave last, in whose name it is passed on
	client  string        // the client that may give more
	begun   bool
	start   int64  // the place of the first byte that is kept
	kept    []byte // the input from there on
	ended   bool   // there will be no more
	failed  *api.Error
	attempt int
	takers  map[api.RankRef]int64 // how far the attempt's ranks are that still read; saidNothing before they say so
	size    *api.JobResizeParams
	rank0   *rankAt // where a terminal is that has a size
}

// feed finds or begins the feed of a job.
func (a *Attach) feed(by api.Principal, id api.JobID) (*feed, view, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f := a.feeds[id]
	if f == nil {
		ctx, cancel := context.WithCancel(a.ctx)
		f = &feed{
			attach: a, id: id, ctx: ctx, cancel: cancel, follower: a.follow(ctx, id),
			giving: make(chan struct{}, 1), changed: make(chan struct{}), by: by, takers: map[api.RankRef]int64{},
		}
	}
	v := f.follower.view()
	err := a.allowed(by, id, v)
	if err == nil && v.job.Phase.Ended() {
		err = api.NewError(api.ReasonJobEnded, id.String())
	}
	switch {
	case a.feeds[id] != nil:
	case err != nil:
		f.cancel()
	default:
		a.feeds[id] = f
		go f.run()
	}
	return f, v, err
}

// saidNothing is how far a rank is that did not say so yet.
const saidNothing = -1

// Input gives a job input, and says where all of it ends. It waits while the ranks
// take less than is given. A piece that was given before counts once; one that
// does not begin where the last one ended, or sooner, is refused, and so is one of
// a client in whose place another gives. Errors are *api.Error: no_such_job,
// not_your_job, job_ended, bad_value, input_lost, input_elsewhere; or that of ctx.
func (a *Attach) Input(ctx context.Context, by api.Principal, p api.JobInputParams) (api.JobInputResult, error) {
	f, v, err := a.feed(by, p.Job)
	if err == nil && p.OffsetBytes == api.InputAfterAll && f.isElsewhere() {
		f.fail(api.NewError(api.ReasonInputElsewhere, p.Job.String())) // begun anew: the ranks know how far they are
		f, v, err = a.feed(by, p.Job)
	}
	if err != nil {
		return api.JobInputResult{}, err
	}
	if reads(v.spec.Program, 0) {
		return f.give(ctx, by, p, v.job.Attempt)
	}
	if len(p.Data) > 0 {
		err = api.Errorf(api.ReasonBadValue, "data", "%s reads no input.", p.Job)
	}
	return api.JobInputResult{}, err
}

// isElsewhere reports whether a client of another node gives the ranks their input.
func (f *feed) isElsewhere() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed != nil && f.failed.Data.Reason == api.ReasonInputElsewhere
}

// reads reports whether a rank reads what is given. A terminal does in any case.
func reads(p api.Program, rank int) bool {
	return p.Stdin == api.StdinAll || rank == 0 && (p.Stdin == api.StdinRank0 || p.Terminal)
}

// tell wakes everybody who waits for a change.
func (f *feed) tell() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// fail ends the feed for a reason, and whoever waits for it.
func (f *feed) fail(why *api.Error) {
	f.mu.Lock()
	if f.failed == nil {
		f.failed = why
		f.tell()
	}
	f.mu.Unlock()
	f.cancel()
	f.attach.mu.Lock()
	defer f.attach.mu.Unlock()
	if f.attach.feeds[f.id] == f {
		delete(f.attach.feeds, f.id)
	}
}

// lose notes that the attempt cannot be given its input.
func (f *feed) lose(ref api.RankRef) {
	why := api.NewError(api.ReasonInputLost, ref.String())
	if f.refuse(why) && f.attach.config.Lost != nil {
		f.attach.config.Lost(f.id, why)
	}
}

// refuse has the feed stay, and say to whoever gives more why that cannot be. It
// reports whether nothing else was in the way before.
func (f *feed) refuse(why *api.Error) (first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if first = f.failed == nil; first {
		f.failed = why
		f.tell()
	}
	return first
}

// run starts what feeds each rank, as the ranks come and go.
func (f *feed) run() {
	feeders := map[api.RankRef]*feeder{}
	for {
		v := f.follower.view()
		if v.deleted || v.job.Phase.Ended() {
			reason := api.ReasonJobEnded
			if v.deleted {
				reason = api.ReasonJobDeleted
			}
			f.fail(api.NewError(reason, f.id.String()))
			return
		}
		f.step(v, feeders)
		select {
		case <-f.follower.changed:
		case <-f.ctx.Done():
			f.fail(api.NewError(api.ReasonCancelled, f.id.String()))
			return
		}
	}
}

func (f *feed) step(v view, feeders map[api.RankRef]*feeder) {
	a, ok := v.attempt(v.job.Attempt)
	if !ok || a.Plan == nil {
		return
	}
	f.mu.Lock()
	if f.attempt != a.Attempt {
		f.attempt, f.takers, f.rank0 = a.Attempt, map[api.RankRef]int64{}, nil
		for _, r := range a.Plan.Ranks {
			if reads(v.spec.Program, r.Rank) {
				f.takers[api.RankRef{Job: f.id, Attempt: a.Attempt, Rank: r.Rank}] = saidNothing
			}
		}
	}
	f.mu.Unlock()
	for _, r := range a.Plan.Ranks {
		at := rankAt{api.RankRef{Job: f.id, Attempt: a.Attempt, Rank: r.Rank}, r.Node}
		doc, known := v.ranks[at]
		running := known && (doc.Phase == api.RankHandshake || doc.Phase == api.RankRunning || doc.Phase == api.RankEnding)
		over := known && doc.Phase.Ended() || v.over(a)
		if running && r.Rank == 0 && v.spec.Program.Terminal {
			f.hasTerminal(at)
		}
		fed := feeders[at.ref]
		switch {
		case over && fed != nil:
			fed.cancel()
			f.leave(at.ref)
		case over:
			f.leave(at.ref)
		case fed != nil:
			fed.nudge.Wake()
		case running && reads(v.spec.Program, r.Rank):
			feeders[at.ref] = f.begin(at)
		}
	}
}

// leave takes a rank out of those that still read.
func (f *feed) leave(ref api.RankRef) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.takers[ref]; ok {
		delete(f.takers, ref)
		f.tell()
	}
}
