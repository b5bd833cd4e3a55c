package transport

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/native/frame"
)

// handlers are who gets what peers send. They are set before Start.
type handlers struct {
	packets func(from api.NodeID, packet []byte)
	beats   func(from api.NodeID)
	hungUp  func(node api.NodeID)
	streams map[api.PeerConnKind]gate.Conn
	calls   map[string]gate.Call
	notices map[string]NoticeHandler
}

// HandleStream sets who serves the connections of a endpoint. Each is closed when it was
// served.
func (t *Transport) HandleStream(c gate.Conn) {
	t.handlers.streams[c.Kind()] = c
}

// accepted is what the acceptor says once it has taken a connection, so that the
// dialler knows that the path carries something.
var accepted = []byte{1}

// acceptStream serves a member's connection.
func (t *Transport) acceptStream(node api.NodeID, first api.PeerConn, conn net.Conn) {
	defer conn.Close()
	c, isHandled := t.handlers.streams[first.Carries]
	if !isHandled {
		return
	}
	stop, isMember := t.keep(node, func() { conn.Close() })
	if !isMember {
		return
	}
	defer stop()
	if writeFrame(conn, accepted) != nil {
		return
	}
	defer t.recovered("streams")
	c.Serve(t.ctx, node, first, conn)
}

// keep has Drop and Close end a connection, until stop is called; false where the node is
// no member.
func (t *Transport) keep(node api.NodeID, end func()) (stop func() bool, isMember bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.options.Members.PublicKey(node); t.closed || !ok {
		return nil, false
	}
	return context.AfterFunc(t.peerLocked(node).ctx, end), true
}

// Kept is a connection that something else may end too, until it is closed.
type Kept struct {
	net.Conn
	// Stop takes that back.
	Stop func() bool
}

// Close closes the connection.
func (k *Kept) Close() error {
	k.Stop()
	return k.Conn.Close()
}

// Stream opens a connection to a member on the best path, and on the next where
// that one does not answer at once.
func (t *Transport) Stream(ctx context.Context, node api.NodeID, first api.PeerConn) (net.Conn, error) {
	conn, _, err := t.connect(ctx, node, first)
	if err != nil {
		return nil, err
	}
	return t.kept(node, conn)
}

// StreamOver opens a connection to a member at one of its addresses, over the path that has
// it.
func (t *Transport) StreamOver(ctx context.Context, node api.NodeID, at netip.Addr, first api.PeerConn) (net.Conn, error) {
	first.Protocol = api.Protocol
	paths := t.Paths(node)
	i := slices.IndexFunc(paths, func(p Path) bool { return p.State != api.PathFailed && p.Address.Addr() == at })
	if i < 0 {
		return nil, api.NewError(api.ReasonNoPath, node.Display())
	}
	conn, err := t.answered(ctx, node, paths[i], first)
	if err != nil {
		return nil, unreachable(ctx, node, []error{err})
	}
	return t.kept(node, conn)
}

// kept has a connection to a member end with the membership.
func (t *Transport) kept(node api.NodeID, conn net.Conn) (net.Conn, error) {
	stop, isMember := t.keep(node, func() { conn.Close() })
	if !isMember {
		conn.Close()
		return nil, api.NewError(api.ReasonNotAMember, node.Display())
	}
	return &Kept{conn, stop}, nil
}

// connect races the active paths, the best first, and tells which one it was.
func (t *Transport) connect(ctx context.Context, node api.NodeID, first api.PeerConn) (net.Conn, Path, error) {
	first.Protocol = api.Protocol
	paths := slices.DeleteFunc(t.Paths(node), func(path Path) bool { return path.State != api.PathActive })
	if len(paths) == 0 {
		return nil, Path{}, api.NewError(api.ReasonNoPath, node.Display())
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type outcome struct {
		conn net.Conn
		path Path
		err  error
	}
	outcomes := make(chan outcome, len(paths))
	next := make(chan struct{}, len(paths))
	started, ended := 0, 0
	start := func() {
		path := paths[started]
		started++
		wait := max(answerWithin, time.Duration(4*path.RTTUS)*time.Microsecond)
		timer := t.options.Clock.AfterFunc(wait, func() { next <- struct{}{} })
		t.running.Go(func() {
			conn, err := t.answered(ctx, node, path, first)
			timer.Stop()
			outcomes <- outcome{conn, path, err}
		})
	}
	var problems []error
	for start(); ; {
		select {
		case o := <-outcomes:
			ended++
			if o.err == nil {
				cancel()
				for ; ended < started; ended++ {
					t.running.Go(func() {
						if late := <-outcomes; late.err == nil {
							late.conn.Close()
						}
					})
				}
				return o.conn, o.path, nil
			}
			problems = append(problems, o.err)
			if started < len(paths) {
				start()
			} else if ended == started {
				return nil, Path{}, unreachable(ctx, node, problems)
			}
		case <-next:
			if started < len(paths) {
				start()
			}
		}
	}
}

// unreachable is the error of a node that no path leads to now.
func unreachable(ctx context.Context, node api.NodeID, problems []error) error {
	if err := context.Cause(ctx); err != nil {
		problems = append(problems, err)
	}
	e := api.NewError(api.ReasonUnreachable, node.Display())
	return errors.Join(e, errors.Join(problems...))
}

// answered dials over a path and waits until the other side has taken the
// connection.
func (t *Transport) answered(ctx context.Context, node api.NodeID, path Path, first api.PeerConn) (net.Conn, error) {
	conn, _, err := t.dial(ctx, node, way{path.Interface, path.Address}, path.Source, first)
	if err != nil {
		return nil, err
	}
	timer := t.options.Clock.AfterFunc(handshakeWithin, func() { abort(conn) })
	stop := context.AfterFunc(ctx, func() { abort(conn) })
	answer, err := frame.Read(conn, len(accepted))
	if err == nil && bytes.Equal(answer, refused) {
		err = api.NewError(api.ReasonTooManyConnections, node.Display())
	}
	if !timer.Stop() || !stop() || err != nil {
		abort(conn)
		if err == nil {
			err = context.DeadlineExceeded
		}
		return nil, err
	}
	return conn, nil
}
