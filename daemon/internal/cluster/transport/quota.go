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
	reported                   time.Duration // when the log last had it, on Clock.Boot
}

// usedByLocked is what is held of a member's use. It outlasts the member's paths, so that
// nothing is gained by ending them.
func (t *Transport) usedByLocked(node api.NodeID) *usage {
	u := t.usages[node]
	if u == nil {
		u = &usage{conns: map[api.PeerConnKind]int{}, at: t.options.Clock.Boot()}
		t.usages[node] = u
	}
	return u
}

// idleLocked forgets a use that has ended.
func (t *Transport) idleLocked(node api.NodeID, u *usage) {
	t.refillLocked(u)
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
	u := t.usedByLocked(node)
	if !kind.Valid() {
		kind = "" // all that this version does not know together
	}
	isFull := u.conns[kind] >= kind.ConnQuota()
	if isFull && kind != api.ConnCalls || u.connected >= api.MaxMemberConns {
		u.refusedConns++
		t.notifyLocked(node, u)
		return nil, false
	}
	if isFull {
		u.leaveLocked(kind, u.callers[0])
	}
	if kind == api.ConnCalls {
		u.callers = append(u.callers, conn)
	}
	u.conns[kind]++
	u.connected++
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		u.leaveLocked(kind, conn)
		u.connected--
		t.idleLocked(node, u)
	}, true
}

// leaveLocked has a connection count no more among those of its kind, and ends one for
// calls.
func (u *usage) leaveLocked(kind api.PeerConnKind, conn net.Conn) {
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

// refillLocked gives back what time has paid for.
func (t *Transport) refillLocked(u *usage) {
	now := t.options.Clock.Boot()
	u.spent = max(0, u.spent-(now-u.at).Seconds()*api.MemberCallRate)
	u.at = now
}

// unreadFor is how long a connection is not read after a call on it was refused: who
// calls too much does not have more of it read than that.
const unreadFor = 100 * time.Millisecond

// begin counts a member's call. The error is api.ReasonTooManyCalls, and the call is
// then not begun; whoever began ends.
func (t *Transport) begin(node api.NodeID, method string, size int) (end func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	u := t.usedByLocked(node)
	t.refillLocked(u)
	cost := float64(api.CallCost(method)) + float64(size)/api.CallCostBytes
	if u.calls >= api.MaxMemberCalls || u.callBytes+size > api.MaxMemberCallBytes || u.spent+cost > api.MemberCallBurst {
		u.refusedCalls++
		t.notifyLocked(node, u)
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
		t.idleLocked(node, u)
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

// warnAgain is how often one member fills the log at most.
const warnAgain = time.Minute

// notifyLocked logs what a member was refused, once a minute.
func (t *Transport) notifyLocked(node api.NodeID, u *usage) {
	now := t.options.Clock.Boot()
	if u.reported != 0 && now-u.reported < warnAgain {
		return
	}
	u.reported = now
	t.options.Log.Warn("a member has more connections or calls than one can have; some were refused", "node", node.Display(),
		"connections", u.refusedConns, "calls", u.refusedCalls)
}
