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
	leave, fault := o.enter(ctx, p)
	if fault != nil {
		return nil, fault
	}
	defer leave()
	if !p.DryRun {
		if fault := o.waitIdle(ctx, end.PortNumber); fault != nil {
			return nil, fault
		}
	}
	earlier := o.current(p.Link)
	if earlier != nil && earlier.State == api.RDMAChangeActive {
		return o.inForce(ctx, *earlier)
	}
	iface, fault := o.interfaceOf(ctx, end.PortNumber)
	if fault != nil {
		return nil, fault
	}
	found, snapshot, err := o.read(ctx, iface)
	if err != nil {
		return nil, o.faultOf(ctx, err)
	}
	asked := change.Asked{
		Record: change.Record{Change: p.Change, Link: p.Link, End: end, By: p.By, StartedAt: o.now()}, Wanted: p.Address,
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
	o.until(ctx, func() bool {
		fault = o.cfg.Check(link)
		return fault == nil
	})
	return fault
}

// enter waits until nothing else is changed on this node, and keeps others out until
// leave.
func (o *Owner) enter(ctx context.Context, p api.PeerRDMAParams) (leave func(), fault *api.Error) {
	var other api.LinkID
	if o.await(ctx, func() bool {
		if o.planner != (api.LinkID{}) {
			other = o.planner
			return false
		}
		for _, one := range o.parts {
			replaced := one.record.Change == p.Change && one.record.State == api.RDMAChangePlanned // planned again, with another address
			if one.record.Running() && !replaced || one.driven {
				other = one.record.Link
				return false
			}
		}
		o.planner = p.Link
		return true
	}) {
		return o.leave, nil
	}
	fault = api.Errorf(api.ReasonRDMAChangeRunning, p.Link.String(), "Another change is under way on %s.", o.cfg.Name(o.cfg.Node))
	return nil, fault.WithWait("the change of " + other.String() + " on " + o.cfg.Name(o.cfg.Node))
}

func (o *Owner) leave() {
	o.mu.Lock()
	o.planner = api.LinkID{}
	o.wakeLocked()
	o.mu.Unlock()
	o.cfg.Idle()
}

// Changing reports whether the network of this node is being changed, or is about to
// be: nothing may begin on it then.
func (o *Owner) Changing() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.planner != (api.LinkID{}) || slices.ContainsFunc(o.parts, func(p *part) bool { return p.record.Running() })
}

// waitIdle makes sure that a change disturbs nothing. The caller has entered, so that
// nothing begins from here on.
func (o *Owner) waitIdle(ctx context.Context, portNumber api.PortNumber) *api.Error {
	if fault := o.cfg.Busy(); fault != nil {
		return fault
	}
	ctx, cancel := o.within(ctx, quietWithin, "the test of a cable on "+o.cfg.Name(o.cfg.Node))
	defer cancel()
	return o.cfg.Quiet(ctx, portNumber)
}

// current is what this node keeps of a cable; nil where nothing.
func (o *Owner) current(link api.LinkID) *change.Record {
	one := o.find(func(r change.Record) bool { return r.Link == link && r.State != api.RDMAChangeUndone })
	if one == nil {
		return nil
	}
	return new(o.recordOf(one))
}

// inForce is an earlier change of this cable, with the reason where the system no longer
// has what it made.
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
