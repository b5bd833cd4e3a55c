package health

import (
	"fmt"

	"fulmen/daemon/api"
)

// Killed takes that a program was killed that had the RDMA device of a receptacle
// open, which is named as conditions do: what it left there may keep the next one
// out. That holds until the cable was unplugged, until a program has used the device
// again, or until this Mac is restarted.
func (c *Cables) Killed(receptacle api.Receptacle, program string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.hold(api.ReasonRDMAPortSuspect, c.subject(receptacle), true, fmt.Sprintf("receptacle %s, %s", receptacle, program))
	}
}

// Used takes that a program has used the RDMA device of a receptacle.
func (c *Cables) Used(receptacle api.Receptacle) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hold(api.ReasonRDMAPortSuspect, c.subject(receptacle), false, "")
}

// IsSuspect reports whether the RDMA device of a receptacle may be stuck.
func (c *Cables) IsSuspect(receptacle api.Receptacle) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.raised[key{api.ReasonRDMAPortSuspect, c.subject(receptacle)}]
}
