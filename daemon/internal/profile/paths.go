package profile

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology"
	"fulmen/native"
)

// aloneFor is how long a path must have been there before the node with the higher
// id measures it, because the other one does not tell of it.
const aloneFor = 30 * time.Second

// Recording is what a simulation records of this node's hardware, in one state of its
// world.
type Recording interface {
	// GPU is what is recorded of the GPU.
	GPU() (fp16TFLOPS float64, memoryBytesPerS int64, ok bool)
	// Path is what is recorded of a path.
	Path(path Path) (reading Reading, ok bool)
}

// PathsConfig is what [Paths] needs.
type PathsConfig struct {
	Node  api.NodeID
	Clock native.Clock
	// Graph is the graph as it was drawn last, and its number; 0 before the first.
	Graph func() (topology.Graph, uint64)
	// Build makes the graph of the documents as they are now.
	Build func() topology.Graph
	// Members lists the cluster's nodes.
	Members func() []api.NodeID
	// Probes counts the tests over RDMA of an end since its Mac started.
	Probes func(api.LinkEnd) int
	// Aged is called when a path is old enough for this node to measure it.
	Aged func()
	// Record reads what a simulation records, with its graph; nil where nothing is
	// simulated.
	Record func(topology.Graph) Recording
	// Loopback is the interface of the real machine below a simulated one, which the
	// first Mac of the cluster measures, and LoopbackAddress its address.
	Loopback        string
	LoopbackAddress netip.Addr
}

// Paths are the ways that this node measures.
type Paths struct {
	cfg PathsConfig

	mu     sync.Mutex
	number uint64 // of the graph that paths were made of
	isOld  bool   // a path has come of age
	paths  []Path
	// recording is of the world as it was with that graph.
	recording Recording
	first     map[string]time.Duration // since when paths are there that nobody else tells of
}

// NewPaths lists the ways of the graphs that are drawn.
func NewPaths(c PathsConfig) *Paths {
	return &Paths{cfg: c, recording: nothing{}, first: map[string]time.Duration{}}
}

// List lists them as they are now.
func (m *Paths) List() []Path {
	graph, number := m.cfg.Graph()
	m.mu.Lock()
	defer m.mu.Unlock()
	if number != m.number || m.isOld {
		m.number, m.isOld = number, false
		m.paths = m.makeLocked(graph)
	}
	return m.paths
}

// Look lists them by the documents as they are now, until the graph is drawn again.
func (m *Paths) Look() {
	graph := m.cfg.Build()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.paths = m.makeLocked(graph)
}

// Recorded is what the simulation records now.
func (m *Paths) Recorded() Recording {
	m.List() // of the newest graph
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.recording
}

// nothing is the recording before there is a graph.
type nothing struct{}

func (nothing) GPU() (fp16TFLOPS float64, memoryBytesPerS int64, ok bool) { return 0, 0, false }

func (nothing) Path(Path) (reading Reading, ok bool) { return reading, false }

// makeLocked lists the paths of a graph.
func (m *Paths) makeLocked(graph topology.Graph) []Path {
	if m.number == 0 {
		return nil // there is none yet
	}
	cables := map[api.LinkID]*api.Cable{}
	list := graph.Cables()
	for i := range list.Cables {
		if c := &list.Cables[i]; c.Link.Valid() {
			cables[c.Link] = c
		}
	}
	owned, isAlone := graph.Owned(m.cfg.Node)
	if m.cfg.Record != nil {
		m.recording = m.cfg.Record(graph)
	}
	var paths []Path
	for _, p := range owned {
		if p.State == api.PathFailed || p.Stale {
			continue
		}
		one := Path{
			Transport: api.TransportSocket, Peer: p.To, Interface: p.Interface, Source: p.Source, Sink: p.Address, Kind: p.Kind, Link: p.Link,
		}
		one.IsUnasked = !p.Expensive && isOwnNetwork(p.Kind) && (!isAlone[one.Name()] || m.isOfAgeLocked(one.Name()))
		if c := cables[p.Link]; c != nil {
			one.Negotiated, one.IsMuted = speedFrom(c, m.cfg.Node), c.Muted
		}
		if m.cfg.Record != nil {
			_, one.IsUnasked = m.recording.Path(one)
		}
		paths = append(paths, one)
	}
	joinWires(graph, owned, paths)
	paths = append(paths, m.overRDMA(list.Cables)...)
	if members := m.cfg.Members(); m.cfg.Record != nil && len(members) > 0 && slices.Min(members) == m.cfg.Node {
		// This machine's own loopback, on one Mac of the cluster, is measured really.
		paths = append(paths, Path{
			Transport: api.TransportSocket, Peer: m.cfg.Node, Interface: m.cfg.Loopback, Source: m.cfg.LoopbackAddress, Sink: m.cfg.LoopbackAddress,
			Kind: api.LinkLoopback, IsUnasked: true,
		})
	}
	return paths
}

// joinWires gives the first path of each pair of nodes that has several wires the others,
// with which it is measured together.
func joinWires(graph topology.Graph, owned []topology.Path, paths []Path) {
	at := func(p topology.Path) int {
		return slices.IndexFunc(paths, func(one Path) bool { return one.Peer == p.To && one.Sink == p.Address })
	}
	for _, wires := range graph.Wires(owned) {
		first := at(wires[0])
		for _, p := range wires[1:] {
			paths[first].Beside = append(paths[first].Beside, paths[at(p)])
		}
	}
}

