package relay

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"syscall"

	"fulmen/daemon/api"
)

// check says which port of a job that is about to be submitted another program
// holds here now (port_taken). Of a job whose rank 0 comes to this node that would
// stop the program, and of any other the relay.
func (r *Relay) check(ports []api.Publish) error {
	for _, p := range ports {
		for _, a := range r.addresses(p) {
			l, err := listen(netip.AddrPortFrom(a, uint16(p.Port)))
			if err != nil {
				return err
			}
			if l != nil {
				l.Close()
			}
		}
	}
	return nil
}

// addresses are where a port is open on this node, unless rank 0 has it itself.
func (r *Relay) addresses(p api.Publish) []netip.Addr {
	if p.LAN {
		return r.cfg.LAN()
	}
	return r.cfg.Loopback
}

// listen opens a port; nil where this machine does not have the address.
func listen(at netip.AddrPort) (net.Listener, error) {
	l, err := net.Listen("tcp", at.String())
	port := strconv.Itoa(int(at.Port()))
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.Is(err, syscall.EAFNOSUPPORT):
		return nil, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, api.Errorf(api.ReasonPortTaken, port, "Port %s of %s is held by another program, so it cannot be published there.", port, at.Addr())
	case errors.Is(err, syscall.EACCES):
		return nil, api.Errorf(api.ReasonPermissionDenied, port, "The system does not let the daemon open port %s.", port)
	}
	return nil, err
}
