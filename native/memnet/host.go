package memnet

import (
	"context"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"fulmen/native"
)

// Host is a host's sockets.
type Host struct {
	network   *Network
	name      string
	plugs     []*plug
	listeners []*listener // the oldest first
	port      int

	sentBytes, sentPackets, dials atomic.Int64
}

var _ native.Sockets = (*Host)(nil)

// Traffic is what the host has sent: bytes of payload, writes, and connections
// that it dialled.
func (h *Host) Traffic() (bytes, packets, dials int64) {
	return h.sentBytes.Load(), h.sentPackets.Load(), h.dials.Load()
}

// listener waits for connections to an address of an interface.
type listener struct {
	host   *Host
	iface  string
	at     netip.AddrPort // without zone; an invalid address: all of the host's
	coming chan *Conn
	done   chan struct{}
	once   sync.Once
}

// Listen implements [native.Sockets].
func (h *Host) Listen(_ context.Context, iface string, at netip.AddrPort) (net.Listener, error) {
	h.network.mu.Lock()
	defer h.network.mu.Unlock()
	failed := func(call string, err error) (net.Listener, error) {
		return nil, &net.OpError{Op: "listen", Net: "tcp", Addr: net.TCPAddrFromAddrPort(at), Err: os.NewSyscallError(call, err)}
	}
	address, port := at.Addr().WithZone(""), at.Port()
	own := h.plug(iface)
	switch {
	case own == nil:
		return failed("setsockopt", syscall.ENODEV)
	case address.IsValid() && !slices.Contains(own.addresses, address):
		return failed("bind", syscall.EADDRNOTAVAIL)
	case port == 0:
		h.port++
		port = uint16(h.port)
	}
	l := &listener{
		host: h, iface: iface, at: netip.AddrPortFrom(address, port), coming: make(chan *Conn, 128), done: make(chan struct{}),
	}
	if slices.ContainsFunc(h.listeners, l.clashes) {
		return failed("bind", syscall.EADDRINUSE)
	}
	h.listeners = append(h.listeners, l)
	return l, nil
}

// clashes reports whether two listeners cannot be open at once. An address that is
// on two interfaces is one address, except of the link-local ones of IPv6.
func (l *listener) clashes(other *listener) bool {
	a := l.at.Addr()
	isOne := a.IsValid() && native.Zoned(a, l.iface).Zone() == ""
	return l.at == other.at && (l.iface == other.iface || isOne)
}

// listenerLocked is who gets a connection that comes in by an interface, by the rule
// of macOS, which is the harder one: a listener at the address comes before those at
// all addresses, of which the oldest gets it whatever its interface is.
func (p *plug) listenerLocked(to netip.AddrPort) *listener {
	var wild *listener
	for _, l := range p.host.listeners {
		a := l.at.Addr()
		switch {
		case l.at.Port() != to.Port():
		case a.IsValid() && native.Zoned(a, l.iface) == native.Zoned(to.Addr(), p.name):
			return l
		case !a.IsValid() && wild == nil:
			wild = l
		}
	}
	return wild
}

func (h *Host) plug(iface string) *plug {
	i := slices.IndexFunc(h.plugs, func(p *plug) bool { return p.name == iface })
	if i < 0 {
		return nil
	}
	return h.plugs[i]
}

// Dial implements [native.Sockets].
func (h *Host) Dial(ctx context.Context, iface string, source netip.Addr, to netip.AddrPort) (net.Conn, error) {
	failed := func(err error) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: net.TCPAddrFromAddrPort(to), Err: err}
	}
	h.dials.Add(1)
	n := h.network
	n.mu.Lock()
	own := h.plug(iface)
	if iface == "" {
		own = n.route(h, to.Addr())
	}
	if own == nil {
		n.mu.Unlock()
		return failed(os.NewSyscallError("setsockopt", syscall.ENODEV))
	}
	other := n.owner(own, to.Addr())
	if other == nil {
		n.mu.Unlock()
		<-ctx.Done() // nobody answers
		return failed(context.Cause(ctx))
	}
	line := n.lineLocked(own, other)
	n.mu.Unlock()
	for {
		isCut, changed := line.state()
		if !isCut {
			break
		}
		select {
		case <-ctx.Done():
			return failed(context.Cause(ctx))
		case <-changed:
		}
	}
	timer := time.NewTimer(2 * line.latency()) // the handshake
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return failed(context.Cause(ctx))
	case <-timer.C:
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	l := other.listenerLocked(to)
	if l == nil {
		return failed(os.NewSyscallError("connect", syscall.ECONNREFUSED))
	}
	if by := other.host.plug(l.iface); by == nil || by.lan != own.lan {
		n.mu.Unlock()
		<-ctx.Done() // the answer leaves by the listener's interface, and comes to nobody
		n.mu.Lock()
		return failed(context.Cause(ctx))
	}
	from := own.source(source, to.Addr())
	h.port++
	a, b := line.Pipe(address(from, own.name, h.port), address(to.Addr(), other.name, int(to.Port())))
	b.remote, a.remote = address(from, other.name, h.port), net.TCPAddrFromAddrPort(to) // each with its own zone
	a.sentBytes, a.sentPackets = &h.sentBytes, &h.sentPackets
	b.sentBytes, b.sentPackets = &other.host.sentBytes, &other.host.sentPackets
	select {
	case l.coming <- b:
		return a, nil
	default:
		return failed(os.NewSyscallError("connect", syscall.ECONNREFUSED))
	}
}

// route is the interface by which a host reaches an address.
func (n *Network) route(h *Host, to netip.Addr) *plug {
	for _, p := range h.plugs {
		if n.owner(p, to) != nil {
			return p
		}
	}
	return nil
}

// owner is the interface on the LAN of own that has an address.
func (n *Network) owner(own *plug, address netip.Addr) *plug {
	for _, h := range n.hosts {
		for _, p := range h.plugs {
			if p.lan == own.lan && p != own && slices.Contains(p.addresses, address.WithZone("")) {
				return p
			}
		}
	}
	return nil
}

// source is the address that is dialled from.
func (p *plug) source(wanted, to netip.Addr) netip.Addr {
	if wanted.IsValid() {
		return wanted
	}
	i := slices.IndexFunc(p.addresses, func(a netip.Addr) bool { return a.Is4() == to.Is4() })
	return p.addresses[max(i, 0)]
}

// address is a socket's, with the zone of the interface where it is link-local.
func address(a netip.Addr, iface string, port int) *net.TCPAddr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(native.Zoned(a, iface), uint16(port)))
}

// Accept implements [net.Listener].
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.coming:
		return c, nil
	case <-l.done:
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: net.ErrClosed}
	}
}

// Close ends it; connections that nobody accepted break.
func (l *listener) Close() error {
	l.once.Do(func() {
		l.host.network.mu.Lock()
		l.host.listeners = slices.DeleteFunc(l.host.listeners, func(other *listener) bool { return other == l })
		l.host.network.mu.Unlock()
		close(l.done)
		for {
			select {
			case c := <-l.coming:
				c.Close()
				continue
			default:
			}
			return
		}
	})
	return nil
}

// Addr is where it listens.
func (l *listener) Addr() net.Addr {
	if !l.at.Addr().IsValid() {
		return &net.TCPAddr{IP: net.IPv6unspecified, Port: int(l.at.Port()), Zone: l.iface}
	}
	return address(l.at.Addr(), l.iface, int(l.at.Port()))
}
