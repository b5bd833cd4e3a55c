package rdma

import (
	"context"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rdma/change"
	"fulmen/native"
)

// loss is an address of a change in force that is missing.
type loss struct {
	timer native.Timer
	// tried says that the service was made anew for it.
	tried bool
}

func (l *loss) stop() {
	if l.timer != nil {
		l.timer.Stop()
	}
}

// lookForLoss looks at every change in force: has its interface the address? One
// that is missing for a while on a cable that is plugged is a condition, and its
// service is made anew once, if it still is ours.
func (o *Owner) lookForLoss(ctx context.Context) {
	o.mu.Lock()
	var all []*part
	for _, p := range o.parts {
		switch {
		case p.record.State == api.RDMAChangeActive:
			all = append(all, p)
		case o.lost[p.record.End] != nil:
			o.lost[p.record.End].stop()
			delete(o.lost, p.record.End)
			defer o.cfg.Conditions.Hold(api.ReasonAddressLost, p.record.End.String(), false, "")
		}
	}
	o.mu.Unlock()
	for _, p := range all {
		o.lookAt(ctx, p)
	}
}

// lookAt looks at one change.
func (o *Owner) lookAt(ctx context.Context, p *part) {
	r := o.recordOf(p)
	found, snapshot, err := o.read(ctx, r.Interface)
	if err != nil {
		return // what cannot be read is not lost
	}
	plugged := false
	if i, present := snapshot.Network.Interface(r.Interface); present && i.Link != nil {
		plugged = *i.Link
	}
	missing := plugged && isOurs(r, found) && !slices.Contains(found.Addresses, r.Address)
	o.mu.Lock()
	l := o.lost[r.End]
	switch {
	case missing && l == nil && !o.closed:
		l = &loss{}
		l.timer = o.cfg.Clock.AfterFunc(lostAfter, func() { o.lose(p, l) })
		o.lost[r.End] = l
	case !missing && l != nil:
		l.stop()
		delete(o.lost, r.End)
		defer o.cfg.Conditions.Hold(api.ReasonAddressLost, r.End.String(), false, "")
	}
	o.mu.Unlock()
}

// isOurs reports whether the service of a change is there as it was made, or is
// being made anew.
func isOurs(r change.Record, found change.Found) bool {
	return slices.ContainsFunc(r.Steps, func(s change.Step) bool {
		outcome, _, _ := s.Outcome(found)
		return s.What == api.RDMAStepService && (outcome == change.Ours || outcome == change.Before && s.Service.ID == "")
	})
}

// lose follows an address that is still missing.
func (o *Owner) lose(p *part, l *loss) {
	o.mu.Lock()
	r := p.record
	if o.closed || o.lost[r.End] != l || l.tried {
		o.mu.Unlock()
		return
	}
	l.tried = true
	o.running.Go(func() {
		o.cfg.Conditions.Hold(api.ReasonAddressLost, r.End.String(), true, r.Interface+" should have "+r.Address.String())
		o.makeAnew(p)
	})
	o.mu.Unlock()
}

// makeAnew replaces the service of a change in force by one like it, which has the
// system give the address again.
func (o *Owner) makeAnew(p *part) {
	ctx, cancel := o.within(o.ctx, planWithin, "another change on "+o.cfg.Name(o.cfg.Node))
	defer cancel()
	r := o.recordOf(p)
	leave, fault := o.enter(ctx, api.PeerRDMAParams{Link: r.Link, Change: r.Change})
	if fault != nil {
		return // it is tried again when the cable is plugged anew
	}
	defer leave()
	r = o.recordOf(p)
	at := slices.IndexFunc(r.Steps, func(s change.Step) bool { return s.What == api.RDMAStepService })
	found, _, err := o.read(ctx, r.Interface)
	if err != nil || at < 0 || r.State != api.RDMAChangeActive || !isOurs(r, found) || slices.Contains(found.Addresses, r.Address) {
		return
	}
	// From here on the service is known by what it is, so that a crash between the
	// two calls leaves it ours in either state.
	outcome, _, own := r.Steps[at].Outcome(found)
	o.remade(p, at, change.Service{})
	if outcome == change.Ours {
		if err := o.cfg.Network.DeleteService(ctx, serviceTo(own)); err != nil {
			o.cfg.Log.Warn("a service could not be made anew", "link", r.Link, "error", err)
			o.remade(p, at, own)
			return
		}
	}
	switch e := o.makeStep(o.ctx, o.recordOf(p), at).(type) {
	case change.Made:
		o.remade(p, at, e.Service)
		o.cfg.Log.Info("an address was lost and its service made anew", "link", r.Link, "interface", r.Interface)
	case change.Failed:
		o.cfg.Log.Warn("a service could not be made anew", "link", r.Link, "why", e.Cause.Message)
	}
}

// remade notes the service of a step, and waits until that is on the disk.
func (o *Owner) remade(p *part, at int, s change.Service) {
	o.notify(p, change.Remade{Step: at, Service: s})
	o.await(o.ctx, func() bool { return !p.driven })
}
