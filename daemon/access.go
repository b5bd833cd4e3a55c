package daemon

import (
	"encoding/json"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/policy"
	"fulmen/daemon/internal/job/phase"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/server"
)

// access says who may act for whom.
type access struct{ d *daemon }

// May reports whether by may stop, see and feed a job of a principal. On the node
// of by that is who has the account as which the job would run there; of a person
// elsewhere the node says so itself, and is believed where its map has a line for
// the job's principal.
func (a access) May(by, job api.Principal) bool {
	if by == job {
		return true
	}
	if by.Node == a.d.identity.Node {
		idle := 1e9 // when jobs may run here has no part in whose they are
		account, reason := a.d.policy.Allows(job, policy.Circumstances{UserIdleS: &idle})
		return reason == "" && account == by.User
	}
	var sharing api.Sharing
	record, found := a.d.ledger.Get(api.Key{Node: by.Node, Kind: api.KindSharing})
	return found && record.Decode(&sharing) == nil && sharing.IsMapped(job)
}

// sees says which documents a client may read: those of a job are for whoever may
// act for its principal, and for administrators. What everybody may know of a job
// job.list tells.
func (a access) sees(v server.Viewer) func(*ledger.Record) bool {
	if v.Class == api.ClassAdmin {
		return func(*ledger.Record) bool { return true }
	}
	viewer := api.Principal{User: userName(v.UID), Node: a.d.identity.Node}
	return func(r *ledger.Record) bool {
		switch key := r.Key(); key.Kind {
		case api.KindJob:
			job, err := ledger.Shared[api.Job](r)
			return err == nil && a.May(viewer, job.Principal)
		case api.KindRank:
			ref, err := api.ParseRankRef(key.Name)
			job, found := a.d.jobOf(ref.Job)
			return err == nil && found && a.May(viewer, job.Principal)
		}
		return true
	}
}

// jobOf is the document of a job that counts: the one of the highest epoch.
func (d *daemon) jobOf(id api.JobID) (best api.Job, found bool) {
	for _, home := range d.roster.Members() {
		record, isThere := d.ledger.Get(api.Key{Node: home, Kind: api.KindJob, Name: string(id)})
		if !isThere {
			continue
		}
		if job, err := ledger.Shared[api.Job](record); err == nil && (!found || phase.Outranks(job, best)) {
			best, found = job, true
		}
	}
	return best, found
}

// specOf is the spec of a job, of the document that counts. Nobody has checked its
// signature here: what starts something does so itself.
func (d *daemon) specOf(id api.JobID) (spec api.JobSpec, job api.Job, found bool) {
	if job, found = d.jobOf(id); found {
		found = json.Unmarshal(job.Spec, &spec) == nil
	}
	return spec, job, found
}

// mayRank is nil where a principal may see and feed a rank.
func (d *daemon) mayRank(by api.Principal, ref api.RankRef) error {
	job, found := d.jobOf(ref.Job)
	if !found {
		return api.NewError(api.ReasonNoSuchJob, string(ref.Job))
	}
	if !(access{d}).May(by, job.Principal) {
		return api.NewError(api.ReasonNotYourJob, string(ref.Job))
	}
	return nil
}
