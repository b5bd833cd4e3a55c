package liveness

import (
	"maps"
	"sync"

	"fulmen/daemon/api"
)

// Called is what Macs call themselves, as far as it was ever heard. A daemon that has just
// started has heard of none yet, not even of its own Mac's name, and what it says of a job
// then stays.
type Called struct {
	save func(map[api.NodeID]string) error

	mu    sync.Mutex
	names map[api.NodeID]string
}

// NewCalled goes on from what was saved.
func NewCalled(names map[api.NodeID]string, save func(map[api.NodeID]string) error) *Called {
	return &Called{save: save, names: names}
}

// Derive derives a view. Its names are on disk before anybody is told of them; what cannot
// be saved is tried again the next time.
func (c *Called) Derive(in Input) View {
	c.mu.Lock()
	defer c.mu.Unlock()
	in.Called = c.names
	view := Derive(in)
	if now := view.Called(); !maps.Equal(now, c.names) && c.save(now) == nil {
		c.names = now
	}
	return view
}
