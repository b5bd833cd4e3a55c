package pairing

import (
	"net/netip"
	"time"

	"fulmen/daemon/api"
)

// Try is a proof that failed, for the screen that shows the code.
type Try struct {
	// Node is the id of the key that the other side has shown. Anybody can make
	// a new key.
	Node api.NodeID
	// Address is from where it came.
	Address netip.AddrPort
	// Interface is by which of this node's interfaces.
	Interface string
	// At is when, by the wall clock.
	At time.Time
}
