package rank

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
)

// fenceLocked is what is known of a job's epochs and attempts.
func (r *Ranks) fenceLocked(job api.JobID) *fence {
	f := r.jobs[job]
	if f == nil {
		f = &fence{}
		r.jobs[job] = f
	}
	return f
}

// admitLocked refuses a home of a lower epoch of a job than this node or its arbiter
// know, and one whose spec is not that of the ranks here; a higher epoch counts from
// now on.
func (r *Ranks) admitLocked(job api.JobID, home gate.Home) error {
	f, epoch := r.fenceLocked(job), home.Epoch()
	for _, h := range r.ofJobLocked(job) {
		if h.Doc.SpecSHA256 != home.SpecSHA256() {
			return api.NewError(api.ReasonSpecAltered, h.ref().String())
		}
	}
	if known := max(f.Epoch, r.cfg.Grants.Epoch(job)); epoch < known {
		return api.Errorf(api.ReasonStaleEpoch, string(job), "The job has a newer home: epoch %d, not %d.", known, epoch)
	}
	if epoch == f.Epoch {
		return nil
	}
	f.Epoch = epoch
	if len(r.ofJobLocked(job)) == 0 {
		return nil // there is nothing here that a former home could touch
	}
	return r.saveFenceLocked(job)
}

// Bind has the ranks of a job follow its spec as its home, this node, has signed it
// anew, by its hash: they take orders by that one and no other. Their records say so
// when it returns.
func (r *Ranks) Bind(job api.JobID, sha256 string) {
	r.mu.Lock()
	var changed []*held
	for _, h := range r.ofJobLocked(job) {
		if h.Doc.SpecSHA256 != sha256 {
			h.Doc.SpecSHA256 = sha256
			r.reportLocked(h.ref())
			changed = append(changed, h)
		}
	}
	r.mu.Unlock()
	for _, h := range changed {
		if err := r.save(h); err != nil && !errors.Is(err, fs.ErrNotExist) { // it is forgotten just now
			r.cfg.Log.Error("that a job's spec was signed anew is not on disk", "rank", h.ref().String(), "err", err)
		}
	}
}

// endedLocked reports whether the order to end a rank was taken, which may come
// before the one to start it.
func (f *fence) endedLocked(ref api.RankRef) bool {
	return ref.Attempt < f.Attempt || ref.Attempt == f.Attempt && (f.Ended || slices.Contains(f.Ranks, ref.Rank))
}

// end notes the order to end ranks of an attempt, none being all of them, and
// reports whether that is news.
func (f *fence) end(attempt int, ranks []int) bool {
	if attempt < f.Attempt || attempt == f.Attempt && f.Ended {
		return false
	}
	isNew := attempt > f.Attempt
	if isNew {
		f.Attempt, f.Ranks = attempt, nil
	}
	if len(ranks) == 0 {
		f.Ended, f.Ranks = true, nil
		return true
	}
	for _, rank := range ranks {
		if !slices.Contains(f.Ranks, rank) {
			f.Ranks, isNew = append(slices.Clone(f.Ranks), rank), true
		}
	}
	return isNew
}

// attempt notes that an attempt is started here. The caller has asked ended.
func (f *fence) attempt(n int) {
	if n > f.Attempt {
		f.Attempt, f.Ended, f.Ranks = n, false, nil
		f.Starts++
	}
}

// saveFenceLocked keeps what was noted. The lock has what is written last be what is
// true last.
func (r *Ranks) saveFenceLocked(job api.JobID) error {
	folder := r.jobFolder(job)
	if err := makeFolder(folder); err != nil {
		return err
	}
	if err := writeWhole(filepath.Join(folder, fenceFile), r.fenceLocked(job)); err != nil {
		return fmt.Errorf("which attempts of %s are over could not be saved: %w", job, err)
	}
	return nil
}
