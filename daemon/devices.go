package daemon

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

// rankEnded hears of every rank of this node that has ended.
func (d *daemon) rankEnded(rank api.Rank) {
	d.published.ended(rank)
	d.printed.ended(rank)
	ref := api.RankRef{Job: rank.Job, Attempt: rank.Attempt, Rank: rank.Rank}
	receptacles := d.ranks.Receptacles(ref)
	if len(receptacles) == 0 {
		return
	}
	for _, r := range receptacles {
		switch {
		case wasKilled(rank) && hadDevices(rank):
			d.cables.Killed(r, fmt.Sprintf("rank %d of job %s", ref.Rank, ref.Job))
		case rank.Handshake != nil && rank.Handshake.State == api.HandshakeJoined: // it may not have been told before
			d.cables.Used(r)
		}
	}
	d.facts.Reread(native.AreaRDMA) // before somebody else gets them
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

// handshake hears how far a rank of this node has come.
func (d *daemon) handshake(ref api.RankRef, now api.Handshake) {
	if d.prober.Tell(ref, now) {
		return
	}
	d.ranks.SetHandshake(ref, now)
	if now.State == api.HandshakeJoined {
		for _, r := range d.ranks.Receptacles(ref) {
			d.cables.Used(r)
		}
	}
}

// deviceReadWithin bounds the reading of RDMA devices of which one may be stuck.
const deviceReadWithin = time.Second

// deviceRefusal says why the RDMA device of a receptacle that may be stuck cannot be
// lent: its port is read anew.
func (d *daemon) deviceRefusal(ctx context.Context, receptacles []api.Receptacle) (reason api.Reason, on string) {
	if !slices.ContainsFunc(receptacles, d.cables.IsSuspect) {
		return "", ""
	}
	d.facts.Reread(native.AreaRDMA)
	ctx, cancel := native.WithTimeout(ctx, d.platform.Clock, deviceReadWithin, "the RDMA devices")
	defer cancel()
	now, err := d.platform.Facts.Snapshot(ctx, native.AreaThunderbolt, native.AreaRDMA)
	if err != nil || now.Thunderbolt == nil || now.RDMA == nil || now.RDMA.Devices == nil {
		return "", "" // what cannot be read refuses nothing
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
