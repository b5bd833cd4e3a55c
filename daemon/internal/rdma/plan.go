package rdma

import (
	"context"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rdma/change"
	"fulmen/native"
)

// plan records what is there and what will be done, and keeps this node free for
// it. Where the cable is changed already and all of that is in force, it gives that
// change; where it is not in force, with the reason.
func (o *Owner) plan(ctx context.Context, from api.NodeID, end api.LinkEnd, p api.PeerRDMAParams) (any, error) {
	if fault := o.mayBegin(from); fault != nil {
		return nil, fault
	}
	if fault := o.sees(ctx, p.Link); fault != nil {
		return nil, fault
	}
	ctx, cancel := o.within(ctx, planWithin, "another change on "+o.cfg.Name(o.cfg.Node))
	defer cancel()
	place := &planning{link: p.Link}
	if fault := o.enter(ctx, place, p); fault != nil {
		return nil, fault
	}
	defer o.leave(place)
	if !p.DryRun {
		if fault := o.inPeace(ctx, end.Receptacle); fault != nil {
			return nil, fault
		}
	}
	earlier := o.current(p.Link)
	if earlier != nil && earlier.State == api.RDMAChangeActive {
		return o.inForce(ctx, *earlier)
	}
	iface, fault := o.interfaceOf(ctx, end.Receptacle)
	if fault != nil {
		return nil, fault
	}
	found, snapshot, err := o.read(ctx, iface)
	if err != nil {
		return nil, o.faultOf(ctx, err)
	}
	asked := change.Asked{
		Change: p.Change, Link: p.Link, End: end, By: p.By, At: o.now(), Wanted: p.Address,
		Taken: append(o.taken(*snapshot.Network, p.Link), p.Taken...),
	}
	if earlier != nil && earlier.State == api.RDMAChangePartial {
		asked.Before = earlier
	}
	planned, err := change.Plan(found, asked)
	if err != nil {
		return nil, err
	}
	if fault := o.able(ctx, planned); fault != nil {
		return nil, fault
	}
	if p.DryRun {
		return planned.View(), nil
	}
	one := &part{record: planned}
	o.mu.Lock()
	before := slices.Clone(o.parts)
	o.parts = append(slices.DeleteFunc(o.parts, func(other *part) bool {
		if other.record.Link == p.Link {
			other.stopTimer()
			return true
		}
		return false
	}), one)
	o.mu.Unlock()
	if err := o.save(one, planned); err != nil {
		o.mu.Lock()
		o.parts = before
		o.mu.Unlock()
		return nil, o.faultOf(ctx, err)
	}
	o.carryOut(one, planned, planned, []change.Effect{change.Wait{For: change.PlannedWithin}})
	return planned.View(), nil
}

// able says why what is planned cannot be made here; nil where it can.
func (o *Owner) able(ctx context.Context, planned change.Record) *api.Error {
	if o.cfg.Able == nil {
		return nil
	}
	for _, s := range planned.Steps {
		needed := native.FeatureNetworkService
		if s.What == api.RDMAStepBridge {
			needed = native.FeatureBridgeMembership
		}
		if err := o.cfg.Able(needed); err != nil {
			return o.faultOf(ctx, err)
		}
	}
	return nil
}

// sees waits for a moment until this node, too, sees a cable that RDMA can be
// enabled on: its picture may be behind that of the asking node.
func (o *Owner) sees(ctx context.Context, link api.LinkID) *api.Error {
	ctx, cancel := o.within(ctx, seenWithin, "the cable "+link.String())
	defer cancel()
	var fault *api.Error
	for {
		o.mu.Lock()
		news := o.news
		o.mu.Unlock()
		if fault = o.cfg.Check(link); fault == nil {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return fault
		}
	}
}

// enter waits until nothing else is changed on this node, and keeps others out.
func (o *Owner) enter(ctx context.Context, place *planning, p api.PeerRDMAParams) *api.Error {
	var other api.LinkID
	free := o.await(ctx, func() bool {
		if o.planner != nil {
			other = o.planner.link
			return false
		}
		for _, one := range o.parts {
			replaced := one.record.Change == p.Change && one.record.State == api.RDMAChangePlanned // planned again, with another address
			if one.record.Running() && !replaced || one.driven {
				other = one.record.Link
				return false
			}
		}
		o.planner = place
		return true
	})
	if free {
		return nil
	}
	e := api.Errorf(api.ReasonRDMAChangeRunning, p.Link.String(), "Another change is under way on %s.", o.cfg.Name(o.cfg.Node))
	e.Data.WaitingFor = "the change of " + other.String() + " on " + o.cfg.Name(o.cfg.Node)
	return e
}

func (o *Owner) leave(place *planning) {
	o.mu.Lock()
	if o.planner == place {
		o.planner = nil
		o.wake()
	}
	o.mu.Unlock()
	if o.cfg.Idle != nil {
		o.cfg.Idle()
	}
}

// Changing reports whether the network of this node is being changed, or is about to
// be: nothing may begin on it then.
func (o *Owner) Changing() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.planner != nil || slices.ContainsFunc(o.parts, func(p *part) bool { return p.record.Running() })
}

// inPeace makes sure that a change disturbs nothing. The caller has entered, so that
// nothing begins from here on.
func (o *Owner) inPeace(ctx context.Context, receptacle api.Receptacle) *api.Error {
	if fault := o.disturbs(); fault != nil || o.cfg.Quiet == nil {
		return fault
	}
	ctx, cancel := o.within(ctx, quietWithin, "the test of a cable on "+o.cfg.Name(o.cfg.Node))
	defer cancel()
	return o.cfg.Quiet(ctx, receptacle)
}

// current is what this node keeps of a cable; nil where nothing.
func (o *Owner) current(link api.LinkID) *change.Record {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, one := range o.parts {
		if one.record.Link == link && one.record.State != api.RDMAChangeUndone {
			return new(one.record)
		}
	}
	return nil
}

// inForce is a change of before, with the reason where it is not in force any more.
func (o *Owner) inForce(ctx context.Context, r change.Record) (any, error) {
	found, snapshot, err := o.read(ctx, r.Interface)
	if err != nil {
		return nil, o.faultOf(ctx, err)
	}
	view := r.View()
	view.Reason, view.Message = "", ""
	if is, text := r.InForce(found); !is {
		view.Reason, view.Message = api.ReasonRDMAUndoPartial, text
	} else if lacks := o.missing(r, found, snapshot); lacks.Reason != "" {
		view.Reason, view.Message = lacks.Reason, lacks.Message
	}
	return view, nil
}
