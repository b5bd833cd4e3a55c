package rdma

import (
	"fulmen/daemon/api"
	"fulmen/daemon/internal/rdma/change"
)

// Heard takes what another node says of its end of a cable.
func (o *Owner) Heard(node api.NodeID, theirs api.RDMAChange) {
	o.mu.Lock()
	var p *part
	for _, one := range o.parts {
		if one.record.Link == theirs.Link && one.record.Other().Node == node {
			p = one
		}
	}
	o.mu.Unlock()
	if p != nil {
		o.heard(p, theirs)
	}
}

// hearOther takes what the other end has said before.
func (o *Owner) hearOther(p *part) {
	o.mu.Lock()
	r := p.record
	o.mu.Unlock()
	if theirs, known := o.cfg.Others(r.Other().Node, r.Link); known {
		o.heard(p, theirs)
	}
}

func (o *Owner) heard(p *part, theirs api.RDMAChange) {
	o.mu.Lock()
	r := p.record
	o.mu.Unlock()
	e := change.Heard{State: theirs.State, Cause: change.Cause{
		Reason: api.ReasonRDMAChangeFailed, Message: o.cfg.Name(r.Other().Node) + " put it back",
	}}
	if theirs.Change != r.Change {
		if isBack(theirs.State) || !theirs.StartedAt.After(r.StartedAt.Time) {
			return // of before this one
		}
		e.State = api.RDMAChangeUndone // no end begins another change before it is done with the last
	}
	switch {
	case theirs.Change != r.Change:
	case theirs.UndoneBy != api.Principal{}:
		e.By, e.Cause = theirs.UndoneBy, change.Cause{}
	case theirs.Message != "":
		e.Cause = change.Cause{Reason: theirs.Reason, Message: o.cfg.Name(r.Other().Node) + ": " + theirs.Message}
	}
	if r.State == api.RDMAChangeActive && r.By.Node != o.cfg.Node && o.cfg.Allowed(r.Other().Node) != "" {
		return // what is in force is this Mac's to put back
	}
	o.tell(p, e)
}
