package probe

import (
	"context"
	"math"
	"net"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/native"
)

// announced answers peer.measure: it lets a node measure a path to this one, or
// says why not.
func (p *Prober) announced(ctx context.Context, caller gate.Member, params api.PeerMeasureParams) (any, error) {
	from := caller.Node()
	params.Sink = params.Sink.Unmap().WithZone("")
	switch {
	case !params.Measurement.Valid():
		return nil, api.NewError(api.ReasonMissingField, "measurement")
	case params.Transport != api.TransportSocket:
		return nil, api.NewError(api.ReasonBadValue, "transport")
	case !params.Sink.IsValid():
		return nil, api.NewError(api.ReasonMissingField, "sink")
	case params.MaxBytes <= 0:
		return nil, api.NewError(api.ReasonBadValue, "max_bytes")
	case params.DeadlineS <= 0 || params.DeadlineS > math.MaxInt32:
		return nil, api.NewError(api.ReasonBadValue, "deadline_s")
	}
	key, ok := p.publicKey(from)
	if !ok {
		return nil, api.NewError(api.ReasonNoSuchNode, from.Display())
	}
	iface, ok := p.cfg.Interface(params.Sink)
	if !ok {
		return nil, api.Errorf(api.ReasonAddressLost, params.Sink.String(), "%s has no address %s (any more).", p.cfg.Peers.Self().Display(), params.Sink)
	}
	if err := p.begin(ctx, from); err != nil {
		return nil, err
	}
	v := &visit{
		prober: p, from: from, key: key, params: params, token: drawn(tokenBytes), began: p.cfg.Clock.Boot(),
		used: map[slot]bool{}, known: map[net.Conn]bool{}, here: make(chan struct{}),
	}
	port, err := v.prepare(ctx, iface)
	if err != nil {
		p.end(from, 0)
		return nil, err
	}
	go v.serve(min(time.Duration(params.DeadlineS*float64(time.Second)), visitWithin))
	return api.PeerMeasureResult{Token: v.token, Port: port}, nil
}

// begin takes the one place there is for a node that measures this one. It
// waits a little for it: who has just measured one path goes on with the next
// while this end still clears away the first.
func (p *Prober) begin(ctx context.Context, from api.NodeID) error {
	ctx, stop := native.WithTimeout(ctx, p.cfg.Clock, placeWithin, "the measurement before")
	defer stop()
	select {
	case p.place <- struct{}{}:
	case <-ctx.Done():
		return api.NewError(api.ReasonMeasurementRunning, p.cfg.Peers.Self().Display())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	wait, ok := p.budgets.allows(from, p.cfg.Clock.Boot())
	switch {
	case p.closed:
		<-p.place
		return api.NewError(api.ReasonStopping, p.cfg.Peers.Self().Display())
	case !ok:
		<-p.place
		e := api.NewError(api.ReasonMeasureBudgetSpent, from.Display())
		e.Data.Remedy = "Try again in " + wait.Round(time.Second).String() + "."
		return e
	}
	p.visits.Add(1)
	return nil
}

// end gives the place back, and puts what it took down to the node.
func (p *Prober) end(from api.NodeID, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.budgets.charge(from, took, p.cfg.Clock.Boot())
	<-p.place
	p.visits.Done()
}
