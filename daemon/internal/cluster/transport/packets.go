package transport

import (
	"encoding/binary"
	"errors"
	"net"
	"slices"

	"fulmen/daemon/api"
)

var (
	errNoPath      = errors.New("no path to the node is up")
	errDuplicate   = errors.New("another connection serves the path")
	errNoInterface = errors.New("the interface is gone")
	errTwice       = errors.New("another machine with this identity has connected since")
	errTooLarge    = errors.New("the packet is too large")
)

// Packets sets who gets the packets, each once, whatever paths it came by; set
// before Start. It must return soon: the path waits.
func (t *Transport) Packets(f func(from api.NodeID, packet []byte)) { t.handlers.packets = f }

// Send sends a packet of at most 1400 bytes on all active paths and never
// waits. With no path the error is a *net.OpError, as memberlist wants it: other
// errors it takes for its own.
func (t *Transport) Send(node api.NodeID, packet []byte) error {
	if len(packet) > maxPacket {
		return errTooLarge
	}
	return t.onAllPaths(node, func(p *peer) []byte {
		p.sequence++
		frame := binary.BigEndian.AppendUint64(append(make([]byte, 0, 9+len(packet)), framePacket), p.sequence)
		return append(frame, packet...)
	})
}

// onAllPaths sends a frame, which is made under the lock, on all active paths to a node.
func (t *Transport) onAllPaths(node api.NodeID, frameFor func(*peer) []byte) error {
	t.mu.Lock()
	p := t.peers[node]
	if p == nil || len(p.links) == 0 {
		t.mu.Unlock()
		return &net.OpError{Op: "write", Net: "udp", Err: errNoPath}
	}
	frame, links := frameFor(p), slices.Clone(p.links)
	t.mu.Unlock()
	for _, l := range links {
		l.send(frame)
	}
	return nil
}

// received hands on what has not come by another path.
func (t *Transport) received(l *link, number uint64, packet []byte) {
	t.mu.Lock()
	isNew := l.peer.window.isNew(l.session, number)
	t.mu.Unlock()
	if isNew && t.handlers.packets != nil {
		defer t.recovered("packets")
		t.handlers.packets(l.peer.node, packet)
	}
}

// window remembers which of the last 64 packets of a session have come, since
// each is sent on every path.
type window struct {
	session uint64
	highest uint64
	seen    uint64 // bit i: highest-i has come
}

// isNew notes a packet and reports whether it is the first of its number.
// Another session begins anew: the peer's process was started again. Packets of
// an earlier one do not come back, for their connections are of the old process.
func (w *window) isNew(session, seq uint64) bool {
	if session != w.session {
		*w = window{session: session}
	}
	switch {
	case seq > w.highest:
		ahead := seq - w.highest
		if w.seen <<= ahead; ahead >= 64 {
			w.seen = 0
		}
		w.seen |= 1
		w.highest = seq
		return true
	case w.highest-seq >= 64:
		return false // too late to tell
	}
	bit := uint64(1) << (w.highest - seq)
	if w.seen&bit != 0 {
		return false
	}
	w.seen |= bit
	return true
}
