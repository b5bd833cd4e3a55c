package profile

import (
	"context"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/profile/history"
)

// measurePath measures a path, or takes what the scenario records of it.
func (p *Profiler) measurePath(t *task) *api.Error {
	if isCable(t.key) {
		return p.measureRDMA(t)
	}
	path, ok := p.pathOf(t.key.Name)
	if !ok {
		return api.Errorf(api.ReasonLinkGone, t.key.Name, "The path is not there now: the cable, the address or the other node is gone.")
	}
	if p.cfg.Scenario != nil {
		reading, ok, isReal := p.cfg.Scenario.Path(path)
		switch {
		case isReal:
		case ok:
			return p.pathMeasured(path, reading, p.conditions(t.ctx), nil)
		default:
			return api.Errorf(api.ReasonNotInScenario, t.key.Name, "The scenario records nothing of this path.")
		}
	}
	if p.cfg.Probe == nil {
		return api.NewError(api.ReasonNotSupportedByPlatform, t.key.Name)
	}
	held, release, fault := p.await(t)
	if fault != nil {
		return fault
	}
	p.mu.Lock()
	path.Streams = p.paths[t.key.Name].Streams
	p.mu.Unlock()
	before := p.conditions(held)
	full := p.isFull(t)
	reading, err := p.cfg.Probe(held, t.id, path, full, func(step string, done float64) { p.progress(t, step, done) })
	preempted := context.Cause(held)
	release()
	switch {
	case err == nil:
	case t.ctx.Err() != nil:
		return t.causeOf(err)
	case preempted != nil:
		return api.AsError(preempted)
	default:
		fault = api.AsError(err)
	}
	if fault != nil && isObstacle(fault.Data.Reason) {
		return fault
	}
	if fault != nil {
		p.cfg.Log.Warn("a path could not be measured", "path", t.key.Name, "reason", string(fault.Data.Reason), "error", fault.Message)
	}
	p.mu.Lock()
	p.long[t.key.Name] = full
	p.mu.Unlock()
	if fault != nil && reading.isEmpty() {
		p.pathFailed(path, fault)
		return fault
	}
	if e := p.pathMeasured(path, reading, before.with(p.conditions(context.WithoutCancel(t.ctx))), fault); e != nil {
		return e
	}
	return fault
}

func (p *Profiler) isFull(t *task) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return t.isFull || t.isAsked
}

// pathOf finds a path of this node by the name of its document.
func (p *Profiler) pathOf(name string) (Path, bool) {
	for _, path := range p.cfg.Paths() {
		if path.Name() == name {
			return path, true
		}
	}
	return Path{}, false
}

// pathMeasured publishes a result; beside a fault it is a part of one.
func (p *Profiler) pathMeasured(path Path, r Reading, now conditions, fault *api.Error) *api.Error {
	key := p.pathKey(path.Name())
	p.mu.Lock()
	before := p.paths[key.Name]
	value := describe(path)
	value.UpBitsPerS, value.DownBitsPerS, value.RTTUS, value.JitterUS, value.LossRatio = r.UpBitsPerS, r.DownBitsPerS, r.RTTUS, r.JitterUS, r.LossRatio
	value.RTTSamples, value.Streams, value.MovedBytes, value.Sizes, value.Conditions = r.RTTSamples, r.Streams, r.MovedBytes, r.Sizes, now.value
	value.MeasuredAt = p.date(key)
	value = history.AddLink(value, before, isAnother(path, before))
	if fault != nil {
		value.Failure = p.failure(key, fault, before.Failure)
	}
	p.paths[key.Name] = value
	delete(p.seen.changed, key.Name)
	p.mu.Unlock()
	p.judgeAll(p.cfg.Paths())
	if err := p.putPath(path, value, now.unknown); err != nil {
		return api.AsError(err)
	}
	return nil
}

// pathFailed publishes why there is no result. What was measured before stays.
func (p *Profiler) pathFailed(path Path, fault *api.Error) {
	key := p.pathKey(path.Name())
	p.mu.Lock()
	value, known := p.paths[key.Name]
	if !known {
		value = describe(path)
	}
	value.Failure, value.Waiting = p.failure(key, fault, value.Failure), nil
	p.paths[key.Name] = value
	p.mu.Unlock()
	if err := p.putPath(path, value, nil); err != nil {
		p.cfg.Log.Error("the failure could not be published", "error", err)
	}
}

// putPath publishes a path's document, by the scenario where its numbers are.
func (p *Profiler) putPath(path Path, value api.LinkProfile, unknown map[string]api.Reason) error {
	if p.cfg.Scenario != nil {
		if _, _, isReal := p.cfg.Scenario.Path(path); !isReal {
			return p.cfg.Scenario.Put(api.KindLinkProfile, path.Name(), value, absentOfLink(value, unknown, api.ReasonNotInScenario))
		}
	}
	return p.cfg.Documents.Put(api.KindLinkProfile, path.Name(), value, absentOfLink(value, unknown, api.ReasonNotMeasured))
}

// describe is a path's document before anything was measured.
func describe(path Path) api.LinkProfile {
	return api.LinkProfile{
		Transport: path.Transport, LinkKind: path.Kind, Peer: path.Peer, Source: path.Source, Sink: path.Sink,
		Interface: path.Interface, Link: path.Link, NegotiatedAtStart: path.Negotiated,
	}
}

// isAnother reports whether a path has become another since it was measured, so
// that its earlier results say nothing of it: another address of this node, another
// interface, another speed of the cable.
func isAnother(path Path, before api.LinkProfile) bool {
	if before.MeasuredAt.IsZero() {
		return false
	}
	then, now := before.NegotiatedAtStart, path.Negotiated
	retrained := then != nil && now != nil && (then.TxBitsPerS != now.TxBitsPerS || then.RxBitsPerS != now.RxBitsPerS)
	return retrained || before.Interface != path.Interface || before.Link != path.Link || before.Source != path.Source
}

// absentOfLink gives the reason for every number of a path that is not there: why
// the last measurement failed, or what is usual.
func absentOfLink(v api.LinkProfile, unknown map[string]api.Reason, missing api.Reason) map[string]api.Reason {
	why := map[string]api.Reason{}
	if v.Failure != nil && v.Failure.Reason != "" {
		missing = v.Failure.Reason
	}
	for field, is := range map[string]bool{
		"measured_at": !v.MeasuredAt.IsZero(), "up_bits_per_s": v.UpBitsPerS != nil, "down_bits_per_s": v.DownBitsPerS != nil,
		"rtt_us": v.RTTUS != nil, "jitter_us": v.JitterUS != nil, "loss_ratio": v.LossRatio != nil,
	} {
		if !is {
			why[field] = missing
		}
	}
	for field, reason := range unknown {
		why["conditions."+field] = reason
	}
	if len(why) == 0 {
		return nil
	}
	return why
}
