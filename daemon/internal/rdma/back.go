package rdma

import (
	"context"
	"errors"
	"slices"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rdma/change"
)

// Disable puts back what was changed on a cable, at both ends, and gives what
// became of it. It goes on to its end when ctx ends. Where the other end cannot be
// reached, or does not allow it, nothing is put back. An error is an *api.Error.
func (o *Owner) Disable(ctx context.Context, by api.Principal, link api.LinkID) ([]api.NodeRDMAChange, error) {
	return o.back(ctx, by, link, true)
}

// Undo puts back what is left of changes of a cable at every end that can be
// reached and allows it. An error is an *api.Error: no end has put back anything.
func (o *Owner) Undo(ctx context.Context, by api.Principal, link api.LinkID) ([]api.NodeRDMAChange, error) {
	return o.back(ctx, by, link, false)
}

func (o *Owner) back(ctx context.Context, by api.Principal, link api.LinkID, both bool) ([]api.NodeRDMAChange, error) {
	ctx = context.WithoutCancel(ctx)
	if one := o.orphan(link); one != nil {
		return o.backHere(ctx, by, one)
	}
	l := &leading{owner: o, by: by, link: link}
	ends := []api.LinkEnd{link.Low, link.High}
	if both && link.Low.Node == o.cfg.Node {
		slices.Reverse(ends) // the other end may refuse
	}
	var done []api.NodeRDMAChange
	var first *api.Error
	for _, end := range ends {
		// Asked by its name, a change that was put back is told as such: the answer to
		// the first call may be lost with the way it came, and the end may have heard of
		// the other one's before it was asked.
		if l.id = o.changeAt(end, link); l.id == "" && len(done) > 0 {
			l.id = done[0].Change
		}
		undone, fault := l.call(ctx, end, api.RDMARollback, backWithin, nil)
		if fault == nil && len(undone.Steps) == 0 {
			fault = api.NewError(api.ReasonRDMANothingToUndo, end.String()) // it keeps nothing of that name
		}
		switch {
		case fault == nil:
			done = append(done, api.NodeRDMAChange{Node: end.Node, RDMAChange: undone})
		case first == nil || first.Is(api.ReasonRDMANothingToUndo):
			first = fault // there being nothing says less than anything else
		}
		if both && len(done) == 0 && !fault.Is(api.ReasonRDMANothingToUndo) {
			return nil, fault
		}
	}
	if len(done) == 0 {
		return nil, first
	}
	slices.SortFunc(done, func(a, b api.NodeRDMAChange) int { return strings.Compare(string(a.Node), string(b.Node)) })
	return done, nil
}

// changeAt is the change that an end was last heard to have something to put back of;
// empty where none is known.
func (o *Owner) changeAt(end api.LinkEnd, link api.LinkID) string {
	if end.Node == o.cfg.Node {
		if r := o.current(link); r != nil {
			return r.Change
		}
		return ""
	}
	if theirs, known := o.cfg.Others(end.Node, link); known && theirs.State != api.RDMAChangeUndone {
		return theirs.Change
	}
	return ""
}

// UndoAll puts back all that this node has changed, whatever becomes of the other
// ends, which hear of it.
func (o *Owner) UndoAll(ctx context.Context) error {
	o.mu.Lock()
	broken, parts := o.broken, slices.Clone(o.parts)
	o.mu.Unlock()
	if broken != nil {
		return broken
	}
	var failed error
	for _, one := range parts { // one that was put back before stays so
		done, err := o.backHere(ctx, api.Principal{}, one)
		if err == nil && done[0].State == api.RDMAChangePartial {
			err = api.Errorf(api.ReasonRDMAUndoPartial, done[0].Link.String(), "Not everything was put back: %s.", done[0].Message)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// orphan is what this node changed when it had another key: no end of the cable is
// called as it is now.
func (o *Owner) orphan(link api.LinkID) *part {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, one := range o.parts {
		if one.record.Link == link && one.record.End.Node != o.cfg.Node {
			return one
		}
	}
	return nil
}

// backHere puts a change back at this end alone.
func (o *Owner) backHere(ctx context.Context, by api.Principal, one *part) ([]api.NodeRDMAChange, error) {
	o.tell(one, change.Rollback{By: by})
	view, err := o.reach(ctx, one, backWithin, func(s api.RDMAChangeState) bool {
		return s == api.RDMAChangeUndone || s == api.RDMAChangePartial
	})
	if err != nil {
		return nil, err
	}
	return []api.NodeRDMAChange{{Node: o.cfg.Node, RDMAChange: view}}, nil
}
