package health

import (
	"fmt"
	"maps"

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
		c.suspect(receptacle, program)
	}
}

// Suspects are the RDMA devices that may be stuck since a program was killed that
// had them open.
type Suspects struct {
	// BootID is the start of the system in which that was: the next one mends them.
	BootID string `json:"boot_id"`
	// Programs are the programs, by receptacle.
	Programs map[api.Receptacle]string `json:"programs"`
}

// TakeSuspects takes over what was kept of this start of the system, and has it kept
// each time that it changes: a restart of the daemon mends none.
func (c *Cables) TakeSuspects(kept Suspects, bootID string, save func(Suspects) error) {
	if kept.BootID == bootID && bootID != "" {
		for receptacle, program := range kept.Programs {
			c.Killed(receptacle, program)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep = func(now map[api.Receptacle]string) {
		if err := save(Suspects{BootID: bootID, Programs: now}); err != nil {
			c.failed(fmt.Errorf("that an RDMA device may be stuck could not be kept: %w", err))
		}
	}
}

// suspect takes which program may have left a receptacle's device stuck; "" = none.
// The caller holds mu.
func (c *Cables) suspect(receptacle api.Receptacle, program string) {
	c.hold(api.ReasonRDMAPortSuspect, c.subject(receptacle), program != "", fmt.Sprintf("receptacle %s, %s", receptacle, program))
	if c.suspects[receptacle] == program {
		return
	}
	if c.suspects[receptacle] = program; program == "" {
		delete(c.suspects, receptacle)
	}
	if c.keep != nil {
		c.keep(maps.Clone(c.suspects))
	}
}

// Used takes that a program has used the RDMA device of a receptacle.
func (c *Cables) Used(receptacle api.Receptacle) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.suspect(receptacle, "")
}

// IsSuspect reports whether the RDMA device of a receptacle may be stuck.
func (c *Cables) IsSuspect(receptacle api.Receptacle) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.raised[key{api.ReasonRDMAPortSuspect, c.subject(receptacle)}]
}