// isOwnNetwork reports whether a path is measured unasked: a cable that nobody
// else shares, over sockets.
func isOwnNetwork(kind api.LinkKind) bool {
	switch kind {
	case api.LinkEthernet, api.LinkTB3, api.LinkTB4, api.LinkTB5:
		return true
	}
	return false
}

// isOfAgeLocked reports whether a path that nobody else tells of is there long
// enough; when it is, the profiler hears of it.
func (m *Paths) isOfAgeLocked(name string) bool {
	clock := m.cfg.Clock
	since, known := m.first[name]
	if !known {
		m.first[name] = clock.Boot()
		clock.AfterFunc(aloneFor, func() {
			m.mu.Lock()
			m.isOld = true
			m.mu.Unlock()
			m.cfg.Aged()
		})
		return false
	}
	return clock.Boot()-since >= aloneFor
}

// overRDMA are the cables that this node tests over RDMA: those that are ready.
func (m *Paths) overRDMA(cables []api.Cable) []Path {
	self := m.cfg.Node
	var paths []Path
	for _, c := range cables {
		if !c.Link.Valid() || c.Link.Low.Node != self || c.Link.High.Node == self || c.Stale {
			continue
		}
		one := Path{
			Transport: api.TransportRDMA, Peer: c.Link.High.Node, Link: c.Link, Kind: api.LinkRDMA, Negotiated: speedFrom(&c, self), IsMuted: c.Muted,
		}
		isThere := c.RDMA == api.RDMAReady
		if m.cfg.Record != nil {
			_, one.IsUnasked = m.recording.Path(one)
			isThere = isThere || one.IsUnasked
		} else {
			one.IsUnasked = m.cfg.Probes(c.Link.Low) < ManyProbes && m.cfg.Probes(c.Link.High) < ManyProbes
		}
		if isThere {
			paths = append(paths, one)
		}
	}
	return paths
}

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

// Path is a way to another node that this node measures.
type Path struct {
	// Transport is what carries the bytes; over RDMA there are only Peer and Link.
	Transport api.Transport
	// Peer is the other end.
	Peer api.NodeID
	// Interface is this node's, Source its address and Sink the peer's, with
	// this node's zone where it is link-local IPv6.
	Interface    string
	Source, Sink netip.Addr
	// Kind is what the path is made of.
	Kind api.LinkKind
	// Link is the cable, where the path is one, and Negotiated its speed from this
	// end, as far as known.
	Link       api.LinkID
	Negotiated *api.ThunderboltSpeed
	// Beside are other wires of its kind to the peer, which are measured together with it too.
	Beside []Path
	// Streams is how many connections at once filled it the last time; 0 = not known.
	Streams int
	// IsUnasked says that it may be measured although nobody asked for it.
	IsUnasked bool
	// IsMuted says that a person does not want to be warned about it.
	IsMuted bool
}

// Name is the name of the path's document.
func (p Path) Name() string {
	if p.Transport == api.TransportRDMA {
		return p.Link.String()
	}
	return api.PeerAddress{Peer: p.Peer, Address: p.Sink}.String()
}

// Reading is what a measurement of a path gave; what is nil was not measured.
type Reading struct {
	UpBitsPerS, DownBitsPerS   *int64
	RTTUS, JitterUS, LossRatio *float64
	RTTSamples, Streams        int
	MovedBytes                 int64
	// Together is what the path gave with those beside it.
	Together *api.LinkTogether
	// Sizes are the results by message size; over RDMA only.
	Sizes []api.SizeResult
}

// isEmpty reports whether nothing was measured at all.
func (r Reading) isEmpty() bool {
	return r.UpBitsPerS == nil && r.DownBitsPerS == nil && r.RTTUS == nil
}

// Probe measures a path over sockets, with the long measurement or the short one.
// The error is an *api.Error; beside one there may be a part of a reading.
type Probe func(ctx context.Context, id api.MeasureID, path Path, full bool, progress func(step string, done float64)) (Reading, error)

// ProbeRDMA tests and measures a cable over RDMA. The error is an *api.Error:
// rdma_probe_failed where the test ran and failed.
type ProbeRDMA func(ctx context.Context, id api.MeasureID, path Path, progress func(step string, done float64)) (Reading, error)

// stamp is when something happened, as documents have it and on the clock that
// nobody sets.
type stamp struct {
	at   api.Time
	boot time.Duration
}

// agoLocked is how long ago something that a document dates happened. What this
// daemon has dated itself does not depend on the wall clock.
func (p *Profiler) agoLocked(key api.Key, at api.Time) time.Duration {
	if s := p.stamps[key]; !s.at.IsZero() && s.at.Equal(at.Time) {
		return p.cfg.Clock.Boot() - s.boot
	}
	return p.cfg.Clock.Now().Sub(at.Time)
}

// dateLocked is now, for a document.
func (p *Profiler) dateLocked(key api.Key) api.Time {
	at := p.now()
	p.stamps[key] = stamp{at, p.cfg.Clock.Boot()}
	return at
}
