package daemon

import (
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/audit"
	"fulmen/daemon/internal/cluster/node"
	"fulmen/daemon/internal/gate"
)

// openGate makes the gate by which other nodes come in. What it reads of jobs and
// cables is there before anybody calls.
func (d *daemon) openGate() {
	d.gate = gate.New(gate.Config{
		Self: d.identity.Node, Electors: node.Electors{Holder: d.roster},
		Known: func(id api.JobID) (gate.Known, bool) { return d.jobs.Asked(id) },
		Bound: func(s api.Step, a api.Act) bool { return d.jobs.Bound(s, a) },
		Maps:  d.lending.Maps, Cable: d.leadsTo, Record: d.auditPeer, Clock: d.platform.Clock, Log: d.logs.part("gate"),
	})
}

// auditPeer records what another node had this one do, or was refused.
func (d *daemon) auditPeer(e gate.Entry) {
	what, _, _ := strings.Cut(e.Door, "/")
	entry := audit.Entry{Node: e.From, By: e.By, Of: e.Of, What: what, Subject: e.Subject, Reason: e.Refused, Why: auditWhy[e.Why]}
	if e.Refused != "" {
		entry.Why = api.AuditRefused
	}
	if account, reason := d.lending.Allows(e.Of); reason == "" {
		entry.Account = account
	}
	d.audit.Record(entry)
}

// auditWhy is the audit's word for what the gate found proven.
var auditWhy = map[gate.Who]api.AuditWhy{
	gate.WhoMember: api.AuditMember, gate.WhoHome: api.AuditHome, gate.WhoFormer: api.AuditHome, gate.WhoPerson: api.AuditSubmitter,
	gate.WhoRank: api.AuditRankNode, gate.WhoCable: api.AuditCableEnd,
}

// leadsTo reports whether a cable leads from this node to another: the picture of the
// cables has it, or a change of it that was begun here while it did.
func (d *daemon) leadsTo(link api.LinkID, to api.NodeID) bool {
	_, isHere := link.End(d.identity.Node)
	_, isThere := link.End(to)
	if !isHere || !isThere || to == d.identity.Node { // what this node asks of itself it has looked at
		return isHere && isThere
	}
	for _, cable := range d.graph.CablesNow() {
		if cable.Link == link {
			return true
		}
	}
	_, isChanged := d.ledger.Get(api.Key{Node: d.identity.Node, Kind: api.KindRDMAChange, Name: link.String()})
	return isChanged
}
