package daemon

import (
	"maps"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/liveness"
)

// called is what Macs call themselves, as far as it was ever heard. A daemon that has just
// started has heard of none yet, not even of its own Mac's name, and what it says of a job
// then stays.
type called struct {
	save func(map[api.NodeID]string) error

	mu    sync.Mutex
	names map[api.NodeID]string
}

// derive derives a view. Its names are on disk before anybody is told of them; what cannot
// be saved is tried again the next time.
func (c *called) derive(in liveness.Input) liveness.View {
	c.mu.Lock()
	defer c.mu.Unlock()
	in.Called = c.names
	view := liveness.Derive(in)
	if now := view.Called(); !maps.Equal(now, c.names) && c.save(now) == nil {
		c.names = now
	}
	return view
}
