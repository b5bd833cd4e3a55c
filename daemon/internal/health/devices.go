package health

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"syscall"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
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

// RankEnded takes what the end of a rank says of the RDMA devices that it had.
func (c *Cables) RankEnded(rank api.Rank, receptacles []api.Receptacle) {
	for _, r := range receptacles {
		switch {
		case wasKilled(rank) && hadDevices(rank):
			c.Killed(r, fmt.Sprintf("rank %d of job %s", rank.Rank, rank.Job))
		case rank.Handshake != nil && rank.Handshake.State == api.HandshakeJoined: // it may not have been told before
			c.Used(r)
		}
	}
}

// wasKilled reports whether a rank's program had no chance to give back what it had
// open. Of one that is lost nobody knows.
func wasKilled(rank api.Rank) bool {
	return rank.Phase == api.RankLost || rank.Exit != nil && rank.Exit.Signal == int(syscall.SIGKILL)
}

// hadDevices reports whether a rank's program may have had its RDMA devices open.
// JACCL opens them once it is connected to rank 0, and rank 0 once all others are.
func hadDevices(rank api.Rank) bool {
	if rank.Handshake == nil {
		return false
	}
	switch rank.Handshake.State {
	case api.HandshakeConnected, api.HandshakeJoined:
		return true
	case api.HandshakeHeld:
		return rank.Rank > 0 // for the program, that is connected
	}
	return false
}

// deviceReadWithin bounds the reading of RDMA devices of which one may be stuck.
const deviceReadWithin = time.Second

// Refusal says why the RDMA device of a receptacle that may be stuck cannot be lent: its
// port is read anew, and published by reread.
func (c *Cables) Refusal(ctx context.Context, machine native.Facts, reread func(), receptacles []api.Receptacle) (reason api.Reason, on string) {
	if !slices.ContainsFunc(receptacles, c.IsSuspect) {
		return "", ""
	}
	reread()
	ctx, cancel := native.WithTimeout(ctx, c.clock, deviceReadWithin, "the RDMA devices")
	defer cancel()
	now, err := machine.Snapshot(ctx, native.AreaThunderbolt, native.AreaRDMA)
	if err != nil {
		return "", ""
	}
	return refusalIn(now, receptacles)
}

// refusalIn says why the RDMA device of a receptacle that may be stuck cannot be
// lent, as its port is now. What cannot be read refuses nothing.
func refusalIn(now native.Snapshot, receptacles []api.Receptacle) (reason api.Reason, on string) {
	if now.Thunderbolt == nil || now.RDMA == nil || now.RDMA.Devices == nil {
		return "", ""
	}
	for _, r := range receptacles {
		port := slices.IndexFunc(now.Thunderbolt.Ports, func(p native.Port) bool { return p.Receptacle == int(r) })
		if port < 0 || now.Thunderbolt.Ports[port].Interface == "" {
			continue
		}
		device := slices.IndexFunc(now.RDMA.Devices, func(d native.RDMADevice) bool {
			return d.Interface == now.Thunderbolt.Ports[port].Interface
		})
		switch {
		case device < 0:
			return api.ReasonRDMANoDevice, "receptacle " + r.String()
		case now.RDMA.Devices[device].PortState != "" && now.RDMA.Devices[device].PortState != native.RDMAPortActive:
			return api.ReasonRDMAPortDown, "receptacle " + r.String()
		}
	}
	return "", ""
}
