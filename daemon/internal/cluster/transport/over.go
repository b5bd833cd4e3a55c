package transport

import (
	"bytes"
	"net/netip"
	"slices"

	"fulmen/daemon/api"
)

// AddressesLost ends the paths that rest on addresses which a node, this one or a
// peer, has no more: nothing else tells of that before much time is over. Peers are
// told on the paths that are left, since they cannot hear a path end that carries
// nothing. One that lives all the same is dialled again.
func (t *Transport) AddressesLost(node api.NodeID, lost []netip.Addr) {
	isLost := func(a netip.Addr) bool { return slices.Contains(lost, a.Unmap().WithZone("")) }
	t.mu.Lock()
	var gone []*link
	for _, p := range t.peers {
		t.dropLocked(p, api.ReasonAddressLost, func(at Path) bool {
			return node == t.options.Identity.Node && isLost(at.Source) || node == p.node && isLost(at.Address.Addr())
		})
		var left []*link
		var frames [][]byte
		for _, l := range p.links {
			path := p.known[l.place]
			switch {
			case node == t.options.Identity.Node && isLost(path.Source):
				frames = append(frames, overFrame(l.place))
			case node == p.node && isLost(path.Address.Addr()):
			default:
				left = append(left, l)
				continue
			}
			gone = append(gone, l)
		}
		for _, l := range left {
			for _, f := range frames {
				l.send(f)
			}
		}
	}
	t.mu.Unlock()
	for _, l := range gone {
		l.close(api.ReasonAddressLost)
	}
}

// overFrame says that a path is over: by the interface of whoever says so and, after
// a zero, that of whoever hears it.
func overFrame(at place) []byte {
	f := append([]byte{frameOver, 0, 0, 0, 0, 0, 0, 0, 0}, at.iface...)
	return append(append(f, 0), at.peerIface...)
}

// receivedOn ends the path that a peer says is over, of the same process of it.
func (t *Transport) receivedOn(from *link, which []byte) {
	theirs, own, found := bytes.Cut(which, []byte{0})
	if !found {
		return
	}
	at := place{string(own), string(theirs)}
	t.mu.Lock()
	i := slices.IndexFunc(from.peer.links, func(l *link) bool { return l.place == at && l.session == from.session })
	var over *link
	if i >= 0 {
		over = from.peer.links[i]
	}
	t.mu.Unlock()
	if over != nil {
		over.close(api.ReasonAddressLost)
	}
}
