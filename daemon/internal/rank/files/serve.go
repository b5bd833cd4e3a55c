package files

import (
	"cmp"
	"context"
	"errors"
	"net"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/rank/files/wire"
)

// serve sends the folder of a job to a node that asks for it.
func (f *Files) serve(ctx context.Context, to gate.RankNode, refused error, first api.PeerConn, conn net.Conn) {
	if err := f.send(ctx, to, refused, first, conn); err != nil {
		f.cfg.Log.Warn("a folder was not sent", "job", first.Job, "to", to.Node(), "err", err)
	}
}

func (f *Files) send(ctx context.Context, to gate.RankNode, refused error, first api.PeerConn, conn net.Conn) error {
	ctx, watch, stop := f.watching(ctx, "files to be taken by "+to.Node().Display())
	defer stop()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	var sender *end
	err := refused
	if err == nil {
		sender, err = f.sender(ctx, to)
	}
	if err != nil {
		known, ok := errors.AsType[*api.Error](err)
		if !ok {
			known = api.NewError(api.ReasonSyncFailed, "")
		}
		wire.NewConn(nil, conn).Refuse(known)
		return err
	}
	defer func() { <-f.senders }()
	go func() {
		_ = watch.carry(sender.in, conn)
		sender.in.Close()
	}()
	carried := watch.carry(conn, sender.out)
	// It has said all that it will; the receiver closes first, when it has thanked.
	if carried != nil {
		conn.Close()
	}
	if err := errors.Join(carried, sender.wait()); err != nil {
		f.complain(sender, first.Job)
		return cmp.Or(context.Cause(ctx), err)
	}
	return nil
}

// sender starts the process that reads the folder.
func (f *Files) sender(ctx context.Context, to gate.RankNode) (*end, error) {
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
	e, err := f.start(ctx, who, "pack", wire.Task, wire.PackTask{Folder: folder})
	if err != nil {
		<-f.senders
	}
	return e, err
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
