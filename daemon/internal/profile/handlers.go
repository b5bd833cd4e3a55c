package profile

import (
	"context"
	"math"
	"slices"

	"fulmen/daemon/api"
)

// Caller is who asks.
type Caller struct {
	// Principal is the account; zero where the daemon itself asks.
	Principal api.Principal
	// Admin says that it may end what others began.
	Admin bool
}

// MeasureGPU is measure.gpu. It begins a measurement, joins the one that runs,
// or, where the caller accepts an earlier result and there is one, gives a
// measurement that is done. It goes on when ctx ends.
func (p *Profiler) MeasureGPU(ctx context.Context, by Caller, params api.MeasureGPUParams) (*Watch, error) {
	if err := p.check(params); err != nil {
		return nil, err
	}
	now := p.conditions(ctx)
	if err := p.awaitEnding(ctx); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return nil, api.NewError(api.ReasonStopping, "")
	case p.fresh(params.MaxAgeS, now.value):
		r := p.add(by, api.MeasureDone)
		r.ended = p.cfg.Clock.Boot()
		r.cancel(nil)
		return p.watch(r), nil
	case p.running == nil:
		r := p.add(by, api.MeasureRunning)
		p.running = r
		p.runs.Go(func() { p.measure(r, now) })
	}
	return p.watch(p.running), nil
}

// awaitEnding waits until a measurement that was cancelled has ended, which takes
// a few seconds at most: whoever asks now wants a result, and not to join it.
func (p *Profiler) awaitEnding(ctx context.Context) error {
	for {
		p.mu.Lock()
		r := p.running
		if p.closed || r == nil || r.ctx.Err() == nil {
			p.mu.Unlock()
			return nil
		}
		changed := r.changed
		p.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return api.Errorf(api.ReasonMeasurementRunning, string(r.state.ID), "The measurement before was cancelled and has not ended yet.")
		}
	}
}

// Get is measure.get.
func (p *Profiler) Get(_ context.Context, params api.MeasureSelect) (api.Measurement, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r, err := p.find(params)
	if err != nil {
		return api.Measurement{}, err
	}
	return r.copied(), nil
}

// List is measure.list.
func (p *Profiler) List(context.Context, api.Empty) (api.MeasureListResult, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget()
	list := api.MeasureListResult{Measurements: []api.Measurement{}}
	for _, r := range slices.Backward(p.all) {
		list.Measurements = append(list.Measurements, r.copied())
	}
	return list, nil
}

// Watch is measure.watch.
func (p *Profiler) Watch(_ context.Context, params api.MeasureSelect) (*Watch, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r, err := p.find(params)
	if err != nil {
		return nil, err
	}
	return p.watch(r), nil
}

// Cancel is measure.cancel. Who only joined a measurement did not begin it.
// Cancelling what has ended does nothing.
func (p *Profiler) Cancel(_ context.Context, by Caller, params api.MeasureSelect) (api.Empty, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r, err := p.find(params)
	if err != nil {
		return api.Empty{}, err
	}
	if owner := r.state.By; !by.Admin && (owner != by.Principal || owner == api.Principal{}) {
		whose := "the daemon"
		if owner.Valid() {
			whose = owner.String()
		}
		return api.Empty{}, api.Errorf(api.ReasonAdminRequired, string(r.state.ID),
			"%s began this measurement: only it or an administrator may end it.", whose)
	}
	r.cancel(api.NewError(api.ReasonCancelled, ""))
	return api.Empty{}, nil
}

// check refuses what cannot be measured from here.
func (p *Profiler) check(params api.MeasureGPUParams) error {
	if age := params.MaxAgeS; math.IsNaN(age) || age < 0 {
		return api.Errorf(api.ReasonBadValue, "max_age_s", "max_age_s is %v: it must be 0 or more.", age)
	}
	for _, ref := range params.Nodes {
		node, err := p.resolve(ref)
		if err != nil {
			return err
		}
		if node != p.cfg.Node {
			e := api.Errorf(api.ReasonNotSupportedByPlatform, string(node), "%s: this version measures its own node only.", ref)
			e.Data.Remedy = "Ask the daemon of that node."
			return e
		}
	}
	return nil
}

func (p *Profiler) resolve(ref api.NodeRef) (api.NodeID, error) {
	switch {
	case ref == "":
		return p.cfg.Node, nil
	case p.cfg.Resolve != nil:
		return p.cfg.Resolve(ref)
	}
	if id, err := api.ParseNodeID(string(ref)); err == nil && id == p.cfg.Node {
		return id, nil
	}
	return "", api.NewError(api.ReasonNoSuchNode, string(ref))
}

// fresh reports whether there is a result of at most that age, taken on the
// same system. The age is the wall clock's, since a result may be older than
// this boot; one from the future is not accepted.
func (p *Profiler) fresh(maxAgeS float64, now api.MeasureConditions) bool {
	if maxAgeS <= 0 || p.last.MeasuredAt.IsZero() || p.last.Conditions.OSBuild != now.OSBuild {
		return false
	}
	age := p.cfg.Clock.Now().Sub(p.last.MeasuredAt.Time).Seconds()
	// A result is dated to the millisecond below.
	return age >= -0.001 && age <= maxAgeS
}

// add notes a measurement that begins.
func (p *Profiler) add(by Caller, state api.MeasureState) *run {
	p.forget()
	r := &run{changed: make(chan struct{}), state: api.Measurement{
		ID: api.NewMeasureID(), By: by.Principal, State: state, StartedAt: p.now(),
		Items: []api.MeasureItem{{Document: api.Key{Node: p.cfg.Node, Kind: api.KindGPUProfile}, State: state}},
	}}
	r.ctx, r.cancel = context.WithCancelCause(p.base)
	p.all = append(p.all, r)
	return r
}

// find gives a measurement that is still known.
func (p *Profiler) find(params api.MeasureSelect) (*run, error) {
	p.forget()
	for _, r := range p.all {
		if r.state.ID == params.Measurement {
			return r, nil
		}
	}
	return nil, api.NewError(api.ReasonNoSuchMeasurement, string(params.Measurement))
}

// forget drops what ended too long ago, and of too many the oldest.
func (p *Profiler) forget() {
	now, extra := p.cfg.Clock.Boot(), len(p.all)-maxKept
	p.all = slices.DeleteFunc(p.all, func(r *run) bool {
		gone := r.over() && (now-r.ended > Kept || extra > 0)
		if gone {
			extra--
		}
		return gone
	})
}
