package rdmaprobe

import (
	"context"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/native"
)

// visit is the test of another node whose cable ends here.
type visit struct {
	from    api.NodeID
	link    api.LinkID
	attempt int
	ctx     context.Context
	cancel  context.CancelCauseFunc
	timer   native.Timer
	forget  func() bool // what else would end it
	release func()
	running sync.WaitGroup
	ran     bool // guarded by Prober.mu
}

// handle answers peer.probe.
func (p *Prober) handle(ctx context.Context, end gate.CableNode, params api.PeerProbeParams) (any, error) {
	from, link := end.Node(), end.Link()
	switch {
	case !params.Measurement.Valid():
		return nil, api.NewError(api.ReasonMissingField, "measurement")
	case params.Attempt < 1:
		return nil, api.Errorf(api.ReasonBadValue, "attempt", "There is no attempt %d.", params.Attempt)
	case link.Low.Node != from || link.High.Node != p.cfg.Node:
		return nil, api.Errorf(api.ReasonBadValue, "link", "%s has no such cable to measure.", p.cfg.Name(from))
	}
	switch params.Step {
	case api.ProbeHold:
		return p.beHeld(ctx, from, params)
	case api.ProbeRun:
		hasRun, err := p.take(ctx, from, params)
		if hasRun { // nothing more comes of it, also where the other node is gone
			p.leave(from, params.Measurement)
		}
		return api.PeerProbeResult{}, err
	case api.ProbeRelease:
		p.leave(from, params.Measurement)
		return api.PeerProbeResult{}, nil
	}
	return nil, api.Errorf(api.ReasonBadValue, "step", "There is no step %q.", params.Step)
}

// beHeld holds this end for another node.
func (p *Prober) beHeld(ctx context.Context, from api.NodeID, params api.PeerProbeParams) (any, error) {
	p.leave(from, params.Measurement) // its try before may not have been given back
	device, fault := p.cfg.Ready(ctx, params.Link.High)
	if fault != nil {
		return nil, fault
	}
	release, err := p.cfg.Hold(ctx, from, params.Measurement, params.Link.High.PortNumber)
	if err != nil {
		return nil, err
	}
	v := &visit{from: from, link: params.Link, attempt: params.Attempt, release: release}
	v.ctx, v.cancel = context.WithCancelCause(p.base)
	p.mu.Lock()
	if p.closed || p.visits[params.Measurement] != nil {
		p.mu.Unlock()
		release()
		return nil, api.NewError(api.ReasonStopping, "")
	}
	p.visits[params.Measurement] = v
	p.work.Add(1) // until it is given back
	v.timer = p.cfg.Clock.AfterFunc(visitWithin, func() { p.leave(from, params.Measurement) })
	v.forget = context.AfterFunc(p.base, func() { p.leave(from, params.Measurement) })
	p.mu.Unlock()
	return api.PeerProbeResult{Device: device}, nil
}

// take runs rank 1, and says whether it has.
func (p *Prober) take(ctx context.Context, from api.NodeID, params api.PeerProbeParams) (hasRun bool, err error) {
	p.mu.Lock()
	v := p.visits[params.Measurement]
	if v == nil || v.from != from || v.link != params.Link || v.attempt != params.Attempt || v.ran {
		p.mu.Unlock()
		return false, api.Errorf(api.ReasonProbeTokenInvalid, string(params.Measurement), "%s no longer reserves its end of the cable for this test.", p.cfg.Name(p.cfg.Node))
	}
	v.ran = true
	v.running.Add(1)
	p.mu.Unlock()
	defer v.running.Done()
	if p.cfg.Worker == "" || !isPair(params.Devices) {
		return true, api.Errorf(api.ReasonBadValue, "devices", "The devices are not those of exactly two ranks.")
	}
	// Who does not wait for the answer any more is gone, or has called it off.
	stop := context.AfterFunc(ctx, func() { v.cancel(api.NewError(api.ReasonCancelled, "")) })
	defer stop()
	_, fault := p.runRank(v.ctx, rankSpec{
		ref: refOf(params.Measurement, params.Attempt, 1), nodes: []api.NodeID{v.link.Low.Node, v.link.High.Node}, end: v.link.High,
		devices: params.Devices, progress: func(string, float64) {},
	})
	if fault != nil {
		return true, fault
	}
	return true, nil
}

// leave ends a visit, once what it runs has ended; without one it does nothing.
func (p *Prober) leave(from api.NodeID, id api.MeasureID) {
	p.mu.Lock()
	v := p.visits[id]
	if v == nil || v.from != from {
		p.mu.Unlock()
		return
	}
	delete(p.visits, id)
	v.ran = true
	p.mu.Unlock()
	defer p.work.Done()
	v.timer.Stop()
	v.forget()
	v.cancel(api.NewError(api.ReasonCancelled, ""))
	v.running.Wait()
	v.release()
}

// isPair reports whether a matrix is that of two ranks with one device each, whose
// names are ones.
func isPair(devices [][][]string) bool {
	isDevice := func(names []string) bool { return len(names) == 1 && len(names[0]) > 0 && len(names[0]) <= 64 }
	return len(devices) == 2 && len(devices[0]) == 2 && len(devices[1]) == 2 && len(devices[0][0]) == 0 && len(devices[1][1]) == 0 &&
		isDevice(devices[0][1]) && isDevice(devices[1][0])
}
