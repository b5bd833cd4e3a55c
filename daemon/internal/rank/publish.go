package rank

import (
	"maps"
	"slices"

	"fulmen/daemon/api"
)

// reportLocked has a rank's document published as it is then; what changes in between
// is left out.
func (r *Ranks) reportLocked(ref api.RankRef) {
	r.unpublished[ref] = struct{}{}
	r.dirty.Wake()
}

// publish publishes documents one by one: a commit on the disk delays no rank.
func (r *Ranks) publish() {
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-r.dirty:
		}
		r.mu.Lock()
		refs := slices.SortedFunc(maps.Keys(r.unpublished), api.RankRef.Compare)
		clear(r.unpublished)
		r.mu.Unlock()
		for _, ref := range refs {
			r.publishOne(ref)
		}
	}
}

// publishOne publishes what a rank is now. One at a time does, so that none replaces what
// is later.
func (r *Ranks) publishOne(ref api.RankRef) {
	r.publishing.Lock()
	defer r.publishing.Unlock()
	r.mu.Lock()
	h := r.held[ref]
	gone := h == nil || h.hidden
	var doc api.Rank
	var unknown map[string]api.Reason
	if !gone {
		doc = h.Doc
		unknown = r.uncountedLocked(h)
	}
	r.mu.Unlock()
	var err error
	switch {
	case r.ctx.Err() != nil: // a daemon that has let go says nothing any more
		return
	case gone:
		err = r.cfg.Documents.Delete(api.KindRank, ref.String())
	default:
		err = r.cfg.Documents.Put(api.KindRank, ref.String(), doc, unknown)
	}
	if err != nil {
		r.cfg.Log.Error("a rank's document could not be published", "rank", ref.String(), "err", err)
	}
}
