package transport

import (
	"cmp"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"fulmen/daemon/api"
)

// place is which interfaces a path joins.
type place struct{ iface, peerIface string }

// greeting is what both sides of a path say first.
type greeting struct {
	// Session is of the process: packets are numbered within it.
	Session uint64 `json:"session"`
	// Port is where the node listens.
	Port int `json:"port"`
	// Dial numbers the dials of the node that has dialled, so that both sides
	// keep the same one of several; 0 of the other node.
	Dial uint64 `json:"dial,omitempty"`
	// Standby says that the connection only proves the path, and ends at once.
	Standby bool          `json:"standby,omitempty"`
	Hello   api.PeerHello `json:"hello"`
}

// The types of frame on a path.
const (
	framePacket byte = 1 // eight bytes of number, and the packet
	framePing   byte = 2 // eight bytes that come back in a pong
	framePong   byte = 3
	frameBeat   byte = 4 // eight bytes that say nothing
	frameOver   byte = 5 // eight bytes that say nothing, and the path that is over: see overFrame
)

// lingers is how long a connection stays that another one serves the path of, so
// that the other side has taken that one before this one ends.
const lingers = time.Second

// link is the connection of an active path.
type link struct {
	t        *Transport
	peer     *peer
	conn     net.Conn
	place    place
	way      way // how it was dialled; zero where the peer has dialled
	byLower  bool
	isIPv4   bool
	dial     uint64 // its number among the dials of who has dialled
	session  uint64
	out      chan []byte
	done     chan struct{}
	flushed  chan struct{} // closed when all that was queued before the end is sent
	once     sync.Once
	reason   api.Reason
	received atomic.Int64 // when anything came last, on Clock.Boot
}

