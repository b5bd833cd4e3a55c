package sidechannel

import (
	"context"
	"errors"
	"net"
	"sync"

	"fulmen/daemon/api"
	"fulmen/native"
)

// joiner is the stream of one rank at rank 0's node.
type joiner struct {
	c      *Channels
	from   api.NodeID
	ref    api.RankRef
	epoch  uint64
	conn   net.Conn
	out    *outbox      // to the rank's node
	expiry native.Timer // while there is no rank 0 here; guarded by Channels.mu

	mu       sync.Mutex
	root     *root
	here     bool          // the rank's program has called
	through  bool          // it was passed on
	program  net.Conn      // to rank 0's program, once it is
	received chan struct{} // closed when that has ended, and all is read that it has said
	spoken   chan struct{} // closed when all of it is on its way
	inbox    *outbox       // what rank 0's program is sent
	ended    bool          // one of both programs has closed its end
	flow     flow
}

func newJoiner(c *Channels, from api.NodeID, first api.PeerConn, conn net.Conn) *joiner {
	return &joiner{c: c, from: from, ref: first.Rank, epoch: first.Epoch, conn: conn, out: newOutbox(), inbox: newOutbox(), received: make(chan struct{}), spoken: make(chan struct{})}
}

// adoptLocked gives the stream its rank 0. The caller holds the root's mu.
func (j *joiner) adoptLocked(r *root) {
	stopTimer(j.expiry)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.root = r
	j.flow.size = len(r.ch.Nodes)
}

// standing is how far a rank has come, by its stream.
type standing struct {
	waits     bool // its program has called and was not passed on yet
	through   bool
	connected bool // to rank 0
	bytes     int64
	gather    gather
}

// standing is how far it is; where there is no stream, nowhere.
func (j *joiner) standing() standing {
	if j == nil {
		return standing{}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return standing{j.here && !j.through, j.through, j.program != nil, j.flow.bytes, j.flow.gather}
}

// read reads what the rank's node says until the stream ends.
func (j *joiner) read() {
	buffer := make([]byte, maxData)
	for {
		kind, data, err := readFrame(j.conn, buffer)
		if err != nil {
			return
		}
		j.mu.Lock()
		r, through := j.root, j.through
		if kind == frameHere || kind == frameGone {
			j.here = kind == frameHere
		}
		j.mu.Unlock()
		if r != nil && !through && !r.receivedBy(j) { // one that is through stays the rank's
			return
		}
		switch kind {
		case frameData:
			switch {
			case through:
				j.forward(r, data)
			case r == nil || !j.pass(r, data):
				return
			}
		case frameEnd:
			j.sever(r)
		}
		if r != nil {
			r.woken.Wake()
			r.notify()
		}
	}
}

// pass connects the rank to rank 0. What it says first is looked at here as well:
// its node is another machine, and a wrong number would bring rank 0 down.
func (j *joiner) pass(r *root, data []byte) bool {
	if number, whole := numberOf(data); !whole || number != j.ref.Rank {
		j.c.cfg.Log.Warn("a node's side channel begins with the number of another rank", "rank", j.ref.String(), "from", j.from)
		return false
	}
	j.mu.Lock()
	j.through = true
	j.mu.Unlock()
	program, err := r.connect()
	if stray, is := errors.AsType[*strayError](err); is {
		r.stray(stray.from)
	}
	if err != nil {
		j.c.cfg.Log.Info("a rank could not be connected to rank 0", "rank", j.ref.String(), "err", err)
		return false
	}
	r.mu.Lock() // close waits for what is begun before it ends r.ctx, and for nothing more
	if r.ctx.Err() != nil {
		r.mu.Unlock()
		program.Close()
		return false
	}
	j.mu.Lock()
	j.program = program
	j.mu.Unlock()
	stop := onDone(r.ctx, program)
	r.work.Go(func() {
		j.inbox.drain(program)
		j.mu.Lock()
		ended := j.ended
		j.mu.Unlock()
		if ended { // all that came before the end is said
			program.Close()
		}
	})
	r.work.Go(func() {
		defer stop()
		j.receive(r, program)
	})
	r.mu.Unlock()
	j.out.frame(frameConnected, nil)
	j.forward(r, data)
	return true
}

// forward passes on what the rank says.
func (j *joiner) forward(r *root, data []byte) {
	if !j.carry(r, len(data), true) {
		return
	}
	j.mu.Lock()
	if j.flow.bytes == int64(len(data)) {
		j.flow.sent(data[numberBytes:]) // the first, after the number
	} else {
		j.flow.sent(data)
	}
	j.mu.Unlock()
	j.inbox.raw(data)
}

// receive passes on what rank 0's program says to the rank, until it ends.
func (j *joiner) receive(r *root, program net.Conn) {
	buffer := make([]byte, maxData)
	for {
		n, err := program.Read(buffer)
		if n > 0 && j.carry(r, n, false) {
			j.mu.Lock()
			j.flow.got(buffer[:n])
			j.out.frame(frameData, buffer[:n])
			if !j.ended {
				j.flow.settleLocked(j.c.cfg.Clock, &j.mu, r.notify)
			}
			j.mu.Unlock()
			r.notify()
		}
		if err != nil {
			break
		}
	}
	j.mu.Lock()
	over := j.ended
	j.ended = true
	j.flow.stop()
	j.mu.Unlock()
	j.inbox.close()
	close(j.received)
	if !over {
		native.Pause(r.ending, j.c.cfg.Clock, severAfter)
		j.out.frame(frameEnd, nil)
	}
	close(j.spoken)
	program.Close()
}

// carry counts bytes, which the rank has sent or was sent, and reports whether they may
// be carried still.
func (j *joiner) carry(r *root, n int, own bool) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return r.carry(&j.flow, j.ref.Rank, n, own)
}

// sever passes on that the rank's program has closed its end.
func (j *joiner) sever(r *root) {
	if r == nil {
		return
	}
	j.mu.Lock()
	first := !j.ended && j.program != nil
	j.ended = true
	j.flow.stop()
	joined := j.flow.joined
	j.mu.Unlock()
	if first && !joined {
		r.mu.Lock()
		r.severed = true
		r.mu.Unlock()
		r.notify() // before rank 0 complains
	}
	j.inbox.close()
}

// lost says what the end of the stream means. A rank that was held has lost
// nothing; one that was joining cannot any more, and rank 0 would hang or fail.
func (j *joiner) lost() {
	j.mu.Lock()
	r, joining := j.root, j.through && !j.flow.joined && !j.ended
	j.here = j.here && j.through
	j.mu.Unlock()
	if r == nil {
		return
	}
	if joining && r.ctx.Err() == nil {
		r.fail(api.Errorf(api.ReasonSideChannelLost, j.ref.String(), "The connection of rank 0 to %s, on which rank %d joined the group, broke.", j.c.cfg.Name(j.from), j.ref.Rank))
	}
	r.notify()
}

// onDone closes a connection when ctx ends, until stop is called.
func onDone(ctx context.Context, conn net.Conn) (stop func() bool) {
	return context.AfterFunc(ctx, func() { conn.Close() })
}
