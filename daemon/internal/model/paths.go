package model

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/model/multipath"
	"fulmen/native"
)

// Way is a path to another Mac that is live.
type Way struct {
	// At is the address of the other Mac.
	At netip.Addr
	// Kind is what it is made of.
	Kind api.LinkKind
	// IsBeside says that it is one of several cables that carry their traffic beside each other.
	IsBeside bool
}

// part is a copy that a Mac sends: for whom, and what its receiver calls it.
type part struct {
	node api.NodeID
	by   api.Principal
	copy string
}

// joined is the connection of a copy of which a first path has come, until end; nil where
// this is one more of its paths, which has ended then.
func (m *Models) joined(to gate.Reader, first *api.PeerModel, conn net.Conn, isRefused bool) (c *multipath.Conn, end func()) {
	of := part{to.Node(), to.By(), first.Copy}
	m.mu.Lock()
	known := m.served[of]
	if known == nil && !first.Joins {
		c = multipath.New(m.cfg.Clock)
		m.served[of] = c
	}
	m.mu.Unlock()
	switch {
	case c != nil:
		c.Add(conn, remoteOf(conn))
	case known != nil && first.Joins && !isRefused:
		<-known.Add(conn, remoteOf(conn))
	}
	return c, func() {
		if c != nil {
			m.mu.Lock()
			delete(m.served, of)
			m.mu.Unlock()
			c.Close()
		}
	}
}

// remoteOf is the address of the other end; not valid where it has none.
func remoteOf(conn net.Conn) netip.Addr {
	if at, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		return at.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}

const (
	// lookForPathsEvery is how often a copy looks whether there are paths that it does not use.
	lookForPathsEvery = time.Second
	// dialsApart is the pause between dials of what ends at once.
	dialsApart = 100 * time.Millisecond
)

// dial opens the connection of a copy, which goes over all cables that carry their traffic
// beside each other, those among them that are plugged in later; else over the best path.
func (c *Copying) dial(ctx context.Context, node api.NodeID, model api.PeerModel, overAny bool) (*multipath.Conn, error) {
	m := c.models
	first, err := m.cfg.Peers.Stream(ctx, node, api.PeerConn{Carries: api.ConnModel, Model: &model})
	if err != nil {
		return nil, err
	}
	over := multipath.New(m.cfg.Clock)
	over.Add(first, remoteOf(first))
	c.over = over
	more := model
	more.Joins = true
	open := api.PeerConn{Carries: api.ConnModel, Model: &more}
	go func() {
		for isFirst := true; isFirst || native.Wait(ctx, m.cfg.Clock, lookForPathsEvery, over.Lost) && native.Pause(ctx, m.cfg.Clock, dialsApart); isFirst = false {
			ways := m.cfg.Ways(node)
			for _, w := range missing(over, ways) {
				if conn, err := m.cfg.Peers.StreamOver(ctx, node, w.At, open); err == nil { // else the next time
					over.Add(conn, w.At)
				}
			}
			if len(over.Paths()) == 0 && (overAny || !m.cfg.IsSlow(node)) {
				if conn, err := m.cfg.Peers.Stream(ctx, node, open); err == nil {
					over.Add(conn, remoteOf(conn))
				}
			}
			dropWorse(over, ways)
		}
	}()
	return over, nil
}

// missing are the ways that a copy is to use and does not.
func missing(over *multipath.Conn, ways []Way) []Way {
	used := over.Paths()
	return slices.DeleteFunc(slices.Clone(ways), func(w Way) bool {
		return !w.IsBeside || slices.ContainsFunc(used, func(p multipath.Path) bool { return p.At == w.At })
	})
}

// dropWorse ends the paths of a copy that are none of the cables, where it has one of these,
// or that are no longer live, where it has one that is.
func dropWorse(over *multipath.Conn, ways []Way) {
	used := over.Paths()
	for _, isGood := range []func(Way) bool{func(w Way) bool { return w.IsBeside }, func(Way) bool { return true }} {
		isWorse := func(p multipath.Path) bool {
			return !slices.ContainsFunc(ways, func(w Way) bool { return w.At == p.At && isGood(w) })
		}
		if worse := slices.DeleteFunc(slices.Clone(used), func(p multipath.Path) bool { return !isWorse(p) }); len(worse) < len(used) {
			for _, p := range worse {
				over.Drop(p.At)
			}
			return
		}
	}
}

// kinds are those of the paths that carry the copy now.
func (c *Copying) kinds() (kinds []api.LinkKind) {
	if c.over == nil {
		return nil
	}
	ways := c.models.cfg.Ways(c.now.From)
	for _, p := range c.over.Paths() {
		kind := api.LinkUnknown
		if i := slices.IndexFunc(ways, func(w Way) bool { return w.At == p.At }); i >= 0 {
			kind = ways[i].Kind
		}
		kinds = append(kinds, kind)
	}
	return kinds
}
