package attach

import (
	"context"
	"errors"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/peer"
	"fulmen/native"
	"fulmen/native/waker"
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
	takers  map[api.RankRef]int64 // how far the attempt's ranks are that still read; reportedNothing before they say so
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

// reportedNothing is how far a rank is that did not say so yet.
const reportedNothing = -1

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

// notify wakes everybody who waits for a change.
func (f *feed) notify() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// fail ends the feed for a reason, and whoever waits for it.
func (f *feed) fail(why *api.Error) {
	f.mu.Lock()
	if f.failed == nil {
		f.failed = why
		f.notify()
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
		f.notify()
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
				f.takers[api.RankRef{Job: f.id, Attempt: a.Attempt, Rank: r.Rank}] = reportedNothing
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
		f.notify()
	}
}

// feeder gives one rank its input.
type feeder struct {
	feed   *feed
	at     rankAt
	cancel context.CancelFunc
	nudge  waker.Waker
}

func (f *feed) begin(at rankAt) *feeder {
	ctx, cancel := context.WithCancel(f.ctx)
	r := &feeder{feed: f, at: at, cancel: cancel, nudge: waker.New()}
	go r.run(ctx)
	return r
}

// errDone says that a rank takes no more input.
var errDone = errors.New("the rank wants no more input")

// run feeds the rank over one connection after the other.
func (r *feeder) run(ctx context.Context) {
	defer r.cancel()
	for pause := time.Duration(0); ; {
		worked, err := r.once(ctx)
		if ctx.Err() != nil || errors.Is(err, errDone) {
			return
		}
		if worked {
			pause = 0
		}
		pause = longer(pause)
		if !native.Wait(ctx, r.feed.attach.config.Clock, pause, r.nudge) {
			return
		}
	}
}

// once feeds the rank over one connection, and reports whether that was taken.
func (r *feeder) once(ctx context.Context) (worked bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l, err := r.feed.attach.open(ctx, r.at.node, api.PeerConn{
		Carries: api.ConnInput, Rank: r.at.ref, Input: &api.PeerInput{By: r.feed.giver()},
	})
	if err != nil {
		return false, err
	}
	defer l.conn.Close()
	defer l.closeWith(ctx)()
	writing := false
	for {
		m, err := l.next()
		if err != nil {
			return writing, err
		}
		switch m := m.(type) {
		case peer.Taken:
			if m.Ended {
				r.feed.leave(r.at.ref)
				return true, errDone
			}
			if !r.feed.taken(r.at.ref, m.Bytes) {
				return true, errDone
			}
			if !writing {
				writing = true
				done := make(chan struct{})
				go func() {
					defer close(done)
					r.write(ctx, l, m.Bytes)
				}()
				defer func() {
					cancel()
					_ = l.conn.Close()
					<-done
				}()
			}
		case peer.Refused:
			return writing, r.refused(m.Error)
		}
	}
}

// refused decides what a refusal means.
func (r *feeder) refused(why *api.Error) error {
	switch why.Data.Reason {
	case api.ReasonInputLost:
		r.feed.lose(r.at.ref)
		return errDone
	case api.ReasonInputElsewhere:
		r.feed.refuse(why) // a client of another node gives it, until one here takes it back
		return errDone
	case api.ReasonUnreachable, api.ReasonNoSuchRank:
		return why // it may come yet, or its end become known
	}
	r.feed.fail(why)
	return errDone
}

// write sends what there is from a place on, and what comes.
func (r *feeder) write(ctx context.Context, l *link, at int64) {
	buffer := make([]byte, peer.MaxPiece)
	for {
		n, end, changed := r.feed.from(at, buffer)
		if n > 0 || end {
			if l.to.Send(peer.Given{Offset: at, Data: buffer[:n], End: end}) != nil {
				return
			}
			at += int64(n)
			if end {
				return
			}
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func (f *feed) giver() api.Principal {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.by
}

// from copies input from a place on, and says whether it ends after it; if
// neither, there is something to wait for.
func (f *feed) from(at int64, buffer []byte) (n int, end bool, changed <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if skip := at - f.start; f.begun && skip >= 0 && skip <= int64(len(f.kept)) {
		n = copy(buffer, f.kept[skip:])
		end = f.ended && int(skip)+n == len(f.kept)
	}
	return n, end, f.changed
}

// taken notes how far a rank is. It reports false where that is before what is
// kept: the rank cannot be fed.
func (f *feed) taken(ref api.RankRef, bytes int64) bool {
	f.mu.Lock()
	if lost := f.begun && bytes < f.start; lost {
		f.mu.Unlock()
		f.lose(ref)
		return false
	}
	defer f.mu.Unlock()
	if was, ok := f.takers[ref]; ok && bytes > was {
		f.takers[ref] = bytes
		f.notify()
	}
	return true
}
