package daemon

import (
	"context"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/audit"
	"fulmen/daemon/internal/cluster/node"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/server"
)

// openGate makes the gate by which other nodes come in. What it reads of jobs and
// cables is there before anybody calls.
func (d *daemon) openGate() {
	d.gate = gate.New(gate.Config{
		Self: d.identity.Node, Electors: node.Electors{Holder: d.roster},
		Known: func(id api.JobID) (gate.Known, bool) { return d.jobs.Asked(id) },
		Bound: func(s api.Step, a api.Act) bool { return d.jobs.Bound(s, a) },
		Maps:  d.lending.Maps, Cable: d.leadsTo, Record: d.recordPeer, Clock: d.platform.Clock, Log: d.logs.Part("gate"),
	})
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

// recordPeer records what another node had this one do, or was refused.
func (d *daemon) recordPeer(e gate.Entry) {
	account, _ := d.lending.Allows(e.Of)
	d.audit.Record(audit.OfPeer(e, account))
}

// openAudit opens the record of what others did here.
func (d *daemon) openAudit(context.Context) error {
	var err error
	d.audit, err = audit.Open(audit.Config{Clock: d.platform.Clock, Store: d.records, Log: d.logs.Part("audit")})
	if err == nil {
		d.onClose(d.audit.Close)
	}
	return err
}

// auditCalls records what clients have this node do.
func (d *daemon) auditCalls() audit.Calls {
	return audit.Calls{Log: d.audit, May: d.lending.May, OwnerOf: func(ctx context.Context, id api.JobID, measurement api.MeasureID) api.Principal {
		if id != "" {
			job, _ := d.jobOf(id)
			return job.Principal
		}
		one, err := d.profiler.Get(ctx, api.MeasureSelect{Measurement: measurement})
		if err != nil {
			return api.Principal{}
		}
		return one.By
	}}
}

// eventAudit is what others did here, as one caller may read it.
func (d *daemon) eventAudit(_ context.Context, c *server.Caller, p api.EventAuditParams) (api.EventAuditResult, error) {
	by, isAdmin := c.Principal(), c.Class() == api.ClassAdmin
	return d.audit.List(p, func(e audit.Entry) bool { return isAdmin || audit.Concerns(e, by) }), nil
}
