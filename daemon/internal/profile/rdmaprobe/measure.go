package rdmaprobe

import (
	"context"
	"sync"

	"fulmen/daemon/api"
	"fulmen/native"
)

// Measure tests a cable whose lower end is at this node, and whose caller holds
// what that takes here. The error is an *api.Error: where it says who is in the way
// now, nothing was opened; rdma_probe_failed is a test that ran and failed.
func (p *Prober) Measure(ctx context.Context, id api.MeasureID, link api.LinkID, progress func(step string, done float64)) (Result, error) {
	if link.Low.Node != p.cfg.Node {
		return Result{}, api.Errorf(api.ReasonBadValue, link.String(), "%s does not measure this cable.", p.cfg.Name(p.cfg.Node))
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return Result{}, api.NewError(api.ReasonStopping, "")
	}
	p.work.Add(1)
	p.mu.Unlock()
	defer p.work.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(p.base, func() { cancel(context.Cause(p.base)) })()
	r, fault := p.measure(ctx, id, link, progress)
	if fault != nil {
		return Result{}, fault
	}
	return r, nil
}

func (p *Prober) measure(ctx context.Context, id api.MeasureID, link api.LinkID, progress func(string, float64)) (Result, *api.Error) {
	progress("asking the other end", 0)
	near, fault := p.cfg.Ready(ctx, link.Low)
	if fault != nil {
		return Result{}, fault
	}
	far, peer := "", link.High.Node
	params := api.PeerProbeParams{Step: api.ProbeHold, Measurement: id, Attempt: p.attempt(), Link: link}
	defer p.release(ctx, peer, params)
	if far, fault = p.hold(ctx, peer, params); fault != nil {
		return Result{}, fault
	}
	if p.cfg.Worker == "" {
		return Result{}, nil
	}
	params.Step, params.Devices = api.ProbeRun, [][][]string{{nil, {near}}, {{far}, nil}}
	return p.both(ctx, params, progress)
}

func (p *Prober) hold(ctx context.Context, peer api.NodeID, params api.PeerProbeParams) (device string, fault *api.Error) {
	within, cancel := native.WithTimeout(ctx, p.cfg.Clock, holdWithin, "an answer of "+p.cfg.Name(peer))
	defer cancel()
	var held api.PeerProbeResult
	if err := p.cfg.Peers.Call(within, peer, methodProbe, params, &held); err != nil {
		return "", causeOf(ctx, err)
	}
	if held.Device == "" {
		return "", api.Errorf(api.ReasonRDMANoDevice, string(peer), "%s names no RDMA device for receptacle %s.", p.cfg.Name(peer), params.Link.High.Receptacle)
	}
	return held.Device, nil
}

// release has the other end give back, whatever has become of the test: also where
// its answer to holding was lost.
func (p *Prober) release(ctx context.Context, peer api.NodeID, params api.PeerProbeParams) {
	within, cancel := native.WithTimeout(context.WithoutCancel(ctx), p.cfg.Clock, releaseWithin, p.cfg.Name(peer))
	defer cancel()
	params.Step, params.Devices = api.ProbeRelease, nil
	if err := p.cfg.Peers.Call(within, peer, methodProbe, params, nil); err != nil {
		p.cfg.Log.Info("the other end of a test was not reached to give back; it does so by itself", "node", peer, "error", err)
	}
}

// both runs the two ranks. The one that fails first is the cause, and ends the
// other.
func (p *Prober) both(ctx context.Context, params api.PeerProbeParams, progress func(string, float64)) (Result, *api.Error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	link := params.Link
	nodes := []api.NodeID{link.Low.Node, link.High.Node}
	there := make(chan *api.Error, 1)
	go func() {
		within, done := native.WithTimeout(ctx, p.cfg.Clock, runWithin, "the test on "+p.cfg.Name(nodes[1]))
		defer done()
		var fault *api.Error
		if err := p.cfg.Peers.Call(within, nodes[1], methodProbe, params, nil); err != nil {
			fault = api.AsError(err)
			cancel(errOther())
		}
		there <- fault
	}()
	r, here := p.sit(ctx, seating{
		ref: refOf(params.Measurement, params.Attempt, 0), nodes: nodes, end: link.Low, devices: params.Devices, progress: progress,
	})
	isFirst := here != nil && context.Cause(ctx) != error(errOther())
	if isFirst {
		cancel(here) // the call ends; the other end is told when it has to give back
	}
	other := <-there
	switch {
	case isFirst && context.Cause(ctx) != error(here):
		return r, here // somebody has called it off
	case isFirst:
		return r, p.failed(link, nodes[0], here)
	case other != nil:
		return r, p.failed(link, nodes[1], other)
	}
	return r, nil
}

// errOther is why the rank of this node ends whose partner has failed.
var errOther = sync.OnceValue(func() *api.Error { return api.Errorf(api.ReasonCancelled, "", "The other rank has ended.") })

// failed says of which cable's test it is that a rank has failed. What says nothing
// of the cable is passed on as it is.
func (p *Prober) failed(link api.LinkID, node api.NodeID, why *api.Error) *api.Error {
	if why.Data.Reason != api.ReasonRDMAProbeFailed {
		return why
	}
	e := api.Errorf(api.ReasonRDMAProbeFailed, link.String(), "The test over RDMA between %s:%s and %s:%s failed. On %s: %s",
		p.cfg.Name(link.Low.Node), link.Low.Receptacle, p.cfg.Name(link.High.Node), link.High.Receptacle, p.cfg.Name(node), why.Message)
	return e
}

// causeOf is why a context ended, or else the error.
func causeOf(ctx context.Context, err error) *api.Error {
	if ctx.Err() != nil {
		return api.AsError(context.Cause(ctx))
	}
	return api.AsError(err)
}
