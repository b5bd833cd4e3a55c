package transport

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/cluster/pairing"
	"fulmen/native"
)

const (
	// portsTried is how many ports after a taken one are tried.
	portsTried = 100
	// listenAgain is after how long an address is tried again at which listening
	// failed: the system may still be giving it to the interface.
	listenAgain = 5 * time.Second
)

// endpoint is an own address at which peers connect, with the interface that has it:
// which interface a connection has come by follows from the address alone, as the
// system's choice among listeners at all addresses need not regard interfaces.
type endpoint struct {
	iface   string
	address netip.Addr
}

// routesLocked are where peers can be listened for. Of an address that is on several
// interfaces nobody could tell by which one a connection has come: none has it.
func (t *Transport) routesLocked() (all, shared []endpoint) {
	on := map[netip.Addr][]endpoint{}
	for _, i := range t.own {
		for _, p := range i.Addresses {
			address := native.Zoned(p.Addr(), i.Name)
			if at := (endpoint{i.Name, address}); !slices.Contains(on[address], at) {
				on[address] = append(on[address], at)
				all = append(all, at)
			}
		}
	}
	return slices.DeleteFunc(all, func(d endpoint) bool {
		isShared := len(on[d.address]) > 1
		if isShared {
			shared = append(shared, d)
		}
		return isShared
	}), shared
}

// listen opens listeners at addresses that lack one and closes those of
// addresses that are gone. What could not be opened is tried again.
func (t *Transport) listen() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.started || t.closed {
		return
	}
	wanted, shared := t.routesLocked()
	for at, l := range t.listeners {
		if !slices.Contains(wanted, at) {
			l.Close()
			delete(t.listeners, at)
		}
	}
	silent := map[endpoint]bool{}
	for _, at := range shared {
		silent[at] = true
		if !t.silent[at] {
			t.options.Log.Warn("peers are not listened for at an address that is on several interfaces", "interface", at.iface, "address", at.address)
		}
	}
	isRefused := false
	for _, at := range wanted {
		if t.listeners[at] != nil {
			continue
		}
		l, err := t.openLocked(at)
		if err != nil {
			silent[at], isRefused = true, true
			if !t.silent[at] {
				t.options.Log.Warn("peers cannot be listened for", "interface", at.iface, "address", at.address, "error", err)
			}
			continue
		}
		t.listeners[at] = l
		t.running.Go(func() { t.accept(at.iface, l) })
	}
	t.silent = silent
	if isRefused && t.again == nil {
		t.again = t.options.Clock.AfterFunc(listenAgain, func() {
			t.mu.Lock()
			t.again = nil
			t.mu.Unlock()
			t.listen()
		})
	}
}

// openLocked listens at an address: at the port that the others have, or at the first free
// one.
func (t *Transport) openLocked(at endpoint) (net.Listener, error) {
	listen := func(port int) (net.Listener, error) {
		return t.options.Sockets.Listen(t.ctx, at.iface, netip.AddrPortFrom(at.address, uint16(port)))
	}
	if t.port != 0 {
		return listen(t.port)
	}
	for port := t.options.Port; ; port++ {
		l, err := listen(port)
		if err == nil {
			t.port = l.Addr().(*net.TCPAddr).Port
			return l, nil
		}
		if t.options.Port == 0 || port == t.options.Port+portsTried || !errors.Is(err, syscall.EADDRINUSE) {
			return nil, err
		}
	}
}

func (t *Transport) accept(iface string, l net.Listener) {
	for {
		conn, err := l.Accept()
		switch {
		case t.ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			if err == nil { // it came while this ends: its dialler is not kept waiting
				conn.Close()
			}
			return
		case err != nil: // out of descriptors, or a connection that was gone at once
			t.options.Log.Warn("a peer's connection could not be accepted", "interface", iface, "error", err)
			if !t.pause(time.Second) {
				return
			}
			continue
		}
		t.greeting.enter(conn)
		t.running.Go(func() { t.greet(iface, conn) })
	}
}

// pause waits, and is false where the transport ends before.
func (t *Transport) pause(d time.Duration) bool { return native.Pause(t.ctx, t.options.Clock, d) }

