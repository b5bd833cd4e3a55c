package daemon

import (
	"context"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/rdma"
	"fulmen/daemon/internal/store"
	"fulmen/daemon/internal/topology/readiness"
	"fulmen/daemon/internal/view"
	"fulmen/native"
)

// openChanges makes what changes this Mac's network for RDMA, and answers the
// other ends of its cables.
func (d *daemon) openChanges() {
	d.changes = rdma.New(rdma.Config{
		Node: d.identity.Node, Clock: d.platform.Clock, Peers: d.peers, Facts: d.platform.Facts, Network: d.platform.Network,
		Records: rdma.UndoFile{Path: d.folders.UndoFile()}, History: changeHistory{storage{d.database}},
		Documents: claiming{d.owner("rdma", api.KindRDMAChange), d}, Conditions: d.health,
		Allowed: d.policy.AllowsRDMAChange, Check: d.mayEnable, Able: d.able, Busy: d.changeDisturbs, Quiet: d.deviceIsQuiet,
		Others: d.changeOf, Name: d.shortNameOf, Prove: d.probeCable, Idle: d.grants.Recheck, Log: d.logs.part("rdma"),
	})
	d.onClose(func() error { d.changes.Close(); return nil })
}

// claiming publishes changes, and has the network published again after each: which
// services are Fulmen's is a part of it that no event of the system tells. Ranks that
// wait for the end of a change are looked at again.
type claiming struct {
	documents
	daemon *daemon
}

// Put publishes a change.
func (c claiming) Put(kind api.Kind, name string, value any, unknown map[string]api.Reason) error {
	defer c.daemon.facts.Reread(native.AreaNetwork)
	defer c.daemon.grants.Recheck() // ranks wait for its end
	return c.documents.Put(kind, name, value, unknown)
}

// isOurService reports whether Fulmen made a network service of this Mac.
func (d *daemon) isOurService(id string) bool { return d.changes != nil && d.changes.Ours(id) }

// runChanges takes up what the daemon before has left, and follows what changes
// are about until ctx ends.
func (d *daemon) runChanges(ctx context.Context) error {
	if err := d.changes.Start(); err != nil {
		d.raise(api.ReasonStateCorrupt, err.Error())
	} else {
		d.forgetChanges()
	}
	return d.ledger.FollowEach(ctx, ledger.WatchOptions{Name: "rdma", Passive: true, Filter: ledger.Filter{
		Kinds: append(view.GraphKinds(), api.KindRDMAChange),
	}}, d.seeChanges)
}

// forgetChanges ends what this node said of changes that it has no record of any
// more.
func (d *daemon) forgetChanges() {
	documents := d.owner("rdma", api.KindRDMAChange)
	for _, record := range d.ledger.List(ledger.Filter{Kinds: []api.Kind{api.KindRDMAChange}, Nodes: []api.NodeID{d.identity.Node}}) {
		var one api.RDMAChange
		if record.Decode(&one) != nil || one.State == api.RDMAChangeUndone ||
			slices.ContainsFunc(d.changes.Held(), func(h rdma.Held) bool { return h.Link == one.Link }) {
			continue
		}
		if err := documents.Delete(api.KindRDMAChange, record.Key().Name); err != nil {
			d.logs.part("rdma").Warn("a change that nobody keeps could not be forgotten", "link", one.Link, "error", err)
		}
	}
}

// seeChanges gives the changes for RDMA what documents say.
func (d *daemon) seeChanges(change ledger.Change) {
	for _, record := range change.Put {
		var theirs api.RDMAChange
		if key := record.Key(); key.Kind == api.KindRDMAChange && key.Node != d.identity.Node && record.Decode(&theirs) == nil {
			d.changes.Heard(key.Node, theirs)
		}
	}
	if about, own := d.whatChanged(change); about {
		d.changes.Look(own)
	}
}

// whatChanged reports whether news may matter to changes, and whether they are of
// this machine. Measurements do not.
func (d *daemon) whatChanged(change ledger.Change) (matters, own bool) {
	see := func(key api.Key) {
		if key.Kind != api.KindLinkProfile && key.Kind != api.KindRDMAChange {
			matters = true
			own = own || key.Node == d.identity.Node && (key.Kind == api.KindNetwork || key.Kind == api.KindRDMA)
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

// changeOf is what a node says of its end of a cable.
func (d *daemon) changeOf(node api.NodeID, link api.LinkID) (one api.RDMAChange, known bool) {
	record, found := d.ledger.Get(api.Key{Node: node, Kind: api.KindRDMAChange, Name: link.String()})
	return one, found && record.Decode(&one) == nil
}

// mayEnable says why RDMA cannot be enabled on a cable, as this node sees it; nil
// where it can, or is.
func (d *daemon) mayEnable(link api.LinkID) *api.Error {
	report, found := d.readinessOf(link)
	if !found {
		return api.Errorf(api.ReasonNoSuchLink, link.String(), "%s sees no such cable.", d.shortNameOf(d.identity.Node))
	}
	return readiness.Refusal(report)
}

// readinessOf is the report of a cable.
func (d *daemon) readinessOf(link api.LinkID) (readiness.Report, bool) {
	all := d.graph.Build().Readiness()
	at := slices.IndexFunc(all, func(r readiness.Report) bool { return r.Link == link })
	if at < 0 {
		return readiness.Report{}, false
	}
	return all[at], true
}

// able says why this machine's system cannot do something; nil where it can.
func (d *daemon) able(feature native.Feature) error {
	if d.capabilities == nil {
		return nil // it could not be asked; the change itself tells
	}
	return d.capabilities.Need(feature)
}

// The bucket of the database for what was changed for RDMA.
const (
	bucketRDMA = "rdma"
	keyHistory = "history"
)

// changeHistory keeps the audit log of changes.
type changeHistory struct{ storage }

// Load is the owner's of changes.
func (h changeHistory) Load() (all []api.RDMAChange, err error) {
	_, err = h.read(bucketRDMA, keyHistory, &all)
	return all, err
}

// Save is the owner's of changes.
func (h changeHistory) Save(all []api.RDMAChange) error {
	return h.db.Update(func(w store.Writer) error { return write(w, bucketRDMA, keyHistory, all) })
}
