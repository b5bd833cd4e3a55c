package daemon

import (
	"context"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
)

// copiesEvery is how often old copies of folders are removed. That one has become
// old is announced by nobody.
const copiesEvery = 24 * time.Hour

// cleanCopies removes copies of folders that no job has asked for in a long time,
// now and once a day, until ctx ends.
func (d *daemon) cleanCopies(ctx context.Context) {
	for {
		d.cleanCopiesOnce(ctx)
		if !native.Pause(ctx, d.platform.Clock, copiesEvery) {
			return
		}
	}
}

// cleanCopiesOnce looks into the home folders of the accounts as which others' jobs
// run here. What jobs that are not deleted have left in a copy stays.
func (d *daemon) cleanCopiesOnce(ctx context.Context) {
	var kept []api.JobSpec
	for _, record := range d.ledger.List(ledger.Filter{Kinds: []api.Kind{api.KindJob}}) {
		if spec, _, found := d.specOf(api.JobID(record.Key().Name)); found && spec.Program.Sync {
			kept = append(kept, spec)
		}
	}
	done := map[string]bool{}
	for _, line := range d.policy.Users(true).Users {
		if line.Account == "" || done[line.Account] {
			continue
		}
		done[line.Account] = true
		account, err := d.preparer.Account(line.Account)
		if err != nil {
			continue // it is gone, or root's now: nothing is touched as such
		}
		var keep []string
		for _, spec := range kept {
			keep = append(keep, d.files.Folder(spec.Principal.Node, account, spec.Program.Directory))
		}
		if err := d.files.Clean(ctx, account, keep); err != nil && ctx.Err() == nil {
			d.logs.Part("rank").Warn("old copies of folders could not be removed", "account", account.Name, "error", err)
		}
	}
}
