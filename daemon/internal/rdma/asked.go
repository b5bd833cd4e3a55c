package rdma

import (
	"cmp"
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
		return nil, api.Errorf(api.ReasonNoSuchLink, p.Link.String(), "This cable does not end at %s.", o.cfg.Name(o.cfg.Node))
	case p.By.Node != from:
		return nil, api.Errorf(api.ReasonBadValue, "by", "A node speaks for its own people only.")
	case p.Link.Low.Node == p.Link.High.Node:
		return nil, api.Errorf(api.ReasonNotSupportedByPlatform, p.Link.String(), "Both ends of this cable are at %s.", o.cfg.Name(o.cfg.Node))
	}
	switch p.Step {
	case api.RDMAPlan:
		return o.plan(ctx, from, end, p)
	case api.RDMARollback:
		return o.rollback(ctx, from, end, p)
	case api.RDMAApply, api.RDMAProve, api.RDMACommit:
		one, fault := o.begun(from, p)
		switch {
		case fault != nil:
			return nil, fault
		case p.Step == api.RDMAApply:
			return o.apply(ctx, from, one)
		case p.Step == api.RDMAProve:
			return o.prove(ctx, one, p.Link)
		}
		return o.commit(ctx, one, p.Cause)
	}
	return nil, api.Errorf(api.ReasonBadValue, "step", "This version knows no step %q.", p.Step)
}

// begun finds a change that a node has begun here.
func (o *Owner) begun(from api.NodeID, p api.PeerRDMAParams) (*part, *api.Error) {
	one := o.find(func(r change.Record) bool { return r.Link == p.Link && r.Change == p.Change && r.By.Node == from })
	if one == nil {
		return nil, api.Errorf(api.ReasonRDMAChangeFailed, p.Link.String(), "%s has no record of this change.", o.cfg.Name(o.cfg.Node))
	}
	return one, nil
}

// apply makes what was planned, and answers when the system shows it.
func (o *Owner) apply(ctx context.Context, from api.NodeID, one *part) (any, error) {
	if fault := o.mayBegin(from); fault != nil {
		return nil, fault
	}
	o.notify(one, change.Apply{})
	return o.reach(ctx, one, applyWithin, func(s api.RDMAChangeState) bool {
		return s == api.RDMAChangeProving || s == api.RDMAChangeActive
	})
}

// commit keeps what was applied. untested is why no data was sent.
func (o *Owner) commit(ctx context.Context, one *part, untested *api.Cause) (any, error) {
	e := change.Commit{}
	if untested != nil {
		e.Untested = *untested
	}
	o.notify(one, e)
	return o.reach(ctx, one, keepWithin, func(s api.RDMAChangeState) bool { return s == api.RDMAChangeActive })
}

// prove tests the cable from this end.
func (o *Owner) prove(ctx context.Context, one *part, link api.LinkID) (any, error) {
	ctx, cancel := o.within(ctx, proveWithin, "data over "+link.String())
	defer cancel()
	if err := o.cfg.Prove(ctx, link); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx) // it says what was waited for
		}
		return nil, o.faultOf(ctx, err)
	}
	return o.recordOf(one).View(), nil
}

// rollback puts a change back: the one named, or whatever there is on the cable.
func (o *Owner) rollback(ctx context.Context, from api.NodeID, end api.LinkEnd, p api.PeerRDMAParams) (any, error) {
	one := o.find(func(r change.Record) bool { return r.Link == p.Link && (p.Change == "" || r.Change == p.Change) })
	var r change.Record
	if one != nil {
		r = o.recordOf(one)
	}
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
		if fault := o.mayBegin(from); fault != nil {
			return nil, fault
		}
	}
	if !r.Running() {
		entering, cancel := o.within(ctx, planWithin, "another change on "+o.cfg.Name(o.cfg.Node))
		defer cancel()
		leave, fault := o.enter(entering, p)
		if fault != nil {
			return nil, fault
		}
		defer leave()
		if fault := o.waitIdle(ctx, r.End.PortNumber); fault != nil {
			return nil, fault
		}
	}
	e := change.Rollback{By: p.By}
	if p.Cause != nil { // nobody wanted it back: it failed
		e = change.Rollback{Cause: *p.Cause}
	}
	o.notify(one, e)
	return o.reach(ctx, one, backWithin, isPutBack)
}

// isPutBack reports whether an end that says so has put back what it could.
func isPutBack(s api.RDMAChangeState) bool {
	return s == api.RDMAChangeUndone || s == api.RDMAChangePartial
}

// reach waits until a change is as wanted and nothing of it is under way, or it is
// put back.
func (o *Owner) reach(ctx context.Context, one *part, within time.Duration, wanted func(api.RDMAChangeState) bool) (api.RDMAChange, error) {
	r := o.recordOf(one)
	ctx, cancel := o.within(ctx, within, o.cfg.Name(o.cfg.Node)+" to change "+r.Interface)
	defer cancel()
	settled := o.await(ctx, func() bool {
		r = one.record
		return len(one.queue) == 0 && !one.driven && (wanted(r.State) || isPutBack(r.State))
	})
	switch {
	case wanted(r.State):
		return r.View(), nil
	case !settled:
		return api.RDMAChange{}, o.faultOf(ctx, context.Cause(ctx))
	}
	return api.RDMAChange{}, api.Errorf(cmp.Or(r.Reason, api.ReasonRDMAChangeFailed), r.End.String(), "%s: %s.", o.cfg.Name(o.cfg.Node), r.Message)
}

// mayBegin says why a node may change nothing here now; nil where it may.
func (o *Owner) mayBegin(from api.NodeID) *api.Error {
	if why := o.cfg.Allowed(from); why != "" {
		return api.NewError(why, o.cfg.Name(o.cfg.Node))
	}
	return o.cfg.Busy()
}
