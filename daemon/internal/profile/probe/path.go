package probe

import (
	"net/netip"

	"fulmen/daemon/api"
)

// Path is what is measured.
type Path struct {
	// Peer is the node at the other end; this node itself for its loopback.
	Peer api.NodeID
	// Interface is this node's, and Source its address there.
	Interface string
	Source    netip.Addr
	// Sink is the peer's address, without a zone.
	Sink netip.Addr
	// Streams is how many connections at once an earlier measurement found to
	// fill the path, 0 = not known.
	Streams int
}
