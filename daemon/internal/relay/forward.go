package relay

import (
	"context"
	"io"
	"net"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

const (
	// connectWithin is how long rank 0's node may take to connect to the program.
	connectWithin = 15 * time.Second
	// maxUnproven is how many connections from the network may be about to show
	// their key, so that those who have none keep nobody out for long.
	maxUnproven = 64
)

// accept takes the connections of a listener until it is closed.
func (p *published) accept(l net.Listener, port int, lan bool) {
	for {
		conn, err := l.Accept()
		if err != nil {
			// Closed, or out of descriptors: then the next waits for one to be free.
			if temporary(err) && p.pause() {
				continue
			}
			return
		}
		go p.take(conn, port, lan)
	}
}

// take carries one connection.
func (p *published) take(conn net.Conn, port int, lan bool) {
	defer conn.Close()
	var first []byte
	if lan {
		var ok bool
		if first, ok = p.admit(conn); !ok {
			return
		}
	}
	if !p.conns.add(conn, MaxConnections) {
		reset(conn)
		return
	}
	defer p.conns.remove(conn)
	ctx, cancel := native.WithTimeout(context.Background(), p.relay.cfg.Clock, connectWithin, "rank 0's node to connect")
	defer cancel()
	peer, err := p.reach(ctx, port)
	if err != nil {
		p.relay.cfg.Log.Debug("a connection to a published port came to nothing", "job", p.job, "port", port, "err", err)
		reset(conn)
		return
	}
	defer peer.Close()
	carry(peer, conn, first)
}

// reach opens a connection to the port at rank 0's node, and waits until the
// program has taken it.
func (p *published) reach(ctx context.Context, port int) (net.Conn, error) {
	rank, node := p.target()
	return p.relay.reach(ctx, node, api.PeerConn{Carries: api.ConnPublish, Rank: rank, Port: port})
}

func (r *Relay) reach(ctx context.Context, node api.NodeID, first api.PeerConn) (net.Conn, error) {
	conn, err := r.cfg.Peers.Stream(ctx, node, first)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	var answer [1]byte
	if _, err = io.ReadFull(conn, answer[:]); err == nil && answer[0] != statusOpen {
		err = refusal(answer[0])
	}
	if !stop() {
		err = context.Cause(ctx) // it says what was waited for
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

func refusal(answer byte) error {
	switch answer {
	case statusRefused:
		return api.Errorf(api.ReasonUnreachable, "", "Rank 0 does not listen on the port.")
	case statusFull:
		return api.Errorf(api.ReasonTooManyClients, "", "The port has too many connections.")
	}
	return api.NewError(api.ReasonPeerNotAllowed, "")
}