func better(a, b Path) int {
	is := func(state api.PathState, p Path) int {
		if p.State == state {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(is(api.PathFailed, a), is(api.PathFailed, b)), cmp.Compare(a.rank, b.rank),
		cmp.Compare(is(api.PathStandby, a), is(api.PathStandby, b)), cmp.Compare(a.RTTUS, b.RTTUS),
		cmp.Compare(a.Interface, b.Interface), cmp.Compare(a.PeerInterface, b.PeerInterface), a.Address.Compare(b.Address))
}

// link greets the peer, and serves the path until it ends, or where either side only wants it
// proved notes that it stands by. The way is zero where the peer has dialled.
func (t *Transport) link(iface string, node api.NodeID, w way, conn net.Conn, isStandby bool) error {
	defer conn.Close()
	deadline := t.options.Clock.AfterFunc(handshakeWithin, func() { conn.Close() })
	defer deadline.Stop()
	own := greeting{Session: t.session, Port: t.Port(), Hello: t.options.Hello(), Standby: isStandby}
	own.Hello.Interface = iface
	if w != (way{}) {
		own.Dial = t.dials.Add(1)
	}
	if err := writeJSON(conn, own); err != nil {
		return err
	}
	var theirs greeting
	if err := readJSON(conn, firstBytes, &theirs); err != nil {
		return err
	}
	deadline.Stop()
	if err := t.fits(own.Hello, theirs.Hello); err != nil {
		return err
	}
	lower := min(t.options.Identity.Node, node)
	l := &link{
		t: t, conn: conn, place: place{iface, theirs.Hello.Interface}, way: w, session: theirs.Session,
		byLower: (lower == t.options.Identity.Node) == (w != way{}), isIPv4: remoteOf(conn).Addr().Is4(), dial: max(own.Dial, theirs.Dial),
		out: make(chan []byte, queued), done: make(chan struct{}), flushed: make(chan struct{}),
	}
	address := netip.AddrPortFrom(remoteOf(conn).Addr(), uint16(theirs.Port))
	if w != (way{}) {
		address = w.to
	}
	path := Path{
		Interface: iface, Source: localOf(conn), Address: address, PeerInterface: theirs.Hello.Interface,
		State: api.PathActive, Since: t.options.Clock.Now(),
	}
	if isStandby || theirs.Standby {
		t.mu.Lock()
		if p := t.peers[node]; p != nil && p.session == l.session {
			t.standByLocked(p, l.place, path)
		}
		t.mu.Unlock()
		if !isStandby { // who has dialled reads this side's greeting, and ends it
			t.pause(lingers)
		}
		return nil
	}
	if err := t.register(node, l, path); err != nil {
		if errors.Is(err, errDuplicate) {
			t.pause(lingers)
		}
		return err
	}
	t.running.Go(l.write)
	l.ping()
	err := l.read()
	l.close(api.ReasonUnreachable)
	if t.unregister(l) {
		t.noteHangUp(node, err)
	}
	return err
}

// fits checks what a peer says of itself, beside what this node says.
func (t *Transport) fits(own, hello api.PeerHello) error {
	switch {
	case hello.Cluster != t.options.Members.Cluster():
		return errNotMember
	case hello.Protocol < own.ProtocolMin:
		return api.NewError(api.ReasonProtocolTooOld, "")
	case hello.ProtocolMin > own.Protocol:
		return api.NewError(api.ReasonProtocolTooNew, "")
	}
	return nil
}

// mostSessions is how many of a peer's earlier sessions are remembered.
const mostSessions = 16

// beginsLocked takes a session of the peer for the current one, and gives the links of the
// one before. It is false for a session that another one has followed: a process that was
// started again does not come back, so there are two. isAnew says that there was one
// before.
func (p *peer) beginsLocked(session uint64) (isNew, isAnew bool, past []*link) {
	if session == p.session {
		return true, false, nil
	}
	if slices.Contains(p.earlier, session) {
		return false, false, nil
	}
	isAnew = p.session != 0
	p.earlier = append(p.earlier[max(0, len(p.earlier)-mostSessions+1):], p.session)
	p.session = session
	for _, l := range p.links {
		if l.session != session {
			past = append(past, l)
		}
	}
	return true, isAnew, past
}

// outlasts reports whether a link stays where a new one joins the same interfaces:
// IPv4, which is all that a ring over sockets speaks, before IPv6; then what the
// lower id has dialled, then the later dial. Both sides find the same.
func (l *link) outlasts(next *link) bool {
	switch {
	case l.session != next.session:
		return false // its process is gone
	case l.isIPv4 != next.isIPv4:
		return l.isIPv4
	case l.byLower != next.byLower:
		return l.byLower
	}
	return l.dial > next.dial
}

// register makes a link one of its peer's, in the place of the one that joins the
// same interfaces, unless that one outlasts it.
func (t *Transport) register(node api.NodeID, l *link, path Path) error {
	t.mu.Lock()
	if _, isMember := t.options.Members.PublicKey(node); t.closed || !isMember || len(t.peerLocked(node).links) >= 2*api.MaxPaths {
		t.mu.Unlock()
		return errDuplicate
	}
	if l.place.iface != "" && t.rankOfLocked(l.place.iface) < 0 {
		t.mu.Unlock()
		return errNoInterface // it went while the two greeted each other
	}
	p := t.peerLocked(node)
	if a := p.attempts[l.way]; a != nil {
		a.led = l.place // also where another connection serves it: that one will do
	}
	isNew, isAnew, past := p.beginsLocked(l.session)
	if !isNew {
		isReported := p.refused == l.session
		p.refused = l.session
		t.mu.Unlock()
		if !isReported {
			t.options.Log.Warn("two machines answer with the same identity; the one that started last counts",
				"reason", api.ReasonDuplicateIdentity, "node", node, "at", path.Address, "interface", path.Interface)
		}
		t.options.Twice(node, path)
		return errTwice
	}
	var calls []*callClient
	if isAnew { // those lead to a process that is gone, or to the other machine
		for _, o := range past {
			earlier := p.known[o.place]
			earlier.State = api.PathFailed // at once, so that no call goes by it; its end tells of it
			p.known[o.place] = earlier
		}
		calls = p.calls.dropLocked()
	}
	l.peer = p
	path.rank = t.rankOfLocked(path.Interface)
	var replaced *link
	if i := slices.IndexFunc(p.links, func(o *link) bool { return o.place == l.place }); i >= 0 {
		old := p.links[i]
		if old.outlasts(l) {
			t.standByLocked(p, l.place, path)
			t.mu.Unlock()
			return errDuplicate
		}
		replaced = old
		p.links[i] = l
	} else {
		p.links = append(p.links, l)
		t.pathUpLocked()
	}
	earlier := p.known[l.place]
	isElsewhere := earlier.Address != path.Address
	p.known[l.place] = path
	delete(p.standby, path.way())
	if replaced != nil && !isAnew {
		t.standByLocked(p, l.place, earlier)
	}
	t.mu.Unlock()
	for _, c := range calls {
		c.close()
	}
	for _, o := range past {
		if o != replaced {
			o.close(api.ReasonUnreachable)
		}
	}
	if replaced != nil {
		t.options.Clock.AfterFunc(lingers, func() { replaced.close(api.ReasonLinkChanged) })
	}
	if replaced == nil || isAnew || isElsewhere {
		t.events.add(PathEvent{node, path, isAnew}, nil)
	}
	t.wake.Wake()
	return nil
}

// unregister takes a link that has ended from its peer, if another has not taken
// its place, and reports whether it was the last.
func (t *Transport) unregister(l *link) (wasLast bool) {
	t.mu.Lock()
	p := l.peer
	i := slices.Index(p.links, l)
	var event PathEvent
	if i >= 0 {
		p.links = slices.Delete(p.links, i, i+1)
		path := p.known[l.place]
		path.State, path.Since, path.Reason, path.RTTUS = api.PathFailed, t.options.Clock.Now(), l.reason, 0
		p.known[l.place] = path
		for w, at := range p.standby {
			if at.Interface == path.Interface && at.PeerInterface == path.PeerInterface {
				at.State, at.Since, at.Reason = path.State, path.Since, path.Reason
				p.standby[w] = at
			}
		}
		event = PathEvent{Node: p.node, Path: path}
		wasLast = len(p.links) == 0
	}
	var calls []*callClient
	if i >= 0 {
		if c := p.calls.current; c != nil && c.at == l.place {
			calls, p.calls.current = append(calls, c), nil
		}
		for c := p.calls.takeLocked(l.place); c != nil; c = p.calls.takeLocked(l.place) {
			calls = append(calls, c)
		}
	}
	isGone := t.peers[p.node] != p || t.closed
	t.mu.Unlock()
	for _, c := range calls {
		c.close()
	}
	if i >= 0 && !isGone {
		t.events.add(event, nil)
	}
	t.wake.Wake()
	return wasLast
}

// close ends the link; the first reason counts.
func (l *link) close(reason api.Reason) {
	l.once.Do(func() {
		l.reason = reason
		close(l.done)
		abort(l.conn)
	})
}

// abort closes without TLS's farewell, which waits for a path that is dead.
func abort(c net.Conn) {
	if secure, ok := c.(*tls.Conn); ok {
		secure.NetConn().Close()
		return
	}
	c.Close()
}

func (l *link) write() {
	for {
		select {
		case <-l.done:
			return
		case frame := <-l.out:
			if frame == nil {
				close(l.flushed)
				return
			}
			if writeWithin(l.conn, frame) != nil {
				l.close(api.ReasonUnreachable)
				return
			}
		}
	}
}

// send queues a frame; a path that is too slow loses it.
func (l *link) send(frame []byte) bool {
	select {
	case l.out <- frame:
		return true
	default:
		return false
	}
}

// ping has the peer answer. At the beginning that measures the round trip: paths
// are compared by it where nothing else tells them apart.
func (l *link) ping() {
	now := l.t.options.Clock.Boot()
	l.send(binary.BigEndian.AppendUint64([]byte{framePing}, uint64(now)))
}

func (l *link) read() error {
	for {
		message, err := readFrame(l.conn, maxPacket+9)
		if err != nil {
			return err
		}
		l.received.Store(int64(l.t.options.Clock.Boot()))
		if len(message) < 9 {
			return fmt.Errorf("a frame of %d bytes is too short", len(message))
		}
		number := binary.BigEndian.Uint64(message[1:9])
		switch message[0] {
		case framePacket:
			l.t.received(l, number, message[9:])
		case framePing:
			l.send(append([]byte{framePong}, message[1:9]...))
		case framePong:
			l.t.measured(l, l.t.options.Clock.Boot()-time.Duration(number))
		case frameBeat:
			l.t.beatReceived(l.peer.node)
		case frameOver:
			l.t.receivedOn(l, message[9:])
		default: // from a later version
		}
	}
}

// measured notes a path's round trip, the first: what orders paths must not
// change with every ping.
func (t *Transport) measured(l *link, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if path, ok := l.peer.known[l.place]; ok && took >= 0 && path.RTTUS == 0 {
		path.RTTUS = float64(took) / float64(time.Microsecond)
		l.peer.known[l.place] = path
	}
}

// Beats sets who hears the other nodes' beats, as often as they come; set before
// Start. It must return soon: the path waits.
func (t *Transport) Beats(f func(from api.NodeID)) { t.handlers.beats = f }

// HungUp sets who is told when a peer's end of the last path to it was closed by its
// system, as when its daemon was killed: the machine answers, and nothing in it speaks.
// Set before Start; it must return soon.
func (t *Transport) HungUp(f func(node api.NodeID)) { t.handlers.hungUp = f }

// noteHangUp tells of the end of the last path.
func (t *Transport) noteHangUp(node api.NodeID, why error) {
	isClosed := errors.Is(why, io.EOF) || errors.Is(why, io.ErrUnexpectedEOF) || errors.Is(why, syscall.ECONNRESET)
	if isClosed && t.handlers.hungUp != nil {
		defer t.recovered("hang-ups")
		t.handlers.hungUp(node)
	}
}

// Beat tells a node that this one is there, on all active paths, and never waits.
// It says nothing else, so that it is heard also where calls queue. With no path
// the error is a *net.OpError.
func (t *Transport) Beat(node api.NodeID) error {
	return t.onAllPaths(node, func(*peer) []byte { return beat })
}

// beat is the frame; its number says nothing.
var beat = []byte{frameBeat, 0, 0, 0, 0, 0, 0, 0, 0}

// beatReceived hands a beat on.
func (t *Transport) beatReceived(from api.NodeID) {
	if t.handlers.beats != nil {
		defer t.recovered("beats")
		t.handlers.beats(from)
	}
}
