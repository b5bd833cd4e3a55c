package files

import (
	"context"
	"net"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/rank/files/wire"
	"fulmen/daemon/internal/rank/prepare/account"
)

// serve sends the folder of a job to a node that asks for it.
func (f *Files) serve(ctx context.Context, to gate.RankNode, refused error, first api.PeerConn, conn net.Conn) {
	task := func(context.Context) (who account.Account, task any, err error) {
		if refused != nil {
			return who, nil, refused
		}
		folder, user, err := f.cfg.Allowed(to.Job())
		if err != nil {
			return who, nil, err
		}
		who, err = f.cfg.Account(user)
		return who, wire.PackTask{Folder: folder}, err
	}
	if err := f.carrier.Serve(ctx, conn, "files to be taken by "+to.Node().Display(), api.ReasonSyncFailed, f.senders, "pack", task); err != nil {
		f.cfg.Log.Warn("a folder was not sent", "job", first.Job, "to", to.Node(), "err", err)
	}
}
