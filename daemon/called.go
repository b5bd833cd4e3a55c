package daemon

import (
	"maps"
	"sync"

	"fulmen/daemon/api"
)

// called is what Macs were called last. A daemon that has just started has heard of none
// yet, not even of its own Mac's name, and what it says of a job then stays.
type called struct {
	save func(map[api.NodeID]string) error

	mu     sync.Mutex
	names  map[api.NodeID]string
	saving sync.Mutex
}

// name is what to call a node: what it is called now where its identity is known, else
// what it was called before.
func (c *called) name(node api.NodeID, now string, isKnown bool) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch was := c.names[node]; {
	case !isKnown && was != "":
		return was
	case isKnown && was != now:
		c.names[node] = now
		go c.keep()
	}
	return now
}

// keep saves the names of now. Where that fails they are as before at the next start, and
// no worse than none.
func (c *called) keep() {
	c.saving.Lock()
	defer c.saving.Unlock()
	c.mu.Lock()
	names := maps.Clone(c.names)
	c.mu.Unlock()
	_ = c.save(names)
}
