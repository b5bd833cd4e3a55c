package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

// way is how a path is dialled.
type way struct {
	iface string
	to    netip.AddrPort
}

// attempt is the trying of a way.
type attempt struct {
	next     time.Duration // on Clock.Boot
	second   time.Duration // until when one of IPv4 by the same interface goes first
	failures int
	running  bool
	led      place // which interfaces it joined; zero where it never did
}

// forgive has the way tried at once, as something has changed.
func (a *attempt) forgive() { a.next, a.failures = 0, 0 }

// forgivesFrom is how often a way has failed that is tried at once when another
// path comes up: where one does after a cut, others will.
const forgivesFrom = 3

// pathUpLocked has every way tried that waits for long.
func (t *Transport) pathUpLocked() {
	for _, p := range t.peers {
		for _, a := range p.attempts {
			if a.failures >= forgivesFrom {
				a.forgive()
			}
		}
	}
}

const (
	// firstAfter is how long the node with the higher id leaves the dialling to
	// the other one, so that not both do it.
	firstAfter = 300 * time.Millisecond
	// ipv6After is how long IPv6 is left alone where IPv4 by the same interface has not
	// failed: most likely both lead to one place, and the peer's document soon tells so.
	ipv6After = time.Second
	// retryFirst and retryMost bound the pause between tries of a way: nothing
	// announces that a network in between works again.
	retryFirst = time.Second
	retryMost  = 15 * time.Second
	// worked is how long a path must have taken from its dial to its end to have
	// been up in between.
	worked = time.Minute
	// dialWithin bounds a dial with its handshake.
	dialWithin = 10 * time.Second
	// dialsAtOnce bounds the dials under way to one node.
	dialsAtOnce = 8
)

// dialler dials what is worth it. It waits for a change, or for the next try.
func (t *Transport) dialler() {
	for native.Wait(t.ctx, t.options.Clock, t.dialAll(), t.wake) {
	}
}

// dialAll starts every dial that is due, and tells how long it is until the next one is.
func (t *Transport) dialAll() (next time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.options.Clock.Boot()
	next = native.Forever
	for _, p := range t.peers {
		wanted := t.waysLocked(p)
		for w := range p.attempts {
			if !slices.Contains(wanted, w) && !p.attempts[w].running {
				delete(p.attempts, w)
			}
		}
		running := 0
		for _, a := range p.attempts {
			if a.running {
				running++
			}
		}
		for _, w := range wanted {
			a := p.attempts[w]
			if a == nil {
				a = &attempt{}
				if t.options.Identity.Node > p.node {
					a.next = now + firstAfter
				}
				if slices.ContainsFunc(wanted, func(o way) bool { return w.isAfter(o) && (p.attempts[o] == nil || p.attempts[o].failures == 0) }) {
					a.second = now + ipv6After
				}
				p.attempts[w] = a
			}
			isStandby := !t.isWorthLocked(p, w)
			if a.running || isStandby && !t.isUnprovenLocked(p, w, a) {
				continue
			}
			if due := max(a.next, a.second); due > now {
				next = min(next, due-now)
				continue
			}
			if running++; running > dialsAtOnce {
				break
			}
			a.running = true
			t.running.Go(func() { t.try(p, w, a, isStandby) })
		}
	}
	return next
}

// isAfter reports whether another way goes first: of IPv4, by the same interface.
func (w way) isAfter(o way) bool {
	return w.to.Addr().Is6() && o.to.Addr().Is4() && w.iface == o.iface
}

// waysLocked are how a peer can be dialled, the best interface first.
func (t *Transport) waysLocked(p *peer) []way {
	own := slices.Clone(t.own)
	slices.SortStableFunc(own, func(a, b Interface) int { return a.Rank - b.Rank })
	var all []way
	for _, i := range own {
		for _, c := range p.candidates {
			if i.Name == c.Interface || c.Interface == "" && i.holds(c.Address.Addr()) {
				all = append(all, way{i.Name, c.Address})
			}
		}
	}
	for _, c := range p.candidates {
		isNear := slices.ContainsFunc(all, func(w way) bool { return w.to == c.Address })
		if c.Interface == "" && !isNear {
			all = append(all, way{"", c.Address}) // the system's routes decide
		}
	}
	return all
}

// holds reports whether an address is in one of the interface's networks.
func (i Interface) holds(a netip.Addr) bool {
	if zone := a.Zone(); zone != "" {
		return zone == i.Name
	}
	return slices.ContainsFunc(i.Addresses, func(p netip.Prefix) bool { return p.Contains(a) })
}

