package rank

import (
	"context"
	"time"

	"fulmen/daemon/api"
)

// modelPlace stands for the model's folder in the arguments of a job that has a model.
const modelPlace = "{model}"

// findModel finds the model of a job that has one, at the revision of the plan.
func (r *Ranks) findModel(ctx context.Context, w wanted) (api.FoundModel, error) {
	revision := ""
	if w.Plan.Model != nil {
		revision = w.Plan.Model.Revision
	}
	found := r.cfg.Model(ctx, w.spec, w.account, revision)
	if p := found.Problem; p != nil {
		return found, api.Errorf(p.Reason, p.Subject, "%s", p.Message).WithRemedy(p.Remedy)
	}
	return found, nil
}

// fetchModel copies the model of a job from the node that the plan names, unless it is here
// by now. The rank's document gets how far that is.
func (r *Ranks) fetchModel(ctx context.Context, h *held, w wanted) error {
	from := w.planned.ModelFrom
	if from == "" || !w.spec.FetchModel || w.Plan.Model == nil {
		return nil
	}
	revision := w.Plan.Model.Revision
	if found := r.cfg.Model(ctx, w.spec, w.account, revision); !found.Lacks() {
		return nil // what else there may be against it is said when it is looked for
	}
	progress := fetchProgress{began: r.cfg.Clock.Boot()}
	err := r.cfg.FetchModel(ctx, w.spec, w.account, from, revision, func(p api.ModelProgress) {
		if latest := progress.of(p, from, r.cfg.Clock.Boot()); latest != nil {
			r.publishFetch(h, w.Rank, latest)
		}
	})
	r.publishFetch(h, w.Rank, nil)
	return err
}

func (r *Ranks) publishFetch(h *held, rank api.RankRef, latest *api.RankFetch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h.Doc.Fetching != latest && !h.Doc.Phase.Ended() {
		h.Doc.Fetching = latest
		r.reportLocked(rank)
	}
}

// fetchEvery is how often all nodes get to know how far a copy is.
const fetchEvery = 2 * time.Second

// fetchProgress follows a copy.
type fetchProgress struct {
	began, last time.Duration // on Boot
	from        *int64        // what was in place before
}

// of is what all nodes get to know; nil = nothing yet.
func (f *fetchProgress) of(p api.ModelProgress, from api.NodeID, now time.Duration) *api.RankFetch {
	if f.from != nil && now-f.last < fetchEvery || p.TotalBytes == 0 {
		return nil
	}
	f.last = now
	if f.from == nil {
		f.began, f.from = now, &p.DoneBytes
	}
	latest := &api.RankFetch{From: from, DoneBytes: p.DoneBytes, TotalBytes: p.TotalBytes}
	if moved := p.DoneBytes - *f.from; moved > 0 {
		latest.LeftS = new(float64(p.TotalBytes-p.DoneBytes) / float64(moved) * (now - f.began).Seconds())
	}
	return latest
}
