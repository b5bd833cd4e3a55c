package files

import (
	"context"
	"net"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/rank/files/carry"
	"fulmen/daemon/internal/rank/files/wire"
)

// serve sends the folder of a job to a node that asks for it.
func (f *Files) serve(ctx context.Context, to gate.RankNode, refused error, first api.PeerConn, conn net.Conn) {
	hasPlace := false
	err := f.carrier.Serve(ctx, conn, "files to be taken by "+to.Node().Display(), api.ReasonSyncFailed, func(ctx context.Context) (*carry.Process, error) {
		if refused != nil {
			return nil, refused
		}
		folder, user, err := f.cfg.Allowed(to.Job())
		if err != nil {
			return nil, err
		}
		who, err := f.cfg.Account(user)
		if err != nil {
			return nil, err
		}
		if err := place(ctx, f.senders); err != nil {
			return nil, err
		}
		hasPlace = true
		return f.carrier.Start(ctx, who, "pack", wire.Task, wire.PackTask{Folder: folder})
	})
	if hasPlace {
		<-f.senders
	}
	if err != nil {
		f.cfg.Log.Warn("a folder was not sent", "job", first.Job, "to", to.Node(), "err", err)
	}
}

// place waits for a place among processes.
func place(ctx context.Context, places chan<- struct{}) error {
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
