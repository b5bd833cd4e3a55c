package daemon

import (
	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/node"
	"fulmen/daemon/internal/gate"
)

// openGate makes the gate by which other nodes come in. What it reads of jobs and
// cables is there before anybody calls.
func (d *daemon) openGate() {
	d.gate = gate.New(gate.Config{
		Self: d.identity.Node, Electors: node.Electors{Holder: d.roster},
		Known: func(id api.JobID) (gate.Known, bool) { return d.jobs.Known(id) },
		Bound: func(s api.Step, a api.Act) bool { return d.jobs.Bound(s, a) },
		Maps:  d.maps, Cable: d.leadsTo, Clock: d.platform.Clock, Log: d.logs.part("gate"),
	})
}

// leadsTo reports whether a cable leads from this node to another: the picture of the
// cables has it, or a change of it that was begun here while it did.
func (d *daemon) leadsTo(link api.LinkID, to api.NodeID) bool {
	here, isHere := link.End(d.identity.Node)
	there, isThere := link.End(to)
	if !isHere || !isThere || here == there {
		return false
	}
	for _, cable := range d.graph.cablesNow() {
		if cable.Link == link {
			return true
		}
	}
	_, isChanged := d.ledger.Get(api.Key{Node: d.identity.Node, Kind: api.KindRDMAChange, Name: link.String()})
	return isChanged
}
