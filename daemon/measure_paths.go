package daemon

import (
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/profile"
	"fulmen/daemon/internal/topology"
)

// aloneFor is how long a path must have been there before the node with the higher
// id measures it, because the other one does not tell of it.
const aloneFor = 30 * time.Second

// loopbackInterface is the machine's own.
var loopbackInterface = map[bool]string{true: "lo0", false: "lo"}[runtime.GOOS == "darwin"]

// measured are the paths that this node measures.
type measured struct {
	daemon *daemon

	mu     sync.Mutex
	number uint64 // of the graph that paths were made of
	isOld  bool   // a path has come of age
	paths  []profile.Path
	// recorded is what the scenario records, as the world was with that graph; nil
	// where nothing is simulated, or there is no graph yet.
	recorded *recorded
	first    map[string]time.Duration // since when paths are there that nobody else tells of
}

// list is the profiler's.
func (m *measured) list() []profile.Path {
	graph, number := m.daemon.graph.latest()
	m.mu.Lock()
	defer m.mu.Unlock()
	if number != m.number || m.isOld {
		m.number, m.isOld = number, false
		m.paths = m.make(graph)
	}
	return m.paths
}

// recordings is what the scenario records now; nil where that is not known yet.
func (m *measured) recordings() *recorded {
	m.list() // of the newest graph
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.recorded
}

// make lists the paths of a graph; the caller holds mu.
func (m *measured) make(graph topology.Graph) []profile.Path {
	if m.number == 0 {
		return nil // there is none yet
	}
	d := m.daemon
	cables := map[api.LinkID]*api.Cable{}
	list := graph.List()
	for i := range list.Cables {
		if c := &list.Cables[i]; c.Link.Valid() {
			cables[c.Link] = c
		}
	}
	owned, isAlone := graph.Owned(d.identity.Node)
	if d.options.Simulation != nil {
		m.recorded = d.recorded(graph)
	}
	var paths []profile.Path
	for _, p := range owned {
		if p.State == api.PathFailed || p.Stale {
			continue
		}
		one := profile.Path{
			Transport: api.TransportSocket, Peer: p.To, Interface: p.Interface, Source: p.Source, Sink: p.Address, Kind: p.Kind, Link: p.Link,
		}
		one.IsUnasked = !p.Expensive && isOwnNetwork(p.Kind) && (!isAlone[one.Name()] || m.isOfAge(one.Name()))
		if c := cables[p.Link]; c != nil {
			one.Negotiated, one.IsMuted = speedFrom(c, d.identity.Node), c.Muted
		}
		if d.options.Simulation != nil {
			_, one.IsUnasked = m.recorded.path(one)
		}
		paths = append(paths, one)
	}
	paths = append(paths, m.overRDMA(list.Cables)...)
	if members := d.roster.Members(); d.options.Simulation != nil && len(members) > 0 && slices.Min(members) == d.identity.Node {
		// This machine's own loopback, on one Mac of the cluster, is measured really.
		paths = append(paths, profile.Path{
			Transport: api.TransportSocket, Peer: d.identity.Node, Interface: loopbackInterface, Source: loopback(), Sink: loopback(),
			Kind: api.LinkLoopback, IsUnasked: true,
		})
	}
	return paths
}

// isOwnNetwork reports whether a path is measured unasked: a cable that nobody
// else shares.
func isOwnNetwork(kind api.LinkKind) bool {
	switch kind {
	case api.LinkEthernet, api.LinkTB3, api.LinkTB4, api.LinkTB5:
		return true
	}
	return false
}

// isOfAge reports whether a path that nobody else tells of is there long enough;
// when it is, the profiler hears of it. The caller holds mu.
func (m *measured) isOfAge(name string) bool {
	clock := m.daemon.platform.Clock
	since, known := m.first[name]
	if !known {
		m.first[name] = clock.Boot()
		clock.AfterFunc(aloneFor, func() {
			m.mu.Lock()
			m.isOld = true
			m.mu.Unlock()
			m.daemon.recheckMeasurements()
		})
		return false
	}
	return clock.Boot()-since >= aloneFor
}

// overRDMA are the cables that this node tests over RDMA: those that are ready.
func (m *measured) overRDMA(cables []api.Cable) []profile.Path {
	d, self := m.daemon, m.daemon.identity.Node
	var paths []profile.Path
	for _, c := range cables {
		if !c.Link.Valid() || c.Link.Low.Node != self || c.Link.High.Node == self || c.Stale {
			continue
		}
		one := profile.Path{
			Transport: api.TransportRDMA, Peer: c.Link.High.Node, Link: c.Link, Kind: api.LinkRDMA, Negotiated: speedFrom(&c, self), IsMuted: c.Muted,
		}
		isThere := c.RDMA == api.RDMAReady
		if d.options.Simulation != nil {
			_, one.IsUnasked = m.recorded.path(one)
			isThere = isThere || one.IsUnasked
		} else {
			one.IsUnasked = d.probesOf(c.Link.Low) < manyProbes && d.probesOf(c.Link.High) < manyProbes
		}
		if isThere {
			paths = append(paths, one)
		}
	}
	return paths
}

// loopback is the machine's own address.
func loopback() netip.Addr { return netip.AddrFrom4([4]byte{127, 0, 0, 1}) }

// speedFrom is a cable's speed as a node at one end has it; nil where it is not known.
func speedFrom(c *api.Cable, node api.NodeID) *api.ThunderboltSpeed {
	if c.ForwardBitsPerS == nil || c.BackwardBitsPerS == nil {
		return nil
	}
	speed := api.ThunderboltSpeed{TxBitsPerS: *c.ForwardBitsPerS, RxBitsPerS: *c.BackwardBitsPerS}
	if c.Link.Low.Node != node {
		speed.TxBitsPerS, speed.RxBitsPerS = speed.RxBitsPerS, speed.TxBitsPerS
	}
	return &speed
}
