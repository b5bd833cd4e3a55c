package lend

import (
	"context"
	"maps"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/grant"
	"fulmen/daemon/internal/ledger"
)

// allowed is what this node lends to ranks that begin: nothing in the seconds in which
// its network is changed for RDMA. Who asks then waits in line.
type allowed struct {
	grant.Policy
	isChanging func() bool
}

// Allows implements grant.Policy.
func (l allowed) Allows(p api.Principal) (account string, reason api.Reason) {
	account, reason = l.Policy.Allows(p)
	if reason == "" && l.isChanging() {
		reason = api.ReasonRDMAChangeRunning
	}
	return account, reason
}

// Disturbed is what a change of the network would disturb here: nil where
// nothing is. Whoever asks has said before that it changes something, so that no
// rank can begin after it was asked.
func (g *Lender) Disturbed() *api.Error {
	if live := g.cfg.Ranks(); len(live) > 0 {
		return g.busyWith("runs", live[0].Job)
	}
	if job := g.holding(func(h grant.Holder, _ api.Grant) bool { return !h.IsMeasure() }); job.Valid() {
		return g.busyWith("is about to run", job.Rank.Job)
	}
	return nil
}

// holding is the first, by name, of those to whom something of this node is lent and
// who fit; the zero holder where none does.
func (g *Lender) holding(fits func(grant.Holder, api.Grant) bool) grant.Holder {
	all := g.Holders()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if h, err := grant.ParseHolder(name); err == nil && all[name].State == api.GrantHeld && fits(h, all[name]) {
			return h
		}
	}
	return grant.Holder{}
}

// busyWith refuses a change because of a job.
func (g *Lender) busyWith(does string, job api.JobID) *api.Error {
	return api.Errorf(api.ReasonLinkBusy, g.cfg.Self.Display(), "A job %s on %s: %s.", does, g.cfg.Name(g.cfg.Self), job).
		WithWait("job " + job.String())
}

// Quiet waits until no measurement uses the RDMA device of a receptacle.
func (g *Lender) Quiet(ctx context.Context, portNumber api.PortNumber) *api.Error {
	_, watcher := g.cfg.Ledger.Watch(ledger.WatchOptions{Name: "rdma-hold", Passive: true, Filter: g.own(api.KindGrant)})
	defer watcher.Close()
	for {
		user := g.holding(func(h grant.Holder, one api.Grant) bool {
			return h.IsMeasure() && slices.Contains(one.PortNumbers, portNumber)
		})
		if !user.Valid() {
			return nil
		}
		if _, err := watcher.Next(ctx); err != nil {
			return api.Errorf(api.ReasonLinkBusy, g.cfg.Self.Display(), "The cable at port %s of %s is being measured.", portNumber, g.cfg.Name(g.cfg.Self)).
				WithWait("measurement " + user.String())
		}
	}
}
