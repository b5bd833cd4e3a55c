package daemon

import (
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/server"
)

// sees says which documents a client may read: those of a job are for whoever may
// act for its principal, and for administrators. What everybody may know of a job
// job.list tells.
func (d *daemon) sees(v server.Viewer) func(*ledger.Record) bool {
	if v.Class == api.ClassAdmin {
		return func(*ledger.Record) bool { return true }
	}
	viewer := api.Principal{User: server.UserName(v.UID), Node: d.identity.Node}
	return func(r *ledger.Record) bool {
		switch key := r.Key(); key.Kind {
		case api.KindJob:
			job, err := ledger.Shared[api.Job](r)
			return err == nil && d.lending.May(viewer, job.Principal) && d.jobs.Counts(api.JobID(key.Name), job)
		case api.KindRank:
			ref, err := api.ParseRankRef(key.Name)
			job, found := d.jobOf(ref.Job)
			return err == nil && found && d.lending.May(viewer, job.Principal)
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

// sight is who of the cluster is there.
type sight struct{ d *daemon }

// Members are all members.
func (s sight) Members() []api.NodeID { return s.d.roster.Members() }

// Reached are those in sight, this node among them.
func (s sight) Reached() []api.NodeID {
	return slices.DeleteFunc(s.Members(), func(id api.NodeID) bool {
		return id != s.d.identity.Node && s.d.node.State(id).Liveness == api.LivenessUnreachable
	})
}

// Watch calls f after one of the two changed.
func (s sight) Watch(f func()) (stop func()) { return s.d.node.Watch(f) }
