package health

import (
	"fmt"
	"maps"
	"slices"

	"fulmen/daemon/api"
)

// Networked takes what the node's own document says of its networks. One that an
// interface had is lost while the interface is switched on and has none: who switches
// it off, or takes it out, wants it so.
func (c *Cables) Networked(now api.Network, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	had := maps.Clone(c.networks)
	clear(c.networks)
	for _, i := range now.Interfaces {
		if !i.Type.IsNetwork() || !i.Up {
			continue
		}
		has := i.HasNetwork()
		if has || had[i.Name] {
			c.networks[i.Name] = true
		}
		delete(had, i.Name)
		c.hold(api.ReasonNetworkLost, i.Name, c.networks[i.Name] && !has, fmt.Sprintf("%s on %s", name, i.Called()))
	}
	for _, gone := range slices.Sorted(maps.Keys(had)) {
		c.hold(api.ReasonNetworkLost, gone, false, "")
	}
}
