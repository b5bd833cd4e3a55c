package placement

import (
	"cmp"
	"net/netip"

	"fulmen/daemon/api"
)

// channel is one connection that two nodes can have: a cable for RDMA, or a
// way over sockets. Its first end is the lower node of its pair.
type channel struct {
	speed
	kind api.LinkKind
	link api.LinkID
	// devices and receptacles are those of a cable for RDMA.
	devices     [2]string
	portNumbers [2]api.PortNumber
	// addresses are those of each end, at which the other finds it.
	addresses [2]netip.Addr
	// network names the network of an unencrypted way; empty for Thunderbolt.
	network string
	// documents are those that the channel rests on, apart from its speed.
	documents []api.Key
	// notes are what a person should know about using it.
	notes []api.Cause
}

// speed is how fast a channel is.
type speed struct {
	// bits is the slower direction in bits a second; 0 where not known.
	bits int64
	// measured says that it was measured, and not negotiated.
	measured bool
	// rtt is the round trip in microseconds; 0 where not measured.
	rtt float64
	// together is what it gave with others at once; nil where not measured.
	together *api.LinkTogether
	// source is the measurement's document.
	source api.Key
}

// compareChannels orders by speed, the fastest first, then by round trip, and
// then in a fixed order.
func compareChannels(a, b channel) int {
	known := func(c channel) bool { return c.rtt > 0 }
	if a.bits != b.bits {
		return cmp.Compare(b.bits, a.bits)
	}
	if known(a) && known(b) && a.rtt != b.rtt {
		return cmp.Compare(a.rtt, b.rtt)
	}
	return cmp.Or(a.link.Compare(b.link), a.addresses[0].Compare(b.addresses[0]), a.addresses[1].Compare(b.addresses[1]))
}

// classOf is the class of a speed: each begins 10 % above the one below it, so
// that noise rarely changes it. 0 is an unknown speed. It is counted in whole
// numbers, for floating point may differ between processors.
func classOf(bitsPerS int64) int {
	if bitsPerS <= 0 {
		return 0
	}
	class := 1
	for bound := int64(1_000_000); bound <= bitsPerS && bound < 1<<56; bound += bound / 10 {
		class++
	}
	return class
}

// sharePort reports whether two channels of a pair use the same port at either end.
func sharePort(a, b channel) bool {
	return a.portNumbers[0] == b.portNumbers[0] || a.portNumbers[1] == b.portNumbers[1]
}