// greet finds out who has connected and for what.
func (t *Transport) greet(iface string, raw net.Conn) {
	defer t.greeting.leave(raw)
	conn := tls.Server(raw, t.accepting())
	deadline := t.options.Clock.AfterFunc(handshakeWithin, func() { raw.Close() })
	defer deadline.Stop()
	var first api.PeerConn
	err := conn.HandshakeContext(t.ctx)
	if err == nil {
		err = readJSON(conn, firstBytes, &first)
	}
	if err != nil || !deadline.Stop() {
		t.options.Log.Debug("a connection came to nothing", "interface", iface, "from", raw.RemoteAddr(), "error", err)
		raw.Close()
		return
	}
	t.greeting.leave(raw)
	state := conn.ConnectionState()
	if state.NegotiatedProtocol == PairALPN {
		nonMember, err := pairing.Over(conn, iface, remoteOf(raw))
		if err != nil || first.Carries != api.ConnPair {
			raw.Close()
			return
		}
		t.meet(nonMember)
		return
	}
	key, _ := peerKey(state) // the handshake has looked at it
	node, ok := isMember(t.options.Members, key)
	if !ok {
		raw.Close()
		return
	}
	t.serve(iface, node, first, conn)
}

// serve hands a member's connection to what it carries.
func (t *Transport) serve(iface string, node api.NodeID, first api.PeerConn, conn net.Conn) {
	leave, ok := t.enter(node, first.Carries, conn)
	if !ok {
		turnAway(conn, first.Carries)
		return
	}
	defer leave()
	switch first.Carries {
	case api.ConnPackets:
		t.link(iface, node, way{}, conn, false)
	case api.ConnCalls:
		t.acceptCalls(node, conn)
	default:
		t.acceptStream(node, first, conn)
	}
}

// meet gives a stranger's connection to whoever pairs, if not too many are there.
func (t *Transport) meet(c pairing.Conn) {
	defer c.Close()
	select {
	case t.nonMembers <- struct{}{}:
	default:
		return
	}
	defer func() { <-t.nonMembers }()
	defer context.AfterFunc(t.ctx, func() { c.Conn.Close() })()
	defer t.recovered("pairing")
	t.options.Pair(t.ctx, c)
}

// recovered keeps a defect that a peer found from ending more than its
// connection.
func (t *Transport) recovered(what string) {
	if p := recover(); p != nil {
		t.options.Log.Error("a handler of peers' connections panicked", "what", what, "panic", p)
	}
}

// Pair dials a stranger. The caller closes the connection.
func (t *Transport) Pair(ctx context.Context, iface string, to netip.AddrPort) (pairing.Conn, error) {
	return t.pair(ctx, iface, to, t.certificate)
}

// Peek connects to a stranger that says it takes Macs in, to find out who it is.
// The key that is shown to it is made for the occasion, so that it hears nothing of
// this node.
func (t *Transport) Peek(ctx context.Context, iface string, to netip.AddrPort) (pairing.Conn, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return pairing.Conn{}, err
	}
	cert, err := certificate(cluster.NewIdentity(key))
	if err != nil {
		return pairing.Conn{}, err
	}
	return t.pair(ctx, iface, to, cert)
}

func (t *Transport) pair(ctx context.Context, iface string, to netip.AddrPort, cert tls.Certificate) (pairing.Conn, error) {
	raw, err := t.options.Sockets.Dial(ctx, iface, netip.Addr{}, to)
	if err != nil {
		return pairing.Conn{}, err
	}
	ctx, cancel := native.WithTimeout(ctx, t.options.Clock, handshakeWithin, "the Mac at "+to.String()+" to show its key")
	defer cancel()
	config := t.pairing()
	config.Certificates = []tls.Certificate{cert}
	conn, err := secured(ctx, raw, config, api.PeerConn{Carries: api.ConnPair, Protocol: api.Protocol})
	if err != nil {
		return pairing.Conn{}, err
	}
	nonMember, err := pairing.Over(conn, iface, to)
	if err != nil {
		raw.Close()
	}
	return nonMember, err
}

func remoteOf(c net.Conn) netip.AddrPort {
	if a, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		at := a.AddrPort()
		return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
	}
	return netip.AddrPort{}
}

func localOf(c net.Conn) netip.Addr {
	if a, ok := c.LocalAddr().(*net.TCPAddr); ok {
		return a.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}
