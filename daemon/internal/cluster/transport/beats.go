package transport

import (
	"errors"
	"io"
	"net"
	"slices"
	"syscall"

	"fulmen/daemon/api"
)

// Beats sets who hears the other nodes' beats, as often as they come; set before
// Start. It must return soon: the path waits.
func (t *Transport) Beats(f func(from api.NodeID)) { t.handlers.beats = f }

// HungUp sets who is told when a peer's end of the last path to it was closed by its
// system, as when its daemon was killed: the machine answers, and nothing in it speaks.
// Set before Start; it must return soon.
func (t *Transport) HungUp(f func(node api.NodeID)) { t.handlers.hungUp = f }

// noteHangUp tells of the end of a path, where it was the last one.
func (t *Transport) noteHangUp(node api.NodeID, why error) {
	isClosed := errors.Is(why, io.EOF) || errors.Is(why, io.ErrUnexpectedEOF) || errors.Is(why, syscall.ECONNRESET)
	if isClosed && t.handlers.hungUp != nil && !t.Reachable(node) {
		defer t.recovered("hang-ups")
		t.handlers.hungUp(node)
	}
}

// Beat tells a node that this one is there, on all active paths, and never waits.
// It says nothing else, so that it is heard also where calls queue. With no path
// the error is a *net.OpError.
func (t *Transport) Beat(node api.NodeID) error {
	t.mu.Lock()
	p := t.peers[node]
	if p == nil || len(p.links) == 0 {
		t.mu.Unlock()
		return &net.OpError{Op: "write", Net: "udp", Err: errNoPath}
	}
	links := slices.Clone(p.links)
	t.mu.Unlock()
	for _, l := range links {
		l.send(beat)
	}
	return nil
}

// beat is the frame; its number says nothing.
var beat = []byte{frameBeat, 0, 0, 0, 0, 0, 0, 0, 0}

// heardBeat hands a beat on.
func (t *Transport) heardBeat(from api.NodeID) {
	if t.handlers.beats != nil {
		defer t.recovered("beats")
		t.handlers.beats(from)
	}
}
