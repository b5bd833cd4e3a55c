package sidechannel

import (
	"context"
	"net"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

// leaf is the channel of a rank from 1 on, at its own node.
type leaf struct {
	c        *Channels
	ch       Channel
	port     int
	listener net.Listener
	spawned  chan struct{} // closed when the rank's program runs
	spoken   chan struct{} // closed when all is sent that the program has said which was passed on
	ending   chan struct{} // closed when the rank has ended
	once     sync.Once
	ctx      context.Context
	cancel   context.CancelFunc
	work     sync.WaitGroup
	silence  native.Timer

	mu       sync.Mutex
	out      *outbox // of the stream to rank 0's node; nil while there is none
	listens  bool    // rank 0 does, as the stream said
	caller   *caller
	calling  int  // connections of the program that have not said its number yet
	through  bool // a caller was passed on: there is no other
	severed  bool
	state    api.HandshakeState
	flow     flow
	failed   bool
	over     bool
	isSilent bool

	teller teller
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

func newLeaf(c *Channels, ch Channel, port int, listener net.Listener) *leaf {
	l := &leaf{c: c, ch: ch, port: port, listener: listener, state: api.HandshakeNone}
	l.teller = teller{c: c, ref: ch.Rank, state: l.handshake, told: api.Handshake{State: api.HandshakeNone}}
	l.flow.size, l.spawned, l.spoken, l.ending = len(ch.Nodes), make(chan struct{}), make(chan struct{}), make(chan struct{})
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.silence = c.cfg.Clock.AfterFunc(ch.Within, l.hush)
	l.work.Go(l.listen)
	l.work.Go(l.keepStream)
	return l
}

func (l *leaf) close(within func(done <-chan struct{})) {
	l.silence.Stop()
	l.teller.stop()
	l.listener.Close()
	l.mu.Lock()
	l.failed, l.over = true, true // whatever breaks from here on breaks because of this
	l.flow.stop()
	speaks := l.through
	l.mu.Unlock()
	close(l.ending)
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

// hush ends the time in which anything is carried.
func (l *leaf) hush() {
	l.mu.Lock()
	l.isSilent = true
	l.mu.Unlock()
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
	stop := context.AfterFunc(l.ctx, func() { conn.Close() })
	l.work.Go(func() { out.drain(conn) })
	l.mu.Lock()
	l.out, l.listens = out, false
	l.callIn()
	l.mu.Unlock()
	buffer := make([]byte, maxData)
	var err error
	for err == nil {
		var kind byte
		var data []byte
		if kind, data, err = readFrame(conn, buffer); err == nil {
			l.heard(kind, data)
		}
	}
	stop()
	out.close()
	conn.Close()
	l.broken()
	return err
}

// heard takes a frame of rank 0's node.
func (l *leaf) heard(kind byte, data []byte) {
	defer l.tell()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch kind {
	case frameListens:
		l.listens = true
		l.passOn()
	case frameConnected:
		if l.state == api.HandshakeHeld {
			l.state = api.HandshakeConnected
		}
	case frameData:
		if l.caller != nil && l.carry(len(data), false) {
			l.flow.got(data)
			l.caller.out.raw(data)
			l.flowed()
		}
	case frameEnd:
		l.severed = l.severed || l.caller != nil && l.state != api.HandshakeJoined
		l.hangUp()
	}
}

// hangUp lets go of the program, which hears the end once all that came before is
// said. The caller holds mu.
func (l *leaf) hangUp() {
	l.flow.stop()
	if who := l.caller; who != nil {
		l.caller = nil
		who.out.close()
	}
}

// callIn says that a program is held, and passes it on where rank 0 listens. The
// caller holds mu.
func (l *leaf) callIn() {
	if l.caller == nil || l.through || l.out == nil {
		return
	}
	said := appendFrames(nil, frameHere, nil)
	if l.listens {
		said = l.pass(said)
	}
	l.out.raw(said)
}

// passOn passes the held program on to rank 0, once that listens. The caller holds mu.
func (l *leaf) passOn() {
	if l.caller != nil && !l.through && l.out != nil {
		l.out.raw(l.pass(nil))
	}
}

// pass adds what the held program has said to what is sent, and holds it no longer.
// The caller holds mu.
func (l *leaf) pass(to []byte) []byte {
	to = appendFrames(to, frameData, l.caller.held)
	l.through, l.caller.passed, l.caller.held = true, true, nil
	return to
}

// broken says what the end of a stream means: nothing to a program that is held,
// and the end of a rank that was joining by it. One that has joined keeps its end.
func (l *leaf) broken() {
	l.mu.Lock()
	l.out, l.listens = nil, false
	joining := l.through && l.caller != nil && l.state != api.HandshakeJoined
	l.mu.Unlock()
	if joining {
		l.fail(api.Errorf(api.ReasonSideChannelLost, l.ch.Rank.String(), "The connection to %s, on which rank %d joined its group, broke.",
			l.c.cfg.Name(l.ch.Nodes[0]), l.ch.Rank.Rank))
	}
}

// carry counts bytes, which the rank has sent or was sent, and reports whether they may
// be carried still. The caller holds mu.
func (l *leaf) carry(n int, own bool) bool {
	if l.isSilent {
		return false
	}
	l.teller.carries()
	if l.flow.carry(n, own) {
		return true
	}
	l.isSilent = true
	if l.state != api.HandshakeJoined {
		go l.fail(l.flow.tooMuch(l.ch.Rank, l.ch.Rank.Rank))
	}
	return false
}

// flowed looks how far the rank has come. The caller holds mu.
func (l *leaf) flowed() {
	joined := func() {
		l.mu.Lock()
		l.state = api.HandshakeJoined
		l.mu.Unlock()
		l.tell()
	}
	if l.state != api.HandshakeJoined && l.flow.joined {
		l.state = api.HandshakeJoined
	}
	if l.state != api.HandshakeJoined {
		l.flow.settle(l.c.cfg.Clock, &l.mu, joined)
	}
}

// fail ends the rank, once.
func (l *leaf) fail(why *api.Error) {
	l.mu.Lock()
	over := l.failed
	l.failed = true
	l.mu.Unlock()
	if !over {
		l.c.cfg.Fail(l.ch.Rank, why)
	}
}

// tell has it told how far the rank is.
func (l *leaf) tell() { l.teller.news() }

func (l *leaf) handshake() (now api.Handshake, over bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return api.Handshake{State: l.state, Severed: l.severed, CarriedBytes: l.flow.bytes}, l.over
}
