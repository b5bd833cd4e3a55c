package daemon

import (
	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/policy"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/server"
)

// access says who may act for whom.
type access struct{ d *daemon }

// May reports whether by, of this node, may stop, see and feed a job of a principal:
// who has the account as which the job would run here. When jobs may run here has no
// part in whose they are.
func (a access) May(by, job api.Principal) bool {
	if by == job {
		return true
	}
	idle := 1e9
	account, reason := a.d.policy.Allows(job, policy.Circumstances{UserIdleS: &idle})
	return by.Node == a.d.identity.Node && reason == "" && account == by.User
}

// maps reports whether the node of by says that a principal's jobs run there as the
// account of by. Of this node that is its map, elsewhere what that node publishes,
// which names no account: any of its people is believed.
func (d *daemon) maps(by, principal api.Principal) bool {
	if by.Node == d.identity.Node {
		return access{d}.May(by, principal)
	}
	var sharing api.Sharing
	record, found := d.ledger.Get(api.Key{Node: by.Node, Kind: api.KindSharing})
	return found && record.Decode(&sharing) == nil && sharing.IsMapped(principal)
}

// sees says which documents a client may read: those of a job are for whoever may
// act for its principal, and for administrators. What everybody may know of a job
// job.list tells.
func (a access) sees(v server.Viewer) func(*ledger.Record) bool {
	if v.Class == api.ClassAdmin {
		return func(*ledger.Record) bool { return true }
	}
	viewer := api.Principal{User: server.UserName(v.UID), Node: a.d.identity.Node}
	return func(r *ledger.Record) bool {
		switch key := r.Key(); key.Kind {
		case api.KindJob:
			job, err := ledger.Shared[api.Job](r)
			return err == nil && a.May(viewer, job.Principal) && a.d.jobs.Counts(api.JobID(key.Name), job)
		case api.KindRank:
			ref, err := api.ParseRankRef(key.Name)
			job, found := a.d.jobOf(ref.Job)
			return err == nil && found && a.May(viewer, job.Principal)
		}
		return true
	}
}

// jobOf is the document of a job that counts.
func (d *daemon) jobOf(id api.JobID) (api.Job, bool) {
	known, found := d.jobs.Known(id)
	return known.Job, found && !known.Gone
}

// specOf is the spec of a job, which was verified, and the document that counts.
func (d *daemon) specOf(id api.JobID) (api.JobSpec, api.Job, bool) {
	known, found := d.jobs.Known(id)
	return known.Spec, known.Job, found && !known.Gone
}
