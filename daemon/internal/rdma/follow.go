package rdma

import (
	"context"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/rdma/change"
	"fulmen/daemon/internal/topology"
	"fulmen/daemon/internal/topology/readiness"
)

// Run takes up what the daemon before has left, and follows what changes are about,
// which are documents of some kinds, until ctx ends.
func (o *Owner) Run(ctx context.Context, l *ledger.Ledger, kinds []api.Kind) error {
	if err := o.Start(); err != nil {
		o.cfg.Conditions.Hold(api.ReasonStateCorrupt, "", true, err.Error())
	} else {
		o.forgetLost(l)
	}
	return l.FollowEach(ctx, ledger.WatchOptions{Name: "rdma", Passive: true, Filter: ledger.Filter{
		Kinds: append(kinds, api.KindRDMAChange),
	}}, o.see)
}

// forgetLost ends what this node said of changes that it has no record of any
// more.
func (o *Owner) forgetLost(l *ledger.Ledger) {
	for _, record := range l.List(ledger.Filter{Kinds: []api.Kind{api.KindRDMAChange}, Nodes: []api.NodeID{o.cfg.Node}}) {
		var one api.RDMAChange
		if record.Decode(&one) != nil || one.State == api.RDMAChangeUndone ||
			slices.ContainsFunc(o.held(), func(r change.Record) bool { return r.Link == one.Link }) {
			continue
		}
		if err := o.cfg.Documents.Delete(api.KindRDMAChange, record.Key().Name); err != nil {
			o.cfg.Log.Warn("a change that nobody keeps could not be forgotten", "link", one.Link, "error", err)
		}
	}
}

// see takes what documents say.
func (o *Owner) see(change ledger.Change) {
	for _, record := range change.Put {
		var theirs api.RDMAChange
		if key := record.Key(); key.Kind == api.KindRDMAChange && key.Node != o.cfg.Node && record.Decode(&theirs) == nil {
			o.PeerChanged(key.Node, theirs)
		}
	}
	if about, own := o.concerns(change); about {
		o.Look(own)
	}
}

// concerns reports whether news may matter to changes, and whether they are of
// this machine. Measurements do not.
func (o *Owner) concerns(change ledger.Change) (matters, own bool) {
	see := func(key api.Key) {
		if key.Kind != api.KindLinkProfile && key.Kind != api.KindRDMAChange {
			matters = true
			own = own || key.Node == o.cfg.Node && (key.Kind == api.KindNetwork || key.Kind == api.KindRDMA)
		}
	}
	for _, record := range change.Put {
		see(record.Key())
	}
	for _, key := range change.Del {
		see(key)
	}
	return matters, own
}

// ChangeOf is what a node says of its end of a cable.
func ChangeOf(l *ledger.Ledger, node api.NodeID, link api.LinkID) (one api.RDMAChange, known bool) {
	return ledger.Read[api.RDMAChange](l, api.Key{Node: node, Kind: api.KindRDMAChange, Name: link.String()})
}

// MayEnable says why RDMA cannot be enabled on a cable of a graph; nil where it can,
// or is. name is what people call this node.
func MayEnable(graph topology.Graph, link api.LinkID, name string) *api.Error {
	all := graph.Readiness()
	at := slices.IndexFunc(all, func(r readiness.Report) bool { return r.Link == link })
	if at < 0 {
		return api.Errorf(api.ReasonNoSuchLink, link.String(), "%s sees no such cable.", name)
	}
	return readiness.Refusal(all[at])
}

// IsChangingEnd reports whether settings of an end are being made or put back just
// now. The test that proves a change comes after they are made.
func (o *Owner) IsChangingEnd(end api.LinkEnd) bool {
	return slices.ContainsFunc(o.held(), func(r change.Record) bool {
		own, isHere := r.Link.End(o.cfg.Node)
		return isHere && own == end && (r.State == api.RDMAChangeApplying || r.State == api.RDMAChangeUndoing)
	})
}

// PeerChanged takes what another node says of its end of a cable.
func (o *Owner) PeerChanged(node api.NodeID, theirs api.RDMAChange) {
	if p := o.find(func(r change.Record) bool { return r.Link == theirs.Link && r.Other().Node == node }); p != nil {
		o.received(p, theirs)
	}
}

// receiveOther takes what the other end has said before.
func (o *Owner) receiveOther(p *part) {
	r := o.recordOf(p)
	if theirs, known := o.cfg.Others(r.Other().Node, r.Link); known {
		o.received(p, theirs)
	}
}

func (o *Owner) received(p *part, theirs api.RDMAChange) {
	r := o.recordOf(p)
	e := change.PeerChange{State: theirs.State, Cause: api.Cause{
		Reason: api.ReasonRDMAChangeFailed, Message: o.cfg.Name(r.Other().Node) + " put it back",
	}}
	if theirs.Change != r.Change {
		if change.IsBack(theirs.State) || !theirs.StartedAt.After(r.StartedAt.Time) {
			return // an earlier change than this one
		}
		e.State = api.RDMAChangeUndone // no end begins another change before it is done with the last
	}
	switch {
	case theirs.Change != r.Change:
	case theirs.UndoneBy != api.Principal{}:
		e.By, e.Cause = theirs.UndoneBy, api.Cause{}
	case theirs.Message != "":
		e.Cause = api.Cause{Reason: theirs.Reason, Message: o.cfg.Name(r.Other().Node) + ": " + theirs.Message}
	}
	if r.State == api.RDMAChangeActive && r.By.Node != o.cfg.Node && o.cfg.Allowed(r.Other().Node) != "" {
		return // what is in force is this Mac's to put back
	}
	o.notify(p, e)
}
