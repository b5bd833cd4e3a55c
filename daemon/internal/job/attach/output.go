package attach

import (
	"cmp"
	"context"
	"io"
	"slices"
	"sync"

	"fulmen/daemon/api"
	"fulmen/native/waker"
)

// Output is what the ranks of a job print, for one client.
type Output struct {
	attach *Attach
	by     api.Principal
	params api.JobLogsParams

	pieces   chan api.OutputPiece
	done     chan struct{} // closed when nothing comes any more
	err      error         // why, where it is not that everything has come; set before done is closed
	cancel   context.CancelFunc
	terminal bool // was given; Next's

	// The rest belongs to run.
	first   int // the attempt it begins with; 0 = there is none yet
	tailed  int // the last attempt of which only a tail is wanted
	streams map[api.RankRef]*stream
	open    sync.WaitGroup
}

// Logs begins to read the output of a job. Errors are *api.Error: no_such_job,
// not_your_job, no_such_rank. The reading ends with ctx, or when the caller
// closes what is returned.
func (a *Attach) Logs(ctx context.Context, by api.Principal, p api.JobLogsParams) (*Output, error) {
	ctx, cancel := context.WithCancel(ctx)
	f := a.follow(ctx, p.Job)
	v := f.view()
	err := a.allowed(by, p.Job, v)
	if err == nil {
		err = wanted(p, v)
	}
	if err != nil {
		cancel()
		return nil, err
	}
	o := &Output{
		attach: a, by: by, params: p, pieces: make(chan api.OutputPiece), done: make(chan struct{}), cancel: cancel,
		first: p.Attempt, tailed: v.job.Attempt, streams: map[api.RankRef]*stream{},
	}
	go o.run(ctx, f)
	return o, nil
}

// wanted refuses a request for ranks or attempts that the job does not have.
func wanted(p api.JobLogsParams, v view) error {
	attempt, ok := v.attempt(cmp.Or(p.Attempt, v.job.Attempt))
	if !ok && p.Attempt > 0 && (!p.Follow || v.job.Phase.Ended()) {
		return api.Errorf(api.ReasonNoSuchRank, p.Job.String(), "%s has no attempt %d.", p.Job, p.Attempt)
	}
	if p.TailBytes < 0 {
		return api.NewError(api.ReasonBadValue, "tail_bytes")
	}
	for _, rank := range p.Ranks {
		if ok && attempt.Plan != nil && !slices.ContainsFunc(attempt.Plan.Ranks, func(r api.PlanRank) bool { return r.Rank == rank }) {
			return api.Errorf(api.ReasonNoSuchRank, p.Job.String(), "%s has no rank %d.", p.Job, rank)
		}
	}
	return nil
}

// Next waits for the next piece, of at most 64 KiB. The last one is terminal;
// after it the error is io.EOF. It is for one goroutine.
func (o *Output) Next(ctx context.Context) (api.JobOutput, error) {
	select {
	case p := <-o.pieces:
		return api.JobOutput{OutputPiece: p}, nil
	case <-o.done:
		if o.err != nil {
			return api.JobOutput{}, o.err
		}
		if o.terminal {
			return api.JobOutput{}, io.EOF
		}
		o.terminal = true
		return api.JobOutput{Terminal: true}, nil
	case <-ctx.Done():
		return api.JobOutput{}, context.Cause(ctx)
	}
}

// Close ends the reading. It may be repeated.
func (o *Output) Close() { o.cancel() }

// run starts a stream for each rank, and waits for all.
func (o *Output) run(ctx context.Context, f *follower) {
	defer close(o.done)
	for !o.step(ctx, f.view()) && ctx.Err() == nil {
		select {
		case <-f.changed:
		case <-ctx.Done():
		}
	}
	come := make(chan struct{})
	go func() { defer close(come); o.open.Wait() }()
	for waits := true; waits; {
		select {
		case <-f.changed: // a job that has ended can be deleted
			o.see(f.view())
		case <-come:
			waits = false
		}
	}
	o.err = context.Cause(ctx)
	o.cancel()
}

// step starts the streams that there can be now, and reports whether there will
// be no further ones.
func (o *Output) step(ctx context.Context, v view) (all bool) {
	o.first = cmp.Or(o.first, v.job.Attempt)
	last := o.first
	if o.params.Follow {
		last = max(last, v.job.Attempt)
	}
	for _, a := range v.job.Attempts {
		if o.first > 0 && a.Attempt >= o.first && a.Attempt <= last && a.Plan != nil {
			o.attempt(ctx, v, a)
		}
	}
	o.see(v)
	return !o.params.Follow || v.deleted || v.job.Phase.Ended()
}

// see passes a new view of the job on to the streams.
func (o *Output) see(v view) {
	for _, s := range o.streams {
		s.see(v)
	}
}

// attempt starts the streams of an attempt's ranks. A rank's document may come
// later than the job's, or be an old one, after a restart of this daemon: once
// nothing of the attempt runs any more, that it was started says more.
func (o *Output) attempt(ctx context.Context, v view, a api.Attempt) {
	for _, r := range a.Plan.Ranks {
		ref := api.RankRef{Job: o.params.Job, Attempt: a.Attempt, Rank: r.Rank}
		if o.streams[ref] != nil || len(o.params.Ranks) > 0 && !slices.Contains(o.params.Ranks, r.Rank) {
			continue
		}
		doc, known := v.ranks[rankAt{ref, r.Node}]
		early := doc.Phase == api.RankGranted || doc.Phase == api.RankPreparing && !o.params.Prepare
		if over := v.over(a) && !a.StartedAt.IsZero(); !over && (!known || early) {
			continue
		}
		s := &stream{
			attach: o.attach, ref: ref, node: r.Node, by: o.by, follow: o.params.Follow, prepare: o.params.Prepare, nudge: waker.New(),
			push: func(p api.OutputPiece) bool {
				select {
				case o.pieces <- p:
					return true
				case <-ctx.Done():
					return false
				}
			},
		}
		if a.Attempt <= o.tailed {
			s.out, s.err = -o.params.TailBytes, -o.params.TailBytes
		}
		o.streams[ref] = s
		s.see(v)
		o.open.Go(func() { s.run(ctx) })
	}
}
