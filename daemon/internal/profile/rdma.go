package profile

import (
	"context"
	"strings"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

const (
	// readyWithin is how long who asks for a test of a cable waits for the cable to be
	// seen ready: what a person has just enabled or plugged in is so after a moment.
	// readyAgain is how often it is looked at meanwhile.
	readyWithin = 3 * time.Second
	readyAgain  = 100 * time.Millisecond
)

// isCable reports whether a document is that of a cable over RDMA: it has the name of
// the cable.
func isCable(key api.Key) bool {
	return key.Kind == api.KindLinkProfile && strings.Contains(key.Name, "~")
}

// MeasureCable is rdma.probe: it tests a cable over RDMA, or joins the test that
// runs. It goes on when ctx ends.
func (p *Profiler) MeasureCable(ctx context.Context, by Caller, link api.LinkID) (*Watch, error) {
	key := api.Key{Node: link.Low.Node, Kind: api.KindLinkProfile, Name: link.String()}
	return p.measure(ctx, order{by: by.Principal, asked: true, keys: []api.Key{key}})
}

// measureRDMA tests and measures a cable over RDMA. Once it has begun it goes on to
// its end, also where a job waits for this node: it takes seconds, and workers that
// are killed may leave the device in disorder. What has failed is not tried again.
func (p *Profiler) measureRDMA(t *task) *api.Error {
	path, fault := p.readyCable(t)
	if fault != nil {
		return fault
	}
	recorded, isRecorded := Reading{}, false
	if p.cfg.Scenario != nil {
		if recorded, isRecorded, _ = p.cfg.Scenario.Path(path); isRecorded && !p.isTest(t) {
			return p.pathMeasured(path, recorded, p.conditions(t.ctx), nil)
		}
	}
	if p.cfg.ProbeRDMA == nil {
		return api.Errorf(api.ReasonNotSupportedByPlatform, t.key.Name, "This system does not measure RDMA.")
	}
	near, _ := path.Link.End(p.cfg.Node)
	_, release, fault := p.await(t, near.Receptacle)
	if fault != nil {
		return fault
	}
	before := p.conditions(t.ctx)
	reading, err := p.cfg.ProbeRDMA(t.ctx, t.id, path, func(step string, done float64) { p.progress(t, step, done) })
	release()
	if p.cfg.Scenario != nil {
		reading = recorded
	}
	if err == nil {
		return p.pathMeasured(path, reading, before.with(p.conditions(context.WithoutCancel(t.ctx))), nil)
	}
	if t.ctx.Err() != nil {
		return t.causeOf(err)
	}
	if fault = api.AsError(err); isObstacle(fault.Data.Reason) {
		return fault
	}
	p.cfg.Log.Warn("a cable could not be measured over RDMA", "link", t.key.Name, "reason", string(fault.Data.Reason), "error", fault.Message)
	p.mu.Lock()
	delete(p.seen.changed, t.key.Name)
	p.mu.Unlock()
	p.pathFailed(path, fault)
	p.judgeAll(p.cfg.Paths())
	return fault
}

// readyCable finds the cable that is to be tested, once it is ready.
func (p *Profiler) readyCable(t *task) (Path, *api.Error) {
	began := p.cfg.Clock.Boot()
	for {
		if path, ok := p.pathOf(t.key.Name); ok {
			return path, nil
		}
		if !p.isAsked(t) || p.cfg.Clock.Boot()-began >= readyWithin {
			e := api.Errorf(api.ReasonRDMANotReady, t.key.Name, "RDMA is not ready on this cable.")
			e.Data.Remedy = "`fulmen rdma check` names what is missing."
			return Path{}, e
		}
		// The facts of both ends come by themselves, each at its time.
		if !native.Pause(t.ctx, p.cfg.Clock, readyAgain) {
			return Path{}, t.causeOf(t.ctx.Err())
		}
	}
}

// isTest reports whether a cable of a simulated Mac is really tested. What the
// scenario records of one that was never tested is shown without a test, as
// something that somebody has measured before.
func (p *Profiler) isTest(t *task) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.paths[t.key.Name]
	return t.isAsked || !known.MeasuredAt.IsZero() || known.Failure != nil
}

// paceOfRDMA is when a cable is tested unasked: once each time that it was plugged
// in anew or has another speed, if it was tested before. A result that is old stays
// so, and a failure. The caller holds mu.
func (p *Profiler) paceOfRDMA(key api.Key, known api.LinkProfile, isWatched bool) pacing {
	at := known.MeasuredAt
	if known.Failure != nil && known.Failure.At.After(at.Time) {
		at = known.Failure.At
	}
	switch {
	case at.IsZero() && p.cfg.Scenario != nil:
		return pacing{IsWanted: isWatched}
	case !at.IsZero() && p.seen.changed[key.Name]:
		return pacing{IsMeasured: true, IsChanged: true, Age: max(0, p.cfg.Clock.Now().Sub(at.Time))}
	}
	return pacing{}
}
