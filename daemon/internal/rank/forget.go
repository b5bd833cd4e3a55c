package rank

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"fulmen/daemon/api"
	"fulmen/native"
)

// Forget removes a job that was deleted: its ranks' documents and files. What it
// printed stays where the job's policy, or the one given in its place, says so.
// Ranks that should not live any more are ended first, and waited for.
func (r *Ranks) Forget(ctx context.Context, job api.JobID, output api.OutputPolicy) error {
	select {
	case <-r.ready:
	case <-ctx.Done():
		return ctx.Err()
	}
	r.mu.Lock()
	ranks := r.ofJobLocked(job)
	for _, h := range ranks {
		if output != "" {
			h.Output = output
		}
		r.endOneLocked(h, causeOf(api.ReasonJobDeleted, ""), 0)
	}
	r.mu.Unlock()
	for _, h := range ranks {
		select {
		case <-h.cleared:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return r.drop(job)
}

// drop removes what there is of a job none of whose ranks lives.
func (r *Ranks) drop(job api.JobID) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	keep := false
	for _, h := range r.ofJobLocked(job) {
		delete(r.held, h.ref())
		r.reportLocked(h.ref())
		keep = keep || h.Output == api.OutputKeep
	}
	delete(r.jobs, job)
	if !keep {
		return os.RemoveAll(r.jobFolder(job))
	}
	// The folders stay with what was printed in them and nothing else.
	return filepath.WalkDir(r.jobFolder(job), func(path string, entry fs.DirEntry, err error) error {
		name := filepath.Base(path)
		if err != nil || entry.IsDir() || strings.HasPrefix(name, api.OutFilePrefix) || strings.HasPrefix(name, api.ErrFilePrefix) {
			return err
		}
		return os.Remove(path)
	})
}

// ForgetJob ends and forgets what this node has of a job that was deleted. What cannot be
// forgotten, the log has.
func (r *Ranks) ForgetJob(ctx context.Context, id api.JobID, policy api.OutputPolicy) {
	if err := r.Forget(ctx, id, policy); err != nil && ctx.Err() == nil && !errors.Is(err, native.ErrNotFound) {
		r.cfg.Log.Warn("a deleted job's ranks could not be forgotten", "job", id, "error", err)
	}
}
