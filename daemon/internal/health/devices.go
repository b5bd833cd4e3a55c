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
func (c *Cables) Killed(portNumber api.PortNumber, program string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.suspectLocked(portNumber, program)
	}
}

// Suspects are the RDMA devices that may be stuck since a program was killed that
// had them open.
type Suspects struct {
	// BootID is the start of the system in which that was: the next one mends them.
	BootID string `json:"boot_id"`
	// Programs are the programs, by receptacle.
	Programs map[api.PortNumber]string `json:"programs"`
}

// TakeSuspects takes over what was kept of this start of the system, and has it kept
// each time that it changes: a restart of the daemon mends none.
func (c *Cables) TakeSuspects(kept Suspects, bootID string, save func(Suspects) error) {
	if kept.BootID == bootID && bootID != "" {
		for portNumber, program := range kept.Programs {
			c.Killed(portNumber, program)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep = func(now map[api.PortNumber]string) {
		if err := save(Suspects{BootID: bootID, Programs: now}); err != nil {
			c.own.log.Error("that an RDMA device may be stuck could not be kept", "error", err)
		}
	}
}

// suspectLocked takes which program may have left a receptacle's device stuck; "" =
// none.
func (c *Cables) suspectLocked(portNumber api.PortNumber, program string) {
	c.own.Hold(api.ReasonRDMAPortSuspect, c.subject(portNumber), program != "", fmt.Sprintf("port %s, %s", portNumber, program))
	if c.suspects[portNumber] == program {
		return
	}
	if c.suspects[portNumber] = program; program == "" {
		delete(c.suspects, portNumber)
	}
	if c.keep != nil {
		c.keep(maps.Clone(c.suspects))
	}
}

// Used takes that a program has used the RDMA device of a receptacle.
func (c *Cables) Used(portNumber api.PortNumber) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.suspectLocked(portNumber, "")
}

// IsSuspect reports whether the RDMA device of a receptacle may be stuck.
func (c *Cables) IsSuspect(portNumber api.PortNumber) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.suspects[portNumber] != ""
}

// RankEnded takes what the end of a rank says of the RDMA devices that it had.
func (c *Cables) RankEnded(rank api.Rank, portNumbers []api.PortNumber) {
	for _, r := range portNumbers {
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
func (c *Cables) Refusal(ctx context.Context, machine native.Facts, reread func(), portNumbers []api.PortNumber) (reason api.Reason, on string) {
	if !slices.ContainsFunc(portNumbers, c.IsSuspect) {
		return "", ""
	}
	reread()
	ctx, cancel := native.WithTimeout(ctx, c.clock, deviceReadWithin, "the RDMA devices")
	defer cancel()
	now, err := machine.Snapshot(ctx, native.AreaThunderbolt, native.AreaRDMA)
	if err != nil {
		return "", ""
	}
	return refusalIn(now, portNumbers)
}

// refusalIn says why the RDMA device of a receptacle that may be stuck cannot be
// lent, as its port is now. What cannot be read refuses nothing.
func refusalIn(now native.Snapshot, portNumbers []api.PortNumber) (reason api.Reason, on string) {
	if now.Thunderbolt == nil || now.RDMA == nil || now.RDMA.Devices == nil {
		return "", ""
	}
	for _, r := range portNumbers {
		port, _ := now.Thunderbolt.Port(int(r))
		if port.Interface == "" {
			continue
		}
		device := slices.IndexFunc(now.RDMA.Devices, func(d native.RDMADevice) bool { return d.Interface == port.Interface })
		switch {
		case device < 0:
			return api.ReasonRDMANoDevice, "port " + r.String()
		case now.RDMA.Devices[device].PortState != "" && now.RDMA.Devices[device].PortState != native.RDMAPortActive:
			return api.ReasonRDMAPortDown, "port " + r.String()
		}
	}
	return "", ""
}
