package rdmaprobe

import (
	"context"
	"math"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/api/worker"
	"fulmen/daemon/internal/proc"
	"fulmen/daemon/internal/profile"
	"fulmen/native"
)

// Read tests a cable whose lower end is at this node, and whose caller holds what that
// takes here; a test without numbers has shown that the cable works. The error is an
// *api.Error: where it says who is in the way now, nothing was opened; rdma_probe_failed is
// a test that ran and failed. It is a profile.ProbeRDMA.
func (p *Prober) Read(ctx context.Context, id api.MeasureID, path profile.Path, progress func(string, float64)) (profile.Reading, error) {
	if path.Link.Low.Node != p.cfg.Node {
		return profile.Reading{}, api.Errorf(api.ReasonBadValue, path.Link.String(), "%s does not measure this cable.", p.cfg.Name(p.cfg.Node))
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return profile.Reading{}, api.NewError(api.ReasonStopping, "")
	}
	p.work.Add(1)
	p.attempts++
	attempt := p.attempts
	p.mu.Unlock()
	defer p.work.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(p.base, func() { cancel(context.Cause(p.base)) })()
	r, fault := p.measure(ctx, api.PeerProbeParams{Step: api.ProbeHold, Measurement: id, Attempt: attempt, Link: path.Link}, progress)
	if fault != nil {
		return profile.Reading{}, fault
	}
	return r, nil
}

func (p *Prober) measure(ctx context.Context, params api.PeerProbeParams, progress func(string, float64)) (profile.Reading, *api.Error) {
	progress("asking the other end", 0)
	near, fault := p.cfg.Ready(ctx, params.Link.Low)
	if fault != nil {
		return profile.Reading{}, fault
	}
	peer := params.Link.High.Node
	defer p.release(ctx, peer, params)
	far, fault := p.hold(ctx, peer, params)
	if fault != nil || p.cfg.Worker == "" {
		return profile.Reading{}, fault
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
		return "", api.Errorf(api.ReasonRDMANoDevice, string(peer), "%s names no RDMA device for port %s.", p.cfg.Name(peer), params.Link.High.PortNumber)
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
func (p *Prober) both(ctx context.Context, params api.PeerProbeParams, progress func(string, float64)) (profile.Reading, *api.Error) {
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
	r, here := p.runRank(ctx, rankSpec{
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
		p.cfg.Name(link.Low.Node), link.Low.PortNumber, p.cfg.Name(link.High.Node), link.High.PortNumber, p.cfg.Name(node), why.Message)
	return e
}

// causeOf is why a context ended, or else the error.
func causeOf(ctx context.Context, err error) *api.Error {
	if ctx.Err() != nil {
		return api.AsError(context.Cause(ctx))
	}
	return api.AsError(err)
}

const (
	// maxBytesPerS is more than any cable carries.
	maxBytesPerS = 1e12
	// maxSizes and maxRuns bound what a worker may tell.
	maxSizes = 64
	maxRuns  = 1 << 20
	// besides is how many messages the worker sends for a size beside the counted
	// ones: two to check, six to warm up, one more each way before the clock starts.
	besides = 2 + 6 + 2
)

// read takes the numbers of a worker, and refuses those that cannot be. The rates are the
// best of all sizes, the round trip is that of the smallest messages. Up is away from the
// node that measured.
func read(record proc.Record) (profile.Reading, *api.Error) {
	var result worker.SendRecv
	nonsense := func(format string, args ...any) *api.Error {
		return api.Errorf(api.ReasonSourceMalformed, "", "The test's worker gave a result that makes no sense: "+format+".", args...)
	}
	if err := record.Word.Decode(&result); err != nil {
		return profile.Reading{}, nonsense("%v", err)
	}
	if len(result.Rows) == 0 || len(result.Rows) > maxSizes {
		return profile.Reading{}, nonsense("%d sizes of messages", len(result.Rows))
	}
	var r profile.Reading
	var bestUp, bestDown int64
	last := uint64(0)
	for i, row := range result.Rows {
		switch {
		case row.MessageBytes <= last || row.MessageBytes > math.MaxInt32 || row.Runs < 1 || row.Runs > maxRuns:
			return profile.Reading{}, nonsense("%d messages of %d bytes", row.Runs, row.MessageBytes)
		case !plausible(row.UpBytesPerS, maxBytesPerS) || !plausible(row.DownBytesPerS, maxBytesPerS):
			return profile.Reading{}, nonsense("%v and %v bytes per second", row.UpBytesPerS, row.DownBytesPerS)
		case !plausible(row.RTTUS, 60e6) || row.JitterUS != 0 && !plausible(row.JitterUS, 60e6):
			return profile.Reading{}, nonsense("round trips of %v us, with a jitter of %v", row.RTTUS, row.JitterUS)
		}
		last = row.MessageBytes
		up, down, rtt := int64(math.Round(8*row.UpBytesPerS)), int64(math.Round(8*row.DownBytesPerS)), row.RTTUS
		bestUp, bestDown = max(bestUp, up), max(bestDown, down)
		if i == 0 {
			r.RTTUS, r.JitterUS, r.RTTSamples = &rtt, &row.JitterUS, row.Runs
		}
		r.MovedBytes += int64(row.MessageBytes) * int64(4*row.Runs+besides)
		r.Sizes = append(r.Sizes, api.SizeResult{MessageBytes: int64(row.MessageBytes), UpBitsPerS: &up, DownBitsPerS: &down, RTTUS: &rtt})
	}
	r.UpBitsPerS, r.DownBitsPerS = &bestUp, &bestDown
	return r, nil
}

// plausible reports whether a number is above 0 and no more than a bound.
func plausible(f, most float64) bool { return f > 0 && f <= most }
