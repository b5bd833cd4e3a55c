package daemon

import (
	"context"
	"fmt"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/topology"
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
			d.cables.Killed(receptacle, program)
		}
	}
	d.cables.KeepSuspects(func(now map[api.Receptacle]string) {
		if err := (storage{d.database}).saveSuspects(suspects{BootID: boot, Programs: now}); err != nil {
			d.logs.part("health").Error("that an RDMA device may be stuck could not be kept", "error", err)
		}
	})
	return nil
}

// rdmaClear takes a person's word that this Mac's device at a cable works.
func (d *daemon) rdmaClear(ctx context.Context, c *server.Caller, p api.LinkSelect) (api.RDMAReadiness, error) {
	cable, err := topology.FindCable(d.graph.Build().List().Cables, p.Link, d.find)
	if err != nil {
		return api.RDMAReadiness{}, err
	}
	isCleared := false
	for _, e := range cable.Ends {
		if e.End.Node == d.identity.Node && d.cables.IsSuspect(e.End.Receptacle) {
			d.cables.Used(e.End.Receptacle)
			d.logs.part("health").Info("a person says that an RDMA device works", "uid", c.UID, "receptacle", e.End.Receptacle)
			isCleared = true
		}
	}
	for _, e := range cable.Ends {
		_, isSuspect := d.ledger.Get(api.Key{Node: e.End.Node, Kind: api.KindCondition, Name: string(api.ReasonRDMAPortSuspect) + "/" + e.End.String()})
		if isSuspect && e.End.Node != d.identity.Node && !isCleared { // who is there knows
			there := d.shortNameOf(e.End.Node)
			refused := api.Errorf(api.ReasonRDMAPortSuspect, e.End.String(), "The RDMA device that may be stuck is that of %s:%s.", there, e.End.Receptacle)
			refused.Data.Remedy = fmt.Sprintf("Run `fulmen rdma clear %s:%s` on %s.", there, e.End.Receptacle, there)
			return api.RDMAReadiness{}, refused
		}
	}
	return d.rdmaCheck(ctx, c, p)
}