// isWorthLocked reports whether a way would add a path that is wanted, or one of IPv4 in
// the place of one of IPv6.
func (t *Transport) isWorthLocked(p *peer, w way) bool {
	worst, isBetter := -1, false
	for _, l := range p.links {
		path := p.known[l.place]
		a := p.attempts[w]
		isSamePlace := a != nil && a.led == l.place
		switch {
		case path.Interface == w.iface && path.Address.Addr().WithZone("") == w.to.Addr().WithZone("") || l.way == w:
			return false
		case w.to.Addr().Is4() && !l.isIPv4 && (isSamePlace || w.iface == l.place.iface):
			isBetter = true
		case isSamePlace:
			return false // another address of the same place
		}
		worst = max(worst, path.rank)
	}
	return isBetter || len(p.links) < api.MaxPaths || w.iface != "" && t.rankOfLocked(w.iface) < worst
}

// try dials a way and serves the path, or proves it.
func (t *Transport) try(p *peer, w way, a *attempt, isStandby bool) {
	began := t.options.Clock.Boot()
	conn, iface, err := t.dial(t.ctx, p.node, w, netip.Addr{}, api.PeerConn{Carries: api.ConnPackets, Protocol: api.Protocol})
	if err == nil {
		err = t.link(iface, p.node, w, conn, isStandby)
	}
	t.mu.Lock()
	a.running = false
	now := t.options.Clock.Boot()
	if now-began > worked {
		a.failures = 0
	}
	pause := min(retryFirst<<min(a.failures, 10), retryMost)
	a.failures++
	a.next = now + pause
	for o, second := range p.attempts {
		if o.isAfter(w) {
			second.second = 0
		}
	}
	t.mu.Unlock()
	t.options.Log.Debug("a path ended, or came to nothing", "node", p.node, "interface", w.iface, "to", w.to, "error", err, "again_in", pause)
	t.wake.Wake()
}

// dial connects to a member's node, proves both identities and says what the
// connection is for.
func (t *Transport) dial(ctx context.Context, node api.NodeID, w way, source netip.Addr, first api.PeerConn) (conn net.Conn, iface string, err error) {
	ctx, cancel := native.WithTimeout(ctx, t.options.Clock, dialWithin, node.Display()+" at "+w.to.String())
	defer cancel()
	t.mu.Lock()
	own := slices.Clone(t.own)
	t.mu.Unlock()
	if i := slices.IndexFunc(own, func(i Interface) bool { return i.Name == w.iface }); i >= 0 && !source.IsValid() {
		source = own[i].sourceFor(w.to.Addr())
	}
	raw, err := t.options.Sockets.Dial(ctx, w.iface, source, w.to)
	if errors.Is(err, native.ErrLocalNetwork) {
		t.options.Denied(w.to.String())
	} else if err == nil {
		t.options.Denied("")
	}
	if err != nil {
		return nil, "", err
	}
	if conn, err = secured(ctx, raw, t.dialling(node), first); err != nil {
		return nil, "", err
	}
	if iface = w.iface; iface == "" {
		iface = only(own, localOf(raw))
	}
	return conn, iface, nil
}

// secured has both sides of a connection prove who they are, and says what it is for. Where
// that comes to nothing before ctx ends, the connection is closed.
func secured(ctx context.Context, raw net.Conn, config *tls.Config, first api.PeerConn) (*tls.Conn, error) {
	stop := context.AfterFunc(ctx, func() { raw.Close() })
	conn := tls.Client(raw, config)
	err := conn.HandshakeContext(ctx)
	if err == nil {
		err = writeJSON(conn, first)
	}
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		raw.Close()
		return nil, err
	}
	return conn, nil
}

// only is the interface that has an address; none where several have it.
func only(own []Interface, address netip.Addr) (iface string) {
	for _, i := range own {
		if slices.ContainsFunc(i.Addresses, func(p netip.Prefix) bool { return native.Zoned(p.Addr(), i.Name) == address }) {
			if iface != "" {
				return ""
			}
			iface = i.Name
		}
	}
	return iface
}

// sourceFor is the own address in the network of another one; none where the
// system is to choose.
func (i Interface) sourceFor(to netip.Addr) netip.Addr {
	if to.Zone() != "" || to.IsLinkLocalUnicast() && to.Is6() {
		return netip.Addr{}
	}
	for _, p := range i.Addresses {
		if p.Contains(to) {
			return p.Addr()
		}
	}
	return netip.Addr{}
}
