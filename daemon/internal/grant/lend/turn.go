package lend

import (
	"context"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/grant"
	"fulmen/daemon/internal/ledger"
)

const (
	// turnWait is how long a measurement stands in line before it asks again, and
	// says on whom it waits.
	turnWait = 10 * time.Second
	// turnLease is how long its grant holds unrenewed: it is given back before, or
	// the daemon is gone.
	turnLease = 10 * time.Minute
	// leaveWait is how long the measurement of another node stands in line here:
	// its own node is held meanwhile.
	leaveWait = 2 * time.Second
)

// Turn has a measurement wait until it has the node to itself.
func (g *Lender) Turn(wait, hold context.Context, id api.MeasureID, portNumbers []api.PortNumber, waiting func(why api.Reason, on string)) (held context.Context, release func(), err error) {
	holder := grant.ForMeasure(id)
	g.readGPU(wait)
	for stand := time.Duration(0); ; stand = turnWait {
		got, err := g.Ask(wait, grant.Request{Holder: holder, GPU: api.GPUExclusive, PortNumbers: portNumbers, Wait: stand, Lease: turnLease})
		switch {
		case err != nil:
			return nil, nil, err
		case got.State == api.GrantHeld:
			held, stop := g.untilNeeded(hold)
			return held, func() {
				stop()
				_ = g.Release(holder, 0) // an unknown epoch cannot be: there is none
			}, nil
		case got.State == api.GrantRefused:
			return nil, nil, api.NewError(got.Reason, got.WaitingFor)
		}
		waiting(got.Reason, g.named(got))
	}
}

// untilNeeded is a context that ends when a job waits for what a measurement of
// this node holds: work goes first.
func (g *Lender) untilNeeded(ctx context.Context) (held context.Context, stop func()) {
	held, cancel := context.WithCancelCause(ctx)
	found, watcher := g.cfg.Ledger.Watch(ledger.WatchOptions{Name: "measurement", Passive: true, Filter: g.own(api.KindGrant)})
	go func() {
		for {
			for _, record := range found {
				var one api.Grant
				h, err := grant.ParseHolder(record.Key().Name)
				if err != nil || h.IsMeasure() || record.Decode(&one) != nil || one.State != api.GrantWaiting {
					continue
				}
				cancel(api.NewError(api.ReasonJobHasNode, string(g.cfg.Self)).WithWait(g.jobOf(h)))
				return
			}
			change, err := watcher.Next(held)
			if err != nil {
				return
			}
			found = change.Put
		}
	}()
	return held, func() { cancel(nil); watcher.Close() }
}

// Visit takes what another node's measurement of a path to this one needs here.
func (g *Lender) Visit(ctx context.Context, from api.NodeID, p api.PeerMeasureParams) (release func(), err error) {
	if from == g.cfg.Self {
		return func() {}, nil // it holds this node already
	}
	if why := g.cfg.Obstacle(ctx); why != nil {
		return nil, why
	}
	back, err := g.visit(ctx, p.Measurement, time.Minute)
	if err != nil {
		return nil, err
	}
	held, stop := g.untilNeeded(context.WithoutCancel(ctx))
	// A job does not wait for the seconds that are left of it.
	context.AfterFunc(held, back)
	return func() { stop(); back() }, nil
}

// VisitRDMA takes what another node's test of a cable over RDMA needs here. A job waits
// the seconds until it ends: what is killed may leave the device in disorder.
func (g *Lender) VisitRDMA(ctx context.Context, _ api.NodeID, id api.MeasureID, portNumber api.PortNumber) (release func(), err error) {
	return g.visit(ctx, id, turnLease, portNumber)
}

// visit takes the node, and devices of it, for another node's measurement.
func (g *Lender) visit(ctx context.Context, id api.MeasureID, lease time.Duration, portNumbers ...api.PortNumber) (release func(), err error) {
	holder := grant.ForMeasure(id)
	g.readGPU(ctx)
	got, err := g.Ask(ctx, grant.Request{Holder: holder, GPU: api.GPUExclusive, PortNumbers: portNumbers, Wait: leaveWait, Lease: lease})
	switch {
	case err != nil:
		return nil, err
	case got.State == api.GrantHeld:
		return sync.OnceFunc(func() { _ = g.Release(holder, 0) }), nil
	}
	return nil, api.NewError(got.Reason, string(g.cfg.Self)).WithWait(g.named(got) + " on " + g.cfg.Name(g.cfg.Self))
}

// named says on whom somebody waits, for people.
func (g *Lender) named(got api.Grant) string {
	h, err := grant.ParseHolder(got.WaitingFor)
	switch {
	case err == nil && h.IsMeasure():
		return "another measurement"
	case err == nil:
		return g.jobOf(h)
	case got.WaitingFor != "":
		return got.WaitingFor
	}
	return string(got.Reason)
}

// jobOf is the job of a rank, for people.
func (g *Lender) jobOf(h grant.Holder) string {
	if spec, found := g.cfg.Job(h.Rank.Job); found {
		return "job " + string(h.Rank.Job) + " of " + spec.Principal.User
	}
	return "job " + string(h.Rank.Job)
}
