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
	failures int
	running  bool
	led      place // which interfaces it joined; zero where it never did
}

// forgive has the way tried at once, as something has changed.
func (a *attempt) forgive() { a.next, a.failures = 0, 0 }

// forgivesFrom is how often a way has failed that is tried at once when another
// path comes up: where one does after a cut, others will.
const forgivesFrom = 3

// pathCameUp has every way tried that waits for long. The caller holds mu.
func (t *Transport) pathCameUp() {
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
	for {
		next := t.dialAll()
		var timer native.Timer
		if next > 0 {
			timer = t.options.Clock.AfterFunc(next-t.options.Clock.Boot(), t.wake.Wake)
		}
		select {
		case <-t.ctx.Done():
		case <-t.wake:
		}
		if timer != nil {
			timer.Stop()
		}
		if t.ctx.Err() != nil {
			return
		}
	}
}

// dialAll starts every dial that is due, and tells when the next one is; 0 =
// none.
func (t *Transport) dialAll() (next time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.options.Clock.Boot()
	for _, p := range t.peers {
		wanted := t.ways(p)
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
				p.attempts[w] = a
			}
			if a.running || !t.isWorth(p, w) {
				continue
			}
			if a.next > now {
				if next == 0 || a.next < next {
					next = a.next
				}
				continue
			}
			if running++; running > dialsAtOnce {
				break
			}
			a.running = true
			t.run(func() { t.try(p, w, a) })
		}
	}
	return next
}

// ways are how a peer can be dialled, the best interface first. The caller holds
// mu.
func (t *Transport) ways(p *peer) []way {
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

// isWorth reports whether a way would add a path that is wanted, or one of IPv4
// in the place of one of IPv6. The caller holds mu.
func (t *Transport) isWorth(p *peer, w way) bool {
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
	return isBetter || len(p.links) < api.MaxPaths || w.iface != "" && t.rankOf(w.iface) < worst
}

// try dials a way and serves the path.
func (t *Transport) try(p *peer, w way, a *attempt) {
	began := t.options.Clock.Boot()
	conn, iface, err := t.dial(t.ctx, p.node, w, netip.Addr{}, api.PeerConn{Carries: api.ConnPackets, Protocol: api.Protocol})
	if err == nil {
		err = t.link(iface, p.node, w, conn)
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
	if t.options.Denied != nil {
		if errors.Is(err, native.ErrLocalNetwork) {
			t.options.Denied(w.to.String())
		} else if err == nil {
			t.options.Denied("")
		}
	}
	if err != nil {
		return nil, "", err
	}
	stop := context.AfterFunc(ctx, func() { raw.Close() })
	defer stop()
	secure := tls.Client(raw, t.dialling(node))
	if err = secure.HandshakeContext(ctx); err == nil {
		err = writeJSON(secure, first)
	}
	if err == nil && !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		raw.Close()
		return nil, "", err
	}
	if iface = w.iface; iface == "" {
		iface = only(own, localOf(raw))
	}
	return secure, iface, nil
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
