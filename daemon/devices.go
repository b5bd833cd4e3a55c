package daemon

import (
	"context"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/health"
	"fulmen/native"
)

// rankEnded hears of every rank of this node that has ended.
func (d *daemon) rankEnded(rank api.Rank) {
	d.publisher.Ended(rank)
	d.output.Ended(rank)
	ref := api.RankRef{Job: rank.Job, Attempt: rank.Attempt, Rank: rank.Rank}
	receptacles := d.ranks.Receptacles(ref)
	if len(receptacles) == 0 {
		return
	}
	d.cables.RankEnded(rank, receptacles)
	d.facts.Reread(native.AreaRDMA) // before somebody else gets them
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
	if !d.cables.AreSuspect(receptacles) {
		return "", ""
	}
	d.facts.Reread(native.AreaRDMA)
	ctx, cancel := native.WithTimeout(ctx, d.platform.Clock, deviceReadWithin, "the RDMA devices")
	defer cancel()
	now, err := d.platform.Facts.Snapshot(ctx, native.AreaThunderbolt, native.AreaRDMA)
	if err != nil {
		return "", "" // what cannot be read refuses nothing
	}
	return health.DeviceRefusal(now, receptacles)
}
