package attach

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/native/waker"
)

// view is a job as the documents have it at one moment.
type view struct {
	found   bool
	deleted bool // it was there and is not any more
	job     api.Job
	spec    api.JobSpec
	ranks   map[rankAt]api.Rank
}

// rankAt is a rank and the node that writes about it.
type rankAt struct {
	ref  api.RankRef
	node api.NodeID
}

// attempt finds an attempt by its number.
func (v view) attempt(n int) (api.Attempt, bool) {
	for _, a := range v.job.Attempts {
		if a.Attempt == n {
			return a, true
		}
	}
	return api.Attempt{}, false
}

// over reports whether nothing of an attempt runs any more.
func (v view) over(a api.Attempt) bool {
	return v.deleted || v.job.Phase.Ended() || a.Attempt < v.job.Attempt || !a.EndedAt.IsZero()
}

// follower keeps the view of one job up to date.
type follower struct {
	id      api.JobID
	counts  func(api.JobID, api.Job) bool
	changed waker.Waker // a hint, for one goroutine

	mu   sync.Mutex
	docs map[api.Key]*ledger.Record
	seen bool
}

// follow watches a job until ctx ends.
func (a *Attach) follow(ctx context.Context, id api.JobID) *follower {
	f := &follower{id: id, counts: a.config.Counts, changed: waker.New()}
	found, documents := a.config.Ledger.Follow(ledger.WatchOptions{
		Name: "attach " + string(id), Filter: ledger.Filter{Kinds: []api.Kind{api.KindJob, api.KindRank}}, Passive: true,
	})
	f.see(ledger.Change{Put: found, Whole: true})
	go func() {
		defer documents.Close()
		for change, err := documents.Next(ctx); err == nil; change, err = documents.Next(ctx) {
			f.see(change)
		}
	}()
	return f
}

func (f *follower) see(change ledger.Change) {
	f.mu.Lock()
	if change.Whole {
		f.docs = map[api.Key]*ledger.Record{}
	}
	mine := f.put(change.Put) || change.Whole
	for _, key := range change.Del {
		if _, ok := f.docs[key]; ok {
			delete(f.docs, key)
			mine = true
		}
	}
	f.mu.Unlock()
	if mine {
		f.changed.Wake()
	}
}

// put keeps the records that belong to the job, and reports whether there were any.
func (f *follower) put(records []*ledger.Record) (any bool) {
	for _, r := range records {
		key := r.Key()
		if key.Name == string(f.id) || strings.HasPrefix(key.Name, string(f.id)+"/") {
			f.docs[key], any = r, true
		}
	}
	return any
}

// view reads the documents. What makes no sense is left out: its writer's fault
// is not the reader's.
func (f *follower) view() view {
	f.mu.Lock()
	defer f.mu.Unlock()
	v := view{ranks: map[rankAt]api.Rank{}}
	for key, r := range f.docs {
		switch key.Kind {
		case api.KindJob:
			var job api.Job
			if r.Decode(&job) == nil && job.Home == key.Node && (!v.found || job.Outranks(v.job)) && (f.counts == nil || f.counts(f.id, job)) {
				v.job, v.found = job, true
			}
		case api.KindRank:
			var rank api.Rank
			if r.Decode(&rank) == nil {
				v.ranks[rankAt{api.RankRef{Job: rank.Job, Attempt: rank.Attempt, Rank: rank.Rank}, key.Node}] = rank
			}
		}
	}
	if v.found && json.Unmarshal(v.job.Spec, &v.spec) != nil {
		v.found = false
	}
	v.deleted = f.seen && !v.found
	f.seen = f.seen || v.found
	return v
}
