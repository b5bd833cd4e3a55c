package profile

import "fulmen/daemon/api"

// Count is what measurements of this node are counted by.
type Count struct {
	// Kind is what was measured.
	Kind api.Kind
	// IsAsked says that somebody asked for it.
	IsAsked bool
	// State is how it ended.
	State api.MeasureState
}

// Counts is how many measurements of this node's subjects have ended since the
// daemon started.
func (p *Profiler) Counts() map[Count]uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make(map[Count]uint64, len(p.counts))
	for c, n := range p.counts {
		all[c] = n
	}
	return all
}
