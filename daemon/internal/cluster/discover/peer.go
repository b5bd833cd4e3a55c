package discover

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/transport"
	"fulmen/native"
)

// The times of resolving names.
const (
	resolveWithin = 5 * time.Second
	// resolveAgain is how old an answer gets: nothing announces that it changed.
	resolveAgain = 30 * time.Minute
	// retryFirst and retryLast are the first and the longest wait after a failure.
	retryFirst = 5 * time.Second
	retryLast  = 5 * time.Minute
	// mostResolving is how many names are resolved at a time.
	mostResolving = 8
)

// peer is one configured address, and whose it is once a path to it has come up.
type peer struct {
	name        string
	host        string
	port        uint16
	addresses   []netip.Addr
	node        api.NodeID
	isResolving bool
	next        time.Duration // when to resolve it; for a literal address never
	wait        time.Duration // after the next failure
	isLiteral   bool
}

// ParseHost reads HOST or HOST:PORT. HOST is a name, an IPv4 address, or an IPv6
// address, in brackets where a port follows; without a port it is [api.PeerPort].
func ParseHost(name string) (host string, port uint16, err error) {
	host, port = name, api.PeerPort
	if _, err := netip.ParseAddr(name); err == nil {
		return host, port, nil
	}
	if h, p, err := net.SplitHostPort(name); err == nil {
		number, err := strconv.ParseUint(p, 10, 16)
		if err != nil || number == 0 {
			return "", 0, fmt.Errorf("%q has no port from 1 to 65535", name)
		}
		host, port = h, uint16(number)
	} else if len(name) > 2 && name[0] == '[' && name[len(name)-1] == ']' {
		host = name[1 : len(name)-1]
	}
	if host == "" || len(host) > 253 {
		return "", 0, fmt.Errorf("%q is not a host", name)
	}
	return host, port, nil
}

// parsePeer reads an address of the configuration.
func parsePeer(name string) (*peer, error) {
	host, port, err := ParseHost(name)
	if err != nil {
		return nil, err
	}
	p := &peer{name: name, host: host, port: port, wait: retryFirst}
	if address, err := netip.ParseAddr(host); err == nil {
		p.addresses, p.isLiteral = []netip.Addr{address}, true
	}
	return p, nil
}

// candidates are its addresses.
func (p *peer) candidates() (all []transport.Candidate) {
	for _, a := range p.addresses {
		all = append(all, transport.Candidate{Address: netip.AddrPortFrom(a.Unmap(), p.port), Interface: a.Zone()})
	}
	return all
}

// has reports whether an address with its port is one of its.
func (p *peer) has(at netip.AddrPort) bool {
	return slices.ContainsFunc(p.candidates(), func(c transport.Candidate) bool { return c.Address == at })
}

// again resolves it soon.
func (p *peer) again(boot time.Duration) { p.next, p.wait = boot, retryFirst }

// setPeers replaces the configured addresses. Those that were there keep what is
// known of them.
func (s *state) setPeers(boot time.Duration, names []string) error {
	var all []*peer
	for _, name := range names {
		if slices.ContainsFunc(all, func(p *peer) bool { return p.name == name }) {
			continue
		}
		at := slices.IndexFunc(s.peers, func(p *peer) bool { return p.name == name })
		if at >= 0 {
			all = append(all, s.peers[at])
			continue
		}
		p, err := parsePeer(name)
		if err != nil {
			return err
		}
		p.next = boot
		all = append(all, p)
	}
	for _, p := range s.peers {
		s.touch(p.node)
	}
	s.peers, s.changed.Peers = all, true
	return nil
}

// toResolve are the names that are due, marked as being resolved, and when the
// next one is.
func (s *state) toResolve(boot time.Duration) (due []*peer, next time.Duration) {
	running := 0
	next = native.Forever
	for _, p := range s.peers {
		if p.isResolving {
			running++
		}
	}
	for _, p := range s.peers {
		switch {
		case p.isLiteral || p.isResolving:
		case p.next > boot:
			next = min(next, p.next)
		case running < mostResolving: // the others follow as these end
			p.isResolving = true
			running++
			due = append(due, p)
		}
	}
	return due, next
}

// resolved takes the answer for a name. After a failure, what it was before is
// still tried.
func (s *state) resolved(boot time.Duration, p *peer, addresses []netip.Addr, err error) {
	p.isResolving = false
	if err == nil && len(addresses) == 0 {
		err = &net.DNSError{Err: "no addresses", Name: p.host, IsNotFound: true}
	}
	if err != nil {
		p.next, p.wait = boot+p.wait, min(2*p.wait, retryLast)
	} else {
		slices.SortFunc(addresses, netip.Addr.Compare)
		p.addresses = slices.Compact(addresses)
		p.addresses = p.addresses[:min(len(p.addresses), mostAddresses)]
		p.next, p.wait = boot+resolveAgain, retryFirst
	}
	if slices.Contains(s.peers, p) {
		s.changed.Peers = true
		s.touch(p.node)
	}
}
