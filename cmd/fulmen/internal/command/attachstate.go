package command

import (
	"maps"
	"slices"

	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
)

// jobState is what is known of a job.
type jobState struct {
	job   api.Job
	ranks map[int]api.Rank
}

// apply takes changed documents in.
func (s *jobState) apply(docs []api.Document) {
	for _, d := range docs {
		var j api.Job
		var k api.Rank
		switch {
		case d.Kind == api.KindJob && d.Decode(&j) == nil && j.Epoch >= s.job.Epoch:
			if j.Attempt != s.job.Attempt {
				s.ranks = nil
			}
			s.job = j
		case d.Kind == api.KindRank && d.Decode(&k) == nil:
			if s.ranks == nil {
				s.ranks = map[int]api.Rank{}
			}
			if old, known := s.ranks[k.Rank]; !known || k.Attempt >= old.Attempt {
				s.ranks[k.Rank] = k
			}
		}
	}
}

// list are the ranks of the current attempt, in order.
func (s *jobState) list() []api.Rank {
	var out []api.Rank
	for _, n := range slices.Sorted(maps.Keys(s.ranks)) {
		if s.ranks[n].Attempt == s.job.Attempt {
			out = append(out, s.ranks[n])
		}
	}
	return out
}

// attempt is the current one.
func (s *jobState) attempt() (api.Attempt, bool) {
	for _, a := range s.job.Attempts {
		if a.Attempt == s.job.Attempt {
			return a, true
		}
	}
	return api.Attempt{}, false
}

// words say where the job is.
func (s *jobState) words(v show.View, names map[api.NodeID]string) string {
	return v.Progress(s.job, s.list(), names)
}
