package transport

import (
	"net"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/native/frame"
)

// frameWithin is how long a frame may take once its first byte has come. A frame of
// the largest size takes that long at 35 kB/s.
const frameWithin = 30 * time.Second

// readFrame is frame.Read for a connection that lasts: silence between frames may be
// of any length, within one it may not. Otherwise somebody keeps what it has begun to
// send, and the connection, for ever.
func readFrame(c net.Conn, limit int) ([]byte, error) {
	message, err := frame.Read(&begun{conn: c}, limit)
	if err != nil {
		return nil, err
	}
	return message, c.SetReadDeadline(time.Time{})
}

// begun is a connection of which the deadline begins with the first byte.
type begun struct {
	conn net.Conn
	is   bool
}

// Read reads, a single byte at first.
func (b *begun) Read(p []byte) (int, error) {
	if b.is {
		return b.conn.Read(p)
	}
	n, err := b.conn.Read(p[:1])
	if n > 0 {
		b.is = true
		if failed := b.conn.SetReadDeadline(time.Now().Add(frameWithin)); err == nil {
			err = failed
		}
	}
	return n, err
}

// usage is what one member has open and under way here. Transport.mu guards it.
type usage struct {
	conns     map[api.PeerConnKind]int
	callers   []net.Conn // those for calls among conns, the oldest first
	connected int

	calls, callBytes int
	spent            float64       // of api.MemberCallBurst
	at               time.Duration // when spent was right, on Clock.Boot

	refusedConns, refusedCalls uint64
	told                       time.Duration // when the log last had it, on Clock.Boot
}

// usedBy is what is held of a member's use. It outlasts the member's paths, so that
// nothing is gained by ending them. The caller holds mu.
func (t *Transport) usedBy(node api.NodeID) *usage {
	u := t.usages[node]
	if u == nil {
		u = &usage{conns: map[api.PeerConnKind]int{}, at: t.options.Clock.Boot()}
		t.usages[node] = u
	}
	return u
}

// idle forgets a use that has ended. The caller holds mu.
func (t *Transport) idle(node api.NodeID, u *usage) {
	t.refill(u)
	if u.connected == 0 && u.calls == 0 && u.spent == 0 && t.usages[node] == u {
		delete(t.usages, node)
	}
}

// enter counts a connection of a member; false where it has as many as one can have.
// Of those for calls one more ends the oldest: a cable that was pulled leaves one behind
// that looks open for minutes, and the newest is the one that the member uses. Whoever
// entered leaves.
func (t *Transport) enter(node api.NodeID, kind api.PeerConnKind, conn net.Conn) (leave func(), ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	u := t.usedBy(node)
	if !kind.Valid() {
		kind = "" // all that this version does not know together
	}
	isFull := u.conns[kind] >= kind.ConnQuota()
	if isFull && kind != api.ConnCalls || u.connected >= api.MaxMemberConns {
		u.refusedConns++
		t.tell(node, u)
		return nil, false
	}
	if isFull {
		u.leave(kind, u.callers[0])
	}
	if kind == api.ConnCalls {
		u.callers = append(u.callers, conn)
	}
	u.conns[kind]++
	u.connected++
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		u.leave(kind, conn)
		u.connected--
		t.idle(node, u)
	}, true
}

// leave has a connection count no more among those of its kind, and ends one for calls.
// The caller holds Transport.mu.
func (u *usage) leave(kind api.PeerConnKind, conn net.Conn) {
	if kind == api.ConnCalls {
		i := slices.Index(u.callers, conn)
		if i < 0 {
			return // a later one has ended it
		}
		u.callers = slices.Delete(u.callers, i, i+1)
		abort(conn)
	}
	u.conns[kind]--
}

// refill gives back what time has paid for. The caller holds mu.
func (t *Transport) refill(u *usage) {
	now := t.options.Clock.Boot()
	u.spent = max(0, u.spent-(now-u.at).Seconds()*api.MemberCallRate)
	u.at = now
}

// deafFor is how long a connection is not read after a call on it was refused: who
// calls too much does not have more of it read than that.
const deafFor = 100 * time.Millisecond

// begin counts a member's call. The error is api.ReasonTooManyCalls, and the call is
// then not begun; whoever began ends.
func (t *Transport) begin(node api.NodeID, method string, size int) (end func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	u := t.usedBy(node)
	t.refill(u)
	cost := float64(api.CallCost(method)) + float64(size)/api.CallCostBytes
	if u.calls >= api.MaxMemberCalls || u.callBytes+size > api.MaxMemberCallBytes || u.spent+cost > api.MemberCallBurst {
		u.refusedCalls++
		t.tell(node, u)
		return nil, api.NewError(api.ReasonTooManyCalls, node.Display())
	}
	u.calls++
	u.callBytes += size
	u.spent += cost
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		u.calls--
		u.callBytes -= size
		t.idle(node, u)
	}, nil
}

// refused is what the acceptor says of a connection beyond the quota, in place of
// accepted.
var refused = []byte{2}

// turnAway ends a connection beyond the quota. A path has its own greeting, and just
// ends.
func turnAway(conn net.Conn, kind api.PeerConnKind) {
	if kind != api.ConnPackets {
		_ = writeWithin(conn, refused) // who does not hear it has gone
	}
	conn.Close()
}

// toldAgain is how often one member fills the log at most.
const toldAgain = time.Minute

// tell logs what a member was refused, once a minute. The caller holds mu.
func (t *Transport) tell(node api.NodeID, u *usage) {
	now := t.options.Clock.Boot()
	if u.told != 0 && now-u.told < toldAgain {
		return
	}
	u.told = now
	t.options.Log.Warn("a member has more connections or calls than one can have; some were refused", "node", node.Display(),
		"connections", u.refusedConns, "calls", u.refusedCalls)
}
