package profile

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology/history"
	"fulmen/native"
)

// measurePath measures a path, or takes what the scenario records of it.
func (p *Profiler) measurePath(t *task) *api.Error {
	if isCable(t.key) {
		return p.measureRDMA(t)
	}
	path, ok := p.pathOf(t.key.Name)
	if !ok && p.cfg.Look != nil {
		p.cfg.Look()
		path, ok = p.pathOf(t.key.Name)
	}
	if !ok {
		return api.Errorf(api.ReasonLinkGone, t.key.Name, "The path is not there now: the cable, the address or the other node is gone.")
	}
	if p.isRecorded(path.Kind) {
		reading, ok := p.cfg.Recorded().Path(path)
		if !ok {
			return api.Errorf(api.ReasonNotInScenario, t.key.Name, "The scenario has no measurement of this path.")
		}
		return p.inItsTurn(t, func(now conditions) *api.Error { return p.pathMeasured(path, reading, now, nil) })
	}
	var full bool
	var reading Reading
	now, fault, over := p.inTurn(t, func(held context.Context) *api.Error {
		full = t.isFull || t.isAsked.Load()
		p.mu.Lock()
		path.Streams = p.paths[t.key.Name].Streams
		p.mu.Unlock()
		var err error
		alone := path
		alone.Beside = nil
		reading, err = p.cfg.Probe(held, t.id, alone, full, func(step string, done float64) { p.progress(t, step, done) })
		if err == nil && len(path.Beside) > 0 {
			reading.Together, err = p.together(held, t, path, reading.Streams)
		}
		return api.AsError(err)
	})
	if over != nil {
		return over
	}
	p.mu.Lock()
	p.long[t.key.Name] = full
	p.mu.Unlock()
	if fault != nil {
		p.cfg.Log.Warn("a path could not be measured", "path", t.key.Name, "reason", string(fault.Data.Reason), "error", fault.Message)
		if reading.isEmpty() {
			p.failed(t.key, path, fault)
			return fault
		}
	}
	return cmp.Or(p.pathMeasured(path, reading, now, fault), fault)
}

// togetherWithin is how long the peer may be busy with others between a path alone and
// together with those beside it: some measurements.
const togetherWithin = 20 * time.Second

// together measures a path with those beside it, by the short measurement: how many
// connections each takes is known. What it gave alone stays where that fails, but for an end
// that says nothing of the paths. Another node may have begun to measure the peer in
// between: that is waited for.
func (p *Profiler) together(held context.Context, t *task, path Path, streams int) (*api.LinkTogether, error) {
	path.Streams = streams
	var reading Reading
	var err error
	for began := p.cfg.Clock.Boot(); ; {
		reading, err = p.cfg.Probe(held, t.id, path, false, func(step string, _ float64) {
			p.progress(t, fmt.Sprintf("%d paths together: %s", 1+len(path.Beside), step), 1) // little is left
		})
		switch {
		case held.Err() != nil:
			return nil, err
		case err == nil || !passes(api.AsError(err).Data.Reason):
		case p.cfg.Clock.Boot()-began > togetherWithin || !native.Pause(held, p.cfg.Clock, retryAfter):
			return nil, err
		default:
			continue
		}
		break
	}
	all := &api.LinkTogether{UpBitsPerS: reading.UpBitsPerS, DownBitsPerS: reading.DownBitsPerS}
	for _, one := range append([]Path{path}, path.Beside...) {
		all.Sources, all.Sinks = append(all.Sources, one.Source), append(all.Sinks, one.Sink)
	}
	if err != nil {
		fault := api.AsError(err)
		all.Reason = fault.Data.Reason
		p.cfg.Log.Info("paths could not be measured together", "path", path.Name(), "reason", string(all.Reason), "error", fault.Message)
	}
	return all, nil
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
	value.Together, value.MeasuredAt = r.Together, p.dateLocked(key)
	value = history.AddLink(value, before, isAnother(path, before))
	if fault != nil {
		value.Failure = p.failureLocked(key, fault, before.Failure)
	}
	p.paths[key.Name] = value
	delete(p.seen.changed, key.Name)
	p.mu.Unlock()
	p.judgeAll(p.cfg.Paths())
	return api.AsError(p.putPath(key.Name, value, now.unknown))
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

// judgeAll raises and clears the conditions of this node's paths, as their
// documents have it. What several paths over one cable say of it is said together.
func (p *Profiler) judgeAll(paths []Path) {
	p.judging.Lock()
	defer p.judging.Unlock()
	p.mu.Lock()
	known := map[string]api.LinkProfile{}
	for _, path := range paths {
		known[path.Name()] = p.paths[path.Name()]
	}
	p.mu.Unlock()
	found := map[api.Reason]map[string]string{api.ReasonLinkBelowHistory: {}, api.ReasonRDMAProbeFailed: {}}
	add := func(code api.Reason, path Path, reports string) {
		about, subject := found[code], path.conditionSubject()
		if before := about[subject]; before != "" {
			reports = before + "; " + reports
		}
		about[subject] = reports
	}
	for _, path := range paths {
		value := known[path.Name()]
		if path.IsMuted {
			continue
		}
		if drops := history.Drops(value); len(drops) > 0 && (path.Kind == api.LinkRDMA || isOwnNetwork(path.Kind)) && !isAnother(path, value) {
			add(api.ReasonLinkBelowHistory, path, p.reports(path, drops))
		}
		if f := value.Failure; f != nil && f.Reason == api.ReasonRDMAProbeFailed {
			add(api.ReasonRDMAProbeFailed, path, f.Message)
		}
	}
	for code, details := range found {
		p.cfg.Conditions.Only(code, details)
	}
}

// conditionSubject is what the condition of a path is about: the cable, where it is
// one. A cable that carries several addresses is named once.
func (p Path) conditionSubject() string {
	if p.Link.Valid() {
		return p.Link.String()
	}
	return p.Name()
}

// reports is what a path gives, between which ports, and what it gave.
func (p *Profiler) reports(path Path, drops []history.Drop) string {
	here, there := p.cfg.Name(p.cfg.Node), p.cfg.Name(path.Peer)
	where := fmt.Sprintf("%s (%s) and %s", here, path.Interface, there)
	if near, ok := path.Link.End(p.cfg.Node); ok {
		where = fmt.Sprintf("the cable between %s:%s and %s:%s", here, near.PortNumber, there, path.Link.Other(near).PortNumber)
	}
	if path.Transport == api.TransportRDMA {
		where += " over RDMA"
	}
	var ways []string
	for _, d := range drops {
		to := there
		if d.IsDown {
			to = here
		}
		ways = append(ways, fmt.Sprintf("%.3g Gb/s to %s where it gave %.3g", float64(d.NowBitsPerS)/1e9, to, float64(d.UsualBitsPerS)/1e9))
	}
	return where + ": " + strings.Join(ways, ", ")
}
