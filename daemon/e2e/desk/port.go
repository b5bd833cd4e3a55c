package desk

import (
	"math/rand/v2"
	"net"
	"net/netip"
)

// Listen holds a port of 127.0.0.1 that a program is to take by its number when the
// listener is closed. It is none of those that systems give to connections, from
// 32768 and from 49152, so that none of those takes it meanwhile.
func Listen() (net.Listener, error) {
	const first, last, tries = 15000, 32000, 100
	var listener net.Listener
	var err error
	for range tries {
		port := uint16(first + rand.IntN(last-first))
		if listener, err = net.Listen("tcp4", netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port).String()); err == nil {
			break
		}
	}
	return listener, err
}
