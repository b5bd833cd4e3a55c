package api

import (
	"cmp"
	"net/netip"
	"strings"
)

// PeerAddress is one address of a peer as seen from the node that writes it,
// `PEER/ADDRESS`: the sink end of a path. A link-local IPv6 address carries
// the zone of the writer's own interface.
type PeerAddress struct {
	Peer    NodeID
	Address netip.Addr
}

// ParsePeerAddress reads a peer's address; the node id as people write it.
func ParsePeerAddress(s string) (PeerAddress, error) {
	const field = "peer address"
	peer, addr, ok := strings.Cut(s, "/")
	if !ok {
		return PeerAddress{}, malformed(field, s, "has no /", "write it as NODE-ID/ADDRESS")
	}
	id, err := ParseNodeID(peer)
	if err != nil {
		return PeerAddress{}, err
	}
	a, err := netip.ParseAddr(addr)
	if err != nil || !validZone(a.Zone()) {
		return PeerAddress{}, malformed(field, s, "the part after / is not an IP address", "write an IPv4 or IPv6 address without port")
	}
	return PeerAddress{Peer: id, Address: a.Unmap()}, nil
}

// Valid reports whether both parts are set and well-formed.
func (p PeerAddress) Valid() bool {
	return p.Peer.Valid() && p.Address.IsValid() && !p.Address.Is4In6() && validZone(p.Address.Zone())
}

// Compare orders by peer, then by address.
func (p PeerAddress) Compare(o PeerAddress) int {
	return cmp.Or(cmp.Compare(p.Peer, o.Peer), p.Address.Compare(o.Address))
}

// String is the wire form.
func (p PeerAddress) String() string { return string(p.Peer) + "/" + p.Address.String() }

// MarshalText writes the wire form and refuses an invalid address.
func (p PeerAddress) MarshalText() ([]byte, error) {
	return marshalCanonical(p, "peer address", "set peer and address")
}

// UnmarshalText reads the wire form only.
func (p *PeerAddress) UnmarshalText(text []byte) error {
	return unmarshalCanonical(p, text, "peer address", ParsePeerAddress)
}

// validZone accepts interface names as systems give them, and none.
func validZone(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("._-", rune(c)) {
			return false
		}
	}
	return len(s) <= 32
}
