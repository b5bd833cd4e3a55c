package relay

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

// Dial opens a connection of a person of this node to a published port of a rank 0, and
// waits until the program there has taken it. What breaks is an error of Read: an end
// in good order is io.EOF.
func (r *Relay) Dial(ctx context.Context, by api.Principal, rank api.RankRef, node api.NodeID, port int) (net.Conn, error) {
	ctx, cancel := native.WithTimeout(ctx, r.cfg.Clock, connectWithin, "rank 0's node to connect")
	defer cancel()
	conn, err := r.reach(ctx, node, api.PeerConn{Carries: api.ConnPublish, Rank: rank, Port: port, By: by})
	if err != nil {
		return nil, err
	}
	return &unframed{Conn: conn, from: bufio.NewReaderSize(conn, headBytes+maxFrame)}, nil
}

// Quiet waits until nobody is connected by Dial to a rank of this node, the zero value being
// all of them, or ctx has ended.
func (r *Relay) Quiet(ctx context.Context, rank api.RankRef) {
	for r.people(rank) > 0 && native.Pause(ctx, r.cfg.Clock, quietEvery) {
	}
}

func (r *Relay) people(rank api.RankRef) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for ref, s := range r.served {
		if ref == rank || rank == (api.RankRef{}) {
			n += s.people.count()
		}
	}
	return n
}

// quietEvery is how often that is looked at.
const quietEvery = 50 * time.Millisecond

// unframed is a framed connection as the plain one that it carries.
type unframed struct {
	net.Conn
	from *bufio.Reader
	left int // of the frame that is being read
	over bool
}

// Read implements net.Conn.
func (p *unframed) Read(into []byte) (int, error) {
	if p.over {
		return 0, io.EOF
	}
	for p.left == 0 {
		var head [headBytes]byte
		if _, err := io.ReadFull(p.from, head[:]); err != nil {
			return 0, cut(err)
		}
		switch n := binary.BigEndian.Uint32(head[:]); {
		case n == 0:
			p.over = true
			return 0, io.EOF
		case n > maxFrame:
			return 0, errProtocol
		default:
			p.left = int(n)
		}
	}
	n, err := p.from.Read(into[:min(len(into), p.left)])
	p.left -= n
	return n, cut(err)
}

// cut is the error of a connection that ended where no frame says so.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Write implements net.Conn.
func (p *unframed) Write(all []byte) (n int, err error) {
	for len(all) > 0 {
		part := all[:min(len(all), maxFrame)]
		frame := append(binary.BigEndian.AppendUint32(make([]byte, 0, headBytes+len(part)), uint32(len(part))), part...)
		if _, err := p.Conn.Write(frame); err != nil {
			return n, err
		}
		n += len(part)
		all = all[len(part):]
	}
	return n, nil
}
