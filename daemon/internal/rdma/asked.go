package rdma

import (
	"context"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/rdma/change"
)

// asked answers peer.rdma: one step of a change at this end.
func (o *Owner) asked(ctx context.Context, other gate.CableNode, p api.PeerRDMAParams) (any, error) {
	from := other.Node()
	end, isHere := p.Link.End(o.cfg.Node)
	o.mu.Lock()
	broken := o.broken
	o.mu.Unlock()
	switch {
	case broken != nil:
		return nil, broken
	case !isHere:
		return nil, api.Errorf(api.ReasonNoSuchLink, p.Link.String(), "%s has no end of this cable.", o.cfg.Name(o.cfg.Node))
	case p.By.Node != from:
		return nil, api.Errorf(api.ReasonBadValue, "by", "A node speaks for its own people only.")
	case p.Link.Low.Node == p.Link.High.Node:
		return nil, api.Errorf(api.ReasonNotSupportedByPlatform, p.Link.String(), "Both ends of this cable are at %s.", o.cfg.Name(o.cfg.Node))
	}
	switch p.Step {
	case api.RDMAPlan:
		return o.plan(ctx, from, end, p)
	case api.RDMAApply:
		return o.apply(ctx, from, p)
	case api.RDMAProve:
		return o.prove(ctx, from, p)
	case api.RDMACommit:
		return o.commit(ctx, from, p)
	case api.RDMARollback:
		return o.rollback(ctx, from, end, p)
	}
	return nil, api.Errorf(api.ReasonBadValue, "step", "This version knows no step %q.", p.Step)
}

// begun finds a change that a node has begun here.
func (o *Owner) begun(from api.NodeID, p api.PeerRDMAParams) (*part, *api.Error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, one := range o.parts {
		if one.record.Link == p.Link && one.record.Change == p.Change && one.record.By.Node == from {
			return one, nil
		}
	}
	return nil, api.Errorf(api.ReasonRDMAChangeFailed, p.Link.String(), "%s knows of no such change, or not any more.", o.cfg.Name(o.cfg.Node))
}

// apply makes what was planned, and answers when the system shows it.
func (o *Owner) apply(ctx context.Context, from api.NodeID, p api.PeerRDMAParams) (any, error) {
	one, fault := o.begun(from, p)
	if fault != nil {
		return nil, fault
	}
	if fault := o.mayBegin(from); fault != nil {
		return nil, fault
	}
	o.tell(one, change.Apply{})
	return o.reach(ctx, one, applyWithin, func(s api.RDMAChangeState) bool {
		return s == api.RDMAChangeProving || s == api.RDMAChangeActive
	})
}

// commit keeps what was applied.
func (o *Owner) commit(ctx context.Context, from api.NodeID, p api.PeerRDMAParams) (any, error) {
	one, fault := o.begun(from, p)
	if fault != nil {
		return nil, fault
	}
	e := change.Commit{}
	if p.Cause != nil {
		e.Untested = change.Cause{Reason: p.Cause.Reason, Message: p.Cause.Message}
	}
	o.tell(one, e)
	return o.reach(ctx, one, keepWithin, func(s api.RDMAChangeState) bool { return s == api.RDMAChangeActive })
}

// prove tests the cable from this end.
func (o *Owner) prove(ctx context.Context, from api.NodeID, p api.PeerRDMAParams) (any, error) {
	one, fault := o.begun(from, p)
	if fault != nil {
		return nil, fault
	}
	if o.cfg.Prove != nil {
		ctx, cancel := o.within(ctx, proveWithin, "data over "+p.Link.String())
		defer cancel()
		if err := o.cfg.Prove(ctx, p.Link); err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx) // it says what was waited for
			}
			return nil, o.faultOf(ctx, err)
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return one.record.View(), nil
}

// rollback puts a change back: the one named, or whatever there is on the cable.
func (o *Owner) rollback(ctx context.Context, from api.NodeID, end api.LinkEnd, p api.PeerRDMAParams) (any, error) {
	o.mu.Lock()
	var one *part
	for _, candidate := range o.parts {
		if candidate.record.Link == p.Link && (p.Change == "" || candidate.record.Change == p.Change) {
			one = candidate
		}
	}
	var r change.Record
	if one != nil {
		r = one.record
	}
	o.mu.Unlock()
	switch {
	case one == nil || r.State == api.RDMAChangeUndone && p.Change == "":
		if p.Change == "" {
			return nil, api.NewError(api.ReasonRDMANothingToUndo, end.String())
		}
		// It was never planned here, or is long over: there is nothing to put back.
		return api.RDMAChange{Link: p.Link, Change: p.Change, State: api.RDMAChangeUndone, Since: o.now(), By: p.By, StartedAt: o.now()}, nil
	case !r.Running() || r.By.Node != from:
		// Whoever began a change may end it while it is under way; what is in force is
		// put back by those only who may change it.
		if why := o.cfg.Allowed(from); why != "" {
			return nil, api.NewError(why, o.cfg.Name(o.cfg.Node))
		}
		if fault := o.disturbs(); fault != nil {
			return nil, fault
		}
	}
	if !r.Running() {
		place := &planning{link: p.Link}
		entering, cancel := o.within(ctx, planWithin, "another change on "+o.cfg.Name(o.cfg.Node))
		defer cancel()
		if fault := o.enter(entering, place, p); fault != nil {
			return nil, fault
		}
		defer o.leave(place)
		if fault := o.inPeace(ctx, r.End.Receptacle); fault != nil {
			return nil, fault
		}
	}
	e := change.Rollback{By: p.By}
	if p.Cause != nil { // nobody wanted it back: it failed
		e = change.Rollback{Cause: change.Cause{Reason: p.Cause.Reason, Message: p.Cause.Message}}
	}
	o.tell(one, e)
	return o.reach(ctx, one, backWithin, func(s api.RDMAChangeState) bool {
		return s == api.RDMAChangeUndone || s == api.RDMAChangePartial
	})
}

// reach waits until a change is as wanted and nothing of it is under way, or it is
// put back.
func (o *Owner) reach(ctx context.Context, one *part, within time.Duration, wanted func(api.RDMAChangeState) bool) (api.RDMAChange, error) {
	o.mu.Lock()
	r := one.record
	o.mu.Unlock()
	ctx, cancel := o.within(ctx, within, o.cfg.Name(o.cfg.Node)+" to change "+r.Interface)
	defer cancel()
	settled := o.await(ctx, func() bool {
		r = one.record
		return len(one.queue) == 0 && !one.driven && (wanted(r.State) || r.State == api.RDMAChangeUndone || r.State == api.RDMAChangePartial)
	})
	switch {
	case wanted(r.State):
		return r.View(), nil
	case !settled:
		return api.RDMAChange{}, o.faultOf(ctx, context.Cause(ctx))
	}
	reason := r.Reason
	if reason == "" {
		reason = api.ReasonRDMAChangeFailed
	}
	return api.RDMAChange{}, api.Errorf(reason, r.End.String(), "%s: %s.", o.cfg.Name(o.cfg.Node), r.Message)
}

// mayBegin says why a node may change nothing here now; nil where it may.
func (o *Owner) mayBegin(from api.NodeID) *api.Error {
	if why := o.cfg.Allowed(from); why != "" {
		e := api.NewError(why, o.cfg.Name(o.cfg.Node))
		return e
	}
	return o.disturbs()
}

func (o *Owner) disturbs() *api.Error {
	if o.cfg.Busy == nil {
		return nil
	}
	return o.cfg.Busy()
}
