package daemon

import (
	"context"
	"maps"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/grant"
	"fulmen/daemon/internal/ledger"
)

// lendingInPeace is what this node lends to ranks that begin: nothing in the seconds
// in which its network is changed for RDMA. Who asks then waits in line.
type lendingInPeace struct{ lendingNow }

// Allows is the arbiter's.
func (l lendingInPeace) Allows(p api.Principal) (account string, reason api.Reason) {
	account, reason = l.lendingNow.Allows(p)
	if reason == "" && l.d.changes.Changing() {
		reason = api.ReasonRDMAChangeRunning
	}
	return account, reason
}

// changeDisturbs is what a change of the network would disturb here: nil where
// nothing is. Whoever asks has said before that it changes something, so that no
// rank can begin after it was asked.
func (d *daemon) changeDisturbs() *api.Error {
	if live := d.ranks.Live(); len(live) > 0 {
		return d.busyWith("runs", live[0].Rank.Job)
	}
	if job := d.holding(func(h grant.Holder, _ api.Grant) bool { return !h.IsMeasure() }); job.Valid() {
		return d.busyWith("is about to run", job.Rank.Job)
	}
	return nil
}

// holding is the first, by name, of those to whom something of this node is lent and
// who fit; the zero holder where none does.
func (d *daemon) holding(fits func(grant.Holder, api.Grant) bool) grant.Holder {
	all := d.grants.Holders()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if h, err := grant.ParseHolder(name); err == nil && all[name].State == api.GrantHeld && fits(h, all[name]) {
			return h
		}
	}
	return grant.Holder{}
}

// busyWith refuses a change because of a job.
func (d *daemon) busyWith(does string, job api.JobID) *api.Error {
	e := api.Errorf(api.ReasonLinkBusy, d.identity.Node.Display(), "A job %s on %s: %s.", does, d.shortNameOf(d.identity.Node), job)
	e.Data.WaitingFor = "job " + job.String()
	return e
}

// deviceIsQuiet waits until no measurement uses the RDMA device of a receptacle.
func (d *daemon) deviceIsQuiet(ctx context.Context, receptacle api.Receptacle) *api.Error {
	_, watcher := d.ledger.Watch(ledger.WatchOptions{Name: "rdma-hold", Passive: true,
		Filter: ledger.Filter{Kinds: []api.Kind{api.KindGrant}, Nodes: []api.NodeID{d.identity.Node}}})
	defer watcher.Close()
	for {
		user := d.holding(func(h grant.Holder, g api.Grant) bool {
			return h.IsMeasure() && slices.Contains(g.Receptacles, receptacle)
		})
		if !user.Valid() {
			return nil
		}
		if _, err := watcher.Next(ctx); err != nil {
			e := api.Errorf(api.ReasonLinkBusy, d.identity.Node.Display(), "The cable at receptacle %s of %s is being measured.", receptacle, d.shortNameOf(d.identity.Node))
			e.Data.WaitingFor = "measurement " + user.String()
			return e
		}
	}
}
