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
	if err := checkAge(params.MaxAgeS); err != nil {
		return nil, err
	}
	var nodes []api.NodeID
	if params.All {
		nodes = p.cfg.Reached()
	}
	for _, ref := range params.Nodes {
		node := p.cfg.Node
		if ref != "" {
			var err error
			if node, err = p.cfg.Resolve(ref); err != nil {
				return nil, err
			}
		}
		nodes = append(nodes, node)
	}
	if len(nodes) == 0 {
		nodes = []api.NodeID{p.cfg.Node}
	}
	var keys []api.Key
	for _, node := range nodes {
		keys = append(keys, api.Key{Node: node, Kind: api.KindGPUProfile})
	}
	return p.measure(ctx, order{by: by.Principal, asked: true, maxAgeS: params.MaxAgeS, keys: keys})
}

// MeasureLink is measure.link. It goes on when ctx ends.
func (p *Profiler) MeasureLink(ctx context.Context, by Caller, params api.MeasureLinkParams) (*Watch, error) {
	if err := checkAge(params.MaxAgeS); err != nil {
		return nil, err
	}
	keys, err := p.cfg.Subjects(params)
	if err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		return nil, api.Errorf(api.ReasonNoSuchLink, "", "There is no path to measure.").
			WithRemedy("See which nodes are reached, and how, with: fulmen peers")
	}
	return p.measure(ctx, order{by: by.Principal, asked: true, maxAgeS: params.MaxAgeS, keys: keys})
}

// measure begins what is ordered, or joins the same.
func (p *Profiler) measure(ctx context.Context, o order) (*Watch, error) {
	slices.SortFunc(o.keys, api.Key.Compare)
	o.keys = slices.Compact(o.keys)
	now := p.conditions(ctx)
	if err := p.awaitEnding(ctx, o.keys); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, api.NewError(api.ReasonStopping, "")
	}
	for _, key := range o.keys {
		o.areFresh = append(o.areFresh, p.freshLocked(key, o.maxAgeS, now.value))
	}
	if !slices.Contains(o.areFresh, true) {
		for _, r := range p.all {
			if !r.over() && r.asked && r.why == nil && r.isOf(o.keys) {
				return p.watchLocked(r), nil
			}
		}
	}
	o.id = api.NewMeasureID()
	return p.watchLocked(p.beginLocked(o)), nil
}

// awaitEnding waits until what was cancelled has ended, which takes a few seconds
// at most: whoever asks now wants a result, and not to join it.
func (p *Profiler) awaitEnding(ctx context.Context, keys []api.Key) error {
	for _, key := range keys {
		for {
			p.mu.Lock()
			t := p.tasks[key]
			if p.closed || t == nil || t.ctx.Err() == nil {
				p.mu.Unlock()
				break
			}
			done := t.done
			p.mu.Unlock()
			select {
			case <-done:
			case <-ctx.Done():
				return api.Errorf(api.ReasonMeasurementRunning, string(t.id), "The previous measurement was cancelled but has not ended yet.")
			}
		}
	}
	return nil
}

// Get is measure.get.
func (p *Profiler) Get(ctx context.Context, params api.MeasureSelect) (api.Measurement, error) {
	w, err := p.Watch(ctx, params)
	if err != nil {
		return api.Measurement{}, err
	}
	return w.Measurement, nil
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
	return p.watchLocked(r), nil
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
	p.abandonLocked(r, api.NewError(api.ReasonCancelled, ""))
	return api.Empty{}, nil
}

func checkAge(age float64) error {
	if math.IsNaN(age) || age < 0 {
		return api.Errorf(api.ReasonBadValue, "max_age_s", "max_age_s is %v: it must be 0 or more.", age)
	}
	return nil
}

// freshLocked reports whether there is a result of at most that age, taken on the
// same system. A result may be older than this boot; one from the future is not
// accepted.
func (p *Profiler) freshLocked(key api.Key, maxAgeS float64, now api.MeasureConditions) bool {
	if maxAgeS <= 0 || key.Node != p.cfg.Node {
		return false
	}
	at := p.last.MeasuredAt
	if key.Kind == api.KindLinkProfile {
		at = p.paths[key.Name].MeasuredAt
	} else if p.last.Conditions.OSBuild != now.OSBuild {
		return false
	}
	if at.IsZero() {
		return false
	}
	// A result is dated to the millisecond below.
	age := p.cfg.Clock.Now().Sub(at.Time).Seconds()
	return age >= -0.001 && age <= maxAgeS
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

// forget drops what ended too long ago, and of too many the oldest: first of those
// that nobody asked for.
func (p *Profiler) forget() {
	now := p.cfg.Clock.Boot()
	p.all = slices.DeleteFunc(p.all, func(r *run) bool { return r.over() && now-r.ended > Kept })
	for _, asked := range []bool{false, true} {
		extra := len(p.all) - maxKept
		p.all = slices.DeleteFunc(p.all, func(r *run) bool {
			gone := extra > 0 && r.over() && r.asked == asked
			if gone {
				extra--
			}
			return gone
		})
	}
}
