package rank

import (
	"fmt"
	"path/filepath"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
)

// fence is what is known of a job's epochs and attempts. The caller holds mu.
func (r *Ranks) fence(job api.JobID) *fence {
	f := r.jobs[job]
	if f == nil {
		f = &fence{}
		r.jobs[job] = f
	}
	return f
}

// admit refuses a home of a lower epoch of a job than this node or its arbiter know,
// and one whose spec is not that of the ranks here; a higher epoch counts from now on.
// The caller holds mu.
func (r *Ranks) admit(job api.JobID, home gate.Home) error {
	f, epoch := r.fence(job), home.Epoch()
	for _, h := range r.ofJob(job) {
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
	if len(r.ofJob(job)) == 0 {
		return nil // there is nothing here that a former home could touch
	}
	return r.saveFence(job)
}

// ended reports whether the order to end a rank was taken, which may come before
// the one to start it. The caller holds mu.
func (f *fence) ended(ref api.RankRef) bool {
	return ref.Attempt < f.Attempt || ref.Attempt == f.Attempt && (f.Ended || slices.Contains(f.Ranks, ref.Rank))
}

// end notes the order to end ranks of an attempt, none being all of them, and
// reports whether that is news.
func (f *fence) end(attempt int, ranks []int) bool {
	if attempt < f.Attempt || attempt == f.Attempt && f.Ended {
		return false
	}
	news := attempt > f.Attempt
	if news {
		f.Attempt, f.Ranks = attempt, nil
	}
	if len(ranks) == 0 {
		f.Ended, f.Ranks = true, nil
		return true
	}
	for _, rank := range ranks {
		if !slices.Contains(f.Ranks, rank) {
			f.Ranks, news = append(slices.Clone(f.Ranks), rank), true
		}
	}
	return news
}

// attempt notes that an attempt is started here. The caller has asked ended.
func (f *fence) attempt(n int) {
	if n > f.Attempt {
		f.Attempt, f.Ended, f.Ranks = n, false, nil
		f.Starts++
	}
}

// saveFence keeps what was noted. The caller holds mu, so that what is written
// last is what is true last.
func (r *Ranks) saveFence(job api.JobID) error {
	folder := r.jobFolder(job)
	if err := makeFolder(folder); err != nil {
		return err
	}
	if err := writeWhole(filepath.Join(folder, fenceFile), r.fence(job)); err != nil {
		return fmt.Errorf("what is over of %s could not be kept: %w", job, err)
	}
	return nil
}
