package daemon

import (
	"context"

	"fulmen/daemon/api"
)

// suspects are the RDMA devices that may be stuck since a program was killed that
// had them open.
type suspects struct {
	// BootID is the start of the system in which that was: the next one mends them.
	BootID string `json:"boot_id"`
	// Programs are the programs, by receptacle.
	Programs map[api.Receptacle]string `json:"programs"`
}

// openSuspects takes over what was kept of this start of the system, and keeps
// what changes from here on.
func (d *daemon) openSuspects(ctx context.Context) error {
	kept, err := storage{d.database}.loadSuspects()
	if err != nil {
		return err
	}
	boot := d.bootID(ctx)
	if kept.BootID == boot && boot != "" {
		for receptacle, program := range kept.Programs {
			d.graph.cables.Killed(receptacle, program)
		}
	}
	d.graph.cables.KeepSuspects(func(now map[api.Receptacle]string) {
		if err := (storage{d.database}).saveSuspects(suspects{BootID: boot, Programs: now}); err != nil {
			d.logs.part("health").Error("that an RDMA device may be stuck could not be kept", "error", err)
		}
	})
	return nil
}
