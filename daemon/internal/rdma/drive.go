package rdma

import (
	"context"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rdma/change"
)

// notify hands an event to a part's driver, and ends what only waits where the event
// sends the change back. After Close nothing comes of an effect, which was cut off: the
// next Start takes it up.
func (o *Owner) notify(p *part, e change.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || !slices.Contains(o.parts, p) { // another plan has taken its place
		return
	}
	p.queue = append(p.queue, e)
	if goesBack(e) && p.cancel != nil {
		p.cancel()
	}
	if !p.driven {
		p.driven = true
		o.running.Go(func() { o.drive(p) })
	}
}

func goesBack(e change.Event) bool {
	switch e := e.(type) {
	case change.Rollback:
		return true
	case change.PeerChange:
		return change.IsBack(e.State)
	}
	return false
}

// drive works off what happened to a part, until nothing is left.
func (o *Owner) drive(p *part) {
	for {
		o.mu.Lock()
		if len(p.queue) == 0 || o.closed {
			p.driven = false
			o.wakeLocked()
			o.mu.Unlock()
			return
		}
		e := p.queue[0]
		p.queue = p.queue[1:]
		before := p.record
		o.mu.Unlock()
		next, effects := change.Next(before, o.now(), e)
		o.carryOut(p, before, next, effects)
	}
}

// carryOut does what follows from an event.
func (o *Owner) carryOut(p *part, before, next change.Record, effects []change.Effect) {
	for _, effect := range effects {
		switch effect := effect.(type) {
		case change.Save:
			if err := o.save(p, next); err != nil && o.forward(p, next, err) {
				return
			}
		case change.Make:
			o.waiting(p, func(ctx context.Context) change.Event { return o.makeStep(ctx, next, effect.Step) })
		case change.Verify:
			o.waiting(p, func(ctx context.Context) change.Event { return o.verify(ctx, next) })
		case change.Undo:
			o.notify(p, o.putBack(o.ctx, next, effect.Step))
		case change.Wait:
			o.mu.Lock()
			if p.stopTimer(); !o.closed {
				since := next.Since
				p.timer = o.cfg.Clock.AfterFunc(effect.For, func() {
					o.mu.Lock()
					due := p.record.Since == since
					o.mu.Unlock()
					if due {
						o.notify(p, change.Overdue{})
					}
				})
			}
			o.mu.Unlock()
		}
	}
}

// forward takes a save that failed, and reports whether the record was to move
// forward: then it stays as it was, and goes back. What goes back does so also
// without a note of it.
func (o *Owner) forward(p *part, next change.Record, err error) bool {
	o.cfg.Log.Error("a change cannot be recorded", "link", next.Link, "state", next.State, "error", err)
	switch next.State {
	case api.RDMAChangeApplying, api.RDMAChangeProving, api.RDMAChangeActive:
		o.notify(p, change.Failed{Cause: api.AsError(err).Cause()})
		return true
	}
	o.mu.Lock()
	p.record = next
	o.wakeLocked()
	o.mu.Unlock()
	return false
}

// waiting carries out what may be ended by an order to go back.
func (o *Owner) waiting(p *part, f func(context.Context) change.Event) {
	ctx, cancel := context.WithCancel(o.ctx)
	defer cancel()
	o.mu.Lock()
	if slices.ContainsFunc(p.queue, goesBack) {
		cancel()
	}
	p.cancel = cancel
	o.mu.Unlock()
	e := f(ctx)
	o.mu.Lock()
	p.cancel = nil
	o.mu.Unlock()
	o.notify(p, e)
}

// save makes a record durable, lets it count, and tells everybody.
func (o *Owner) save(p *part, next change.Record) error {
	o.saving.Lock()
	o.mu.Lock()
	var all []change.Record
	for _, one := range o.parts {
		switch {
		case one == p:
			all = append(all, next)
		case one.record.State != api.RDMAChangeUndone: // that one was told of before
			all = append(all, one.record)
		}
	}
	o.mu.Unlock()
	err := o.cfg.Records.Save(all)
	if err == nil {
		o.mu.Lock()
		if next.State != p.record.State {
			p.stopTimer()
		}
		p.record = next
		o.wakeLocked()
		o.mu.Unlock()
	}
	o.saving.Unlock()
	if err != nil {
		return err
	}
	o.publish(next)
	return nil
}

// publish tells the cluster of a record, and the audit log.
func (o *Owner) publish(r change.Record) {
	view := r.View()
	if err := o.cfg.Documents.Put(api.KindRDMAChange, r.Link.String(), view, nil); err != nil {
		o.cfg.Log.Error("a change could not be published", "link", r.Link, "error", err)
	}
	o.cfg.Conditions.Hold(api.ReasonRDMAUndoPartial, r.End.String(), r.State == api.RDMAChangePartial, r.Message)
	if r.State == api.RDMAChangePlanned {
		return // nothing was changed yet
	}
	o.saving.Lock()
	defer o.saving.Unlock()
	o.mu.Lock()
	at := slices.IndexFunc(o.history, func(c api.RDMAChange) bool { return c.Change == view.Change && c.Link == view.Link })
	if at >= 0 {
		o.history[at] = view
	} else {
		o.history = append([]api.RDMAChange{view}, o.history...)
		o.history = o.history[:min(len(o.history), historyMax)]
	}
	history := slices.Clone(o.history)
	o.mu.Unlock()
	if r.Running() {
		return // its end is written
	}
	if err := o.cfg.History.Save(history); err != nil {
		o.cfg.Log.Warn("the history of changes could not be saved", "error", err)
	}
}
