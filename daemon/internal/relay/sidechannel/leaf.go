package sidechannel

import (
	"net"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

// leaf is the channel of a rank from 1 on, at its own node.
type leaf struct {
	end
	listener net.Listener
	spawned  chan struct{} // closed when the rank's program runs
	spoken   chan struct{} // closed when all is sent that the program has said which was passed on
	once     sync.Once

	// What follows is guarded by mu.
	out     *outbox // of the stream to rank 0's node; nil while there is none
	listens bool    // rank 0 does, as the stream said
	caller  *caller
	calling int                // connections of the program that have not said its number yet
	through bool               // a caller was passed on: there is no other
	state   api.HandshakeState // up to connected: whether it has joined the flow says
	flow    flow
}

// caller is the rank's program, as it has connected.
type caller struct {
	conn net.Conn
	out  *outbox
	held []byte // what it has said, while it is held

	passed bool // on to rank 0
}

const (
	// streamWithin bounds the opening of a stream to rank 0's node, and streamAgain
	// is the pause before the next, which grows up to streamLate.
	streamWithin = 15 * time.Second
	streamAgain  = 50 * time.Millisecond
	streamLate   = time.Second
	// numberWithin is how long a connection may take to say the rank's number where
	// another one has. JACCL says it at once.
	numberWithin = 10 * time.Second
	// maxCalling is how many may be about to.
	maxCalling = 16
)

func newLeaf(c *Channels, ch request, port int, listener net.Listener) *leaf {
	l := &leaf{listener: listener, state: api.HandshakeNone, spawned: make(chan struct{}), spoken: make(chan struct{})}
	l.flow.size = len(ch.Nodes)
	l.begin(c, ch, port, l.handshake)
	l.work.Go(l.listen)
	l.work.Go(l.keepStream)
	return l
}

func (l *leaf) isSpawned() { l.once.Do(func() { close(l.spawned) }) }

// settle has nothing to wait for: the program has got nothing that was not looked at before.
func (l *leaf) settle(func(done <-chan struct{})) {}

func (l *leaf) close(within func(done <-chan struct{})) {
	l.listener.Close()
	l.finish()
	l.mu.Lock()
	l.flow.stop()
	speaks := l.through
	l.mu.Unlock()
	if speaks {
		within(l.spoken)
	}
	l.mu.Lock()
	out := l.out
	l.mu.Unlock()
	if out != nil {
		out.close()
		within(out.sent)
	}
	l.cancel()
	l.work.Wait()
	l.c.cfg.Return(l.port)
}

// keepStream keeps a stream to rank 0's node, which is there before it is needed.
// One that breaks while nothing hangs on it is opened again.
func (l *leaf) keepStream() {
	pause := streamAgain
	for l.ctx.Err() == nil {
		conn, err := l.openStream()
		if err == nil {
			began := l.c.cfg.Clock.Boot()
			err = l.serve(conn)
			if l.c.cfg.Clock.Boot()-began > streamLate {
				pause = streamAgain
			}
		}
		l.mu.Lock()
		over := l.through
		l.mu.Unlock()
		if over {
			return
		}
		l.c.cfg.Log.Debug("a side channel's stream has to be opened again", "rank", l.ch.Rank.String(), "err", err)
		if !native.Pause(l.ctx, l.c.cfg.Clock, pause) {
			return
		}
		pause = min(2*pause, streamLate)
	}
}

func (l *leaf) openStream() (net.Conn, error) {
	node := l.ch.Nodes[0]
	ctx, cancel := native.WithTimeout(l.ctx, l.c.cfg.Clock, streamWithin, "a side channel to "+l.c.cfg.Name(node))
	defer cancel()
	return l.c.cfg.Peers.Stream(ctx, node, api.PeerConn{Carries: api.ConnSideChannel, Rank: l.ch.Rank, Epoch: l.ch.Epoch})
}

// serve reads a stream until it ends, and says then what that means.
func (l *leaf) serve(conn net.Conn) error {
	out := newOutbox()
	stop := onDone(l.ctx, conn)
	l.work.Go(func() { out.drain(conn) })
	l.mu.Lock()
	l.out, l.listens = out, false
	l.callInLocked()
	l.mu.Unlock()
	buffer := make([]byte, maxData)
	var err error
	for err == nil {
		var kind byte
		var data []byte
		if kind, data, err = readFrame(conn, buffer); err == nil {
			l.received(kind, data)
		}
	}
	stop()
	out.close()
	conn.Close()
	l.broken()
	return err
}

// received takes a frame of rank 0's node.
func (l *leaf) received(kind byte, data []byte) {
	defer l.notify()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch kind {
	case frameListens:
		l.listens = true
		l.passLocked(nil)
	case frameConnected:
		if l.state == api.HandshakeHeld {
			l.state = api.HandshakeConnected
		}
	case frameData:
		if l.caller != nil && l.carryLocked(len(data), false) {
			l.flow.got(data)
			l.caller.out.raw(data)
			l.flow.settleLocked(l.c.cfg.Clock, &l.mu, l.notify)
		}
	case frameEnd:
		l.severed = l.severed || l.caller != nil && !l.flow.joined
		l.hangUpLocked()
	}
}

// hangUpLocked lets go of the program, which hears the end once all that came before is
// said.
func (l *leaf) hangUpLocked() {
	l.flow.stop()
	if who := l.caller; who != nil {
		l.caller = nil
		who.out.close()
	}
}

// callInLocked says that a program is held.
func (l *leaf) callInLocked() { l.passLocked(appendFrames(nil, frameHere, nil)) }

// passLocked says something of a program that is held and, where rank 0 listens, passes it
// on: it is held no longer.
func (l *leaf) passLocked(frames []byte) {
	if l.caller == nil || l.through || l.out == nil {
		return
	}
	if l.listens {
		frames = appendFrames(frames, frameData, l.caller.held)
		l.through, l.caller.passed, l.caller.held = true, true, nil
	}
	l.out.raw(frames)
}

// broken says what the end of a stream means: nothing to a program that is held,
// and the end of a rank that was joining by it. One that has joined keeps its end.
func (l *leaf) broken() {
	l.mu.Lock()
	l.out, l.listens = nil, false
	joining := l.through && l.caller != nil && !l.flow.joined
	l.mu.Unlock()
	if joining {
		l.fail(api.Errorf(api.ReasonSideChannelLost, l.ch.Rank.String(), "The connection to %s, on which rank %d joined its group, broke.",
			l.c.cfg.Name(l.ch.Nodes[0]), l.ch.Rank.Rank))
	}
}

// carryLocked counts bytes, which the rank has sent or was sent, and reports whether they
// may be carried still.
func (l *leaf) carryLocked(n int, own bool) bool { return l.end.carry(&l.flow, l.ch.Rank.Rank, n, own) }

func (l *leaf) handshake() (now api.Handshake, over bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now = api.Handshake{State: l.state, Severed: l.severed, CarriedBytes: l.flow.bytes}
	if l.flow.joined {
		now.State = api.HandshakeJoined
	}
	return now, l.over
}
