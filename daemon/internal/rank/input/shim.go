package input

import (
	"context"
	"errors"
	"net"
	"os"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/shimproto"
)

// answerWithin is how long a shim may take for an answer that does not depend on
// its program.
const answerWithin = 5 * time.Second

// attach connects to a shim, over its own socket or that of the input, and says
// hello.
func attach(ctx context.Context, path string, rank api.RankRef, epoch uint64) (net.Conn, *shimproto.DaemonConn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, nil, api.NewError(api.ReasonUnreachable, rank.String())
	}
	shim := shimproto.NewDaemonConn(conn)
	hello := shimproto.Hello{
		RequestHeader: header(1, epoch), Versions: shimproto.OwnVersions(), PID: os.Getpid(),
		Ref: shimproto.Ref{Job: string(rank.Job), Attempt: rank.Attempt, Rank: rank.Rank},
	}
	if err := shim.Send(hello, answerWithin); err != nil {
		return nil, nil, unanswered(rank, shim)
	}
	reply, err := shim.Receive(answerWithin)
	if err != nil {
		return nil, nil, unanswered(rank, shim)
	}
	if refusal, ok := reply.(shimproto.Refusal); ok {
		_ = shim.Close()
		return nil, nil, refused(rank, refusal)
	}
	return conn, shim, nil
}

func resize(ctx context.Context, socket string, epoch uint64, p api.PeerResizeParams) error {
	request := shimproto.Resize{RequestHeader: header(2, epoch), Terminal: shimproto.Terminal{Rows: p.Rows, Columns: p.Columns}}
	if err := request.Terminal.Check(); err != nil {
		bad, _ := errors.AsType[*shimproto.FieldError](err)
		return api.Errorf(api.ReasonBadValue, bad.Field, "%s: %s.", bad.Field, bad.Problem)
	}
	_, shim, err := attach(ctx, socket, p.Rank, epoch)
	if err != nil {
		return err
	}
	defer shim.Close()
	if err := shim.Send(request, answerWithin); err != nil {
		return unanswered(p.Rank, shim)
	}
	for {
		reply, err := shim.Receive(answerWithin)
		if err != nil {
			return unanswered(p.Rank, shim)
		}
		switch reply := reply.(type) {
		case shimproto.Status:
			if reply.Re == request.ID {
				return nil
			}
		case shimproto.Refusal:
			return refused(p.Rank, reply)
		case shimproto.Exit:
			return nil // it needs no size any more
		}
	}
}

func header(id, epoch uint64) shimproto.RequestHeader {
	return shimproto.RequestHeader{ID: id, Epoch: int64(epoch)}
}

func unanswered(rank api.RankRef, shim *shimproto.DaemonConn) error {
	_ = shim.Close()
	return api.NewError(api.ReasonUnreachable, rank.String())
}

func refused(rank api.RankRef, r shimproto.Refusal) error {
	if r.Reason == shimproto.RefuseStaleEpoch {
		return api.NewError(api.ReasonStaleEpoch, rank.String())
	}
	return api.Errorf(api.ReasonUnreachable, rank.String(), "%s: %s.", rank, r.Message)
}
