package daemon

import (
	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
)

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

// known is what is known of a job that counts.
func (d *daemon) known(id api.JobID) (gate.Known, bool) {
	known, found := d.jobs.Known(id)
	return known, found && !known.Gone
}
