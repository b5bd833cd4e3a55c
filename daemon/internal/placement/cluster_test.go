package placement

import (
	"crypto/ed25519"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology"
)

const gigabit = 1_000_000_000

// scenarioIDs are the ids of made-up nodes, ascending.
var scenarioIDs = sync.OnceValue(func() []api.NodeID {
	ids := make([]api.NodeID, 40)
	for n := range ids {
		seed := fmt.Sprintf("%0*d", ed25519.SeedSize, n)
		ids[n] = api.NodeIDFromKey(ed25519.NewKeyFromSeed([]byte(seed)).Public().(ed25519.PublicKey))
	}
	slices.Sort(ids)
	return ids
})

// wire is a cable between two made-up nodes, at the next free receptacle of each.
type wire struct {
	a, b     int
	gigabits int64
	// ready says that RDMA is switched on there.
	ready bool
	// hubA says that it shares the receptacle of its first node with the others that do.
	hubA bool
	// rdma and tcp are measured speeds in Gb/s; 0 = not measured.
	rdma, tcp int64
}

func (w wire) generation() api.ThunderboltGeneration {
	if w.gigabits > 40 {
		return api.Thunderbolt5
	}
	return api.Thunderbolt4
}

// scenario is a made-up cluster.
type scenario struct {
	nodes []Node
	wires []wire
	// lan says which nodes are on a network, at 10 Gb/s, and whether it is trusted.
	lan     []bool
	trusted bool
	// lanTCP is its measured speed in Gb/s; 0 = not measured.
	lanTCP int64
}

// newScenario is so many nodes, all alike, without cables, on a network that is not
// trusted.
func newScenario(n int) *scenario {
	d := &scenario{nodes: make([]Node, n), lan: slices.Repeat([]bool{true}, n)}
	for i := range d.nodes {
		d.nodes[i] = Node{ID: scenarioIDs()[i], ShortName: fmt.Sprintf("mac-%d", i), Reached: true, WorkingSetBytes: new(int64(100 << 30)), FP16TFLOPS: new(20.0)}
	}
	return d
}

// plug adds a cable that is ready for RDMA.
func (d *scenario) plug(a, b int, gigabits int64) *scenario {
	d.wires = append(d.wires, wire{a: a, b: b, gigabits: gigabits, ready: true})
	return d
}

// meshed joins every two nodes.
func (d *scenario) meshed(gigabits func(a, b int) int64) *scenario {
	for a := range d.nodes {
		for b := a + 1; b < len(d.nodes); b++ {
			d.plug(a, b, gigabits(a, b))
		}
	}
	return d
}

// input is the desk with a spec, the nodes and what they tell in any order.
func (d *scenario) input(p api.Placement, r *rand.Rand) Input {
	known := make([]topology.Node, len(d.nodes))
	portNumber := make([]int, len(d.nodes))
	yes := true
	for i := range known {
		known[i] = topology.Node{ID: d.nodes[i].ID, ShortName: d.nodes[i].ShortName, Network: &api.Network{}, Stale: !d.nodes[i].Reached}
		if d.lan[i] {
			known[i].Network.Interfaces = append(known[i].Network.Interfaces, api.Interface{Name: "en0", Type: api.InterfaceEthernet, Up: true,
				SpeedBitsPerS: new(int64(10 * gigabit)), Addresses: []api.InterfaceAddress{{Address: lanPrefix(i)}}})
		}
	}
	for i := range known {
		for j := range known {
			if i != j && d.lan[i] && d.lan[j] {
				known[i].Reach = append(known[i].Reach, reachOf(d.nodes[j].ID, lanPrefix(j).Addr(), "en0", lanPrefix(i).Addr()))
				if d.lanTCP > 0 {
					p := api.LinkProfile{Peer: d.nodes[j].ID, Transport: api.TransportSocket, Sink: lanPrefix(j).Addr(),
						UpBitsPerS: new(d.lanTCP * gigabit), DownBitsPerS: new(d.lanTCP * gigabit), MeasuredAt: scenarioTime}
					known[i].Profiles = append(known[i].Profiles, topology.Profile{Name: string(p.Peer) + "/" + p.Sink.String(), LinkProfile: p})
				}
			}
		}
	}
	for _, w := range d.wires {
		if !w.hubA || portNumber[w.a] == 0 {
			portNumber[w.a]++
		}
		portNumber[w.b]++
		ends := [2]scenarioEnd{{w.a, portNumber[w.a]}, {w.b, portNumber[w.b]}}
		for side, e := range ends {
			far, n := ends[1-side], &known[e.node]
			n.Reach = append(n.Reach, reachOf(d.nodes[far.node].ID, far.address(), e.iface(), e.address()))
			if i := slices.IndexFunc(n.Thunderbolt, func(p topology.Port) bool { return p.PortNumber == api.PortNumber(e.portNumber) }); i >= 0 {
				n.Thunderbolt[i].Peers = append(n.Thunderbolt[i].Peers, api.ThunderboltPeer{DomainUUID: far.uuid()})
				continue
			}
			n.Thunderbolt = append(n.Thunderbolt, topology.Port{Thunderbolt: api.Thunderbolt{
				PortNumber: api.PortNumber(e.portNumber), DomainUUID: e.uuid(), Capability: api.Thunderbolt5, Interface: e.iface(), Connected: &yes,
				Negotiated: &api.ThunderboltSpeed{TxBitsPerS: w.gigabits * gigabit, RxBitsPerS: w.gigabits * gigabit, Generation: w.generation()},
				Peers:      []api.ThunderboltPeer{{DomainUUID: far.uuid()}},
			}})
			n.RDMA = append(n.RDMA, api.RDMA{PortNumber: api.PortNumber(e.portNumber), HardwareCapable: &yes, OSCapable: &yes, SwitchedOn: &w.ready,
				Device: &api.RDMADevice{Name: "rdma_" + e.iface(), PortState: api.RDMAPortActive, GIDs: []api.GID{{Index: 1, Address: netip.MustParseAddr("::ffff:" + e.address().String())}}}})
			n.Network.Interfaces = append(n.Network.Interfaces, api.Interface{Name: e.iface(), Type: api.InterfaceThunderbolt, Up: true,
				PortNumber: api.PortNumber(e.portNumber), Addresses: []api.InterfaceAddress{{Address: netip.PrefixFrom(e.address(), 16)}}})
		}
		near := &known[w.a]
		link, _ := api.NewLinkID(ends[0].link(d), ends[1].link(d))
		peer := d.nodes[w.b].ID
		profile := api.LinkProfile{Peer: peer, Link: link, MeasuredAt: api.Time{}}
		if w.rdma > 0 {
			p := profile
			p.Transport, p.UpBitsPerS, p.DownBitsPerS = api.TransportRDMA, new(w.rdma*gigabit), new(w.rdma*gigabit)
			p.MeasuredAt = scenarioTime
			near.Profiles = append(near.Profiles, topology.Profile{Name: link.String(), LinkProfile: p})
		}
		if w.tcp > 0 {
			p := profile
			p.Transport, p.Sink, p.UpBitsPerS, p.DownBitsPerS = api.TransportSocket, ends[1].address(), new((w.tcp+1)*gigabit), new(w.tcp*gigabit)
			p.MeasuredAt = scenarioTime
			near.Profiles = append(near.Profiles, topology.Profile{Name: string(peer) + "/" + p.Sink.String(), LinkProfile: p})
		}
	}
	nodes := slices.Clone(d.nodes)
	for i := range nodes {
		nodes[i].Network = known[i].Network
	}
	shuffle := func(n int, swap func(i, j int)) {
		if r != nil {
			r.Shuffle(n, swap)
		}
	}
	shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	shuffle(len(known), func(i, j int) { known[i], known[j] = known[j], known[i] })
	for i := range known {
		n := &known[i]
		shuffle(len(n.Reach), func(i, j int) { n.Reach[i], n.Reach[j] = n.Reach[j], n.Reach[i] })
		shuffle(len(n.Thunderbolt), func(i, j int) { n.Thunderbolt[i], n.Thunderbolt[j] = n.Thunderbolt[j], n.Thunderbolt[i] })
	}
	spec := api.JobRequest{Placement: p}.Spec("j00000001", api.Principal{User: "ada", Node: d.nodes[0].ID}, api.Time{})
	in := Input{Spec: spec, Nodes: nodes, Graph: topology.Build(topology.Input{Nodes: known})}
	if d.trusted {
		in.Trusted = []netip.Prefix{lanPrefix(0).Masked()}
	}
	return in
}

var scenarioTime = func() api.Time {
	var t api.Time
	if err := t.UnmarshalText([]byte("2026-11-21T12:00:00.000Z")); err != nil {
		panic(err)
	}
	return t
}()

func lanPrefix(i int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 168, 7, byte(i + 1)}), 24)
}

func reachOf(peer api.NodeID, address netip.Addr, iface string, source netip.Addr) api.Reach {
	return api.Reach{Peer: peer, Address: address, Interface: iface, Source: source, Kind: api.LinkUnknown, State: api.PathActive}
}

// scenarioEnd is where a wire ends.
type scenarioEnd struct{ node, portNumber int }

func (e scenarioEnd) uuid() string {
	return fmt.Sprintf("%08X-0000-4000-8000-%012X", e.node+1, e.portNumber)
}
func (e scenarioEnd) iface() string { return fmt.Sprintf("en%d", e.portNumber+2) }
func (e scenarioEnd) address() netip.Addr {
	return netip.AddrFrom4([4]byte{169, 254, byte(e.node + 1), byte(e.portNumber)})
}
func (e scenarioEnd) link(d *scenario) api.LinkEnd {
	return api.LinkEnd{Node: d.nodes[e.node].ID, PortNumber: api.PortNumber(e.portNumber)}
}

// randomScenario is a cluster by a seed, of 1 to most nodes.
func randomScenario(r *rand.Rand, most int) *scenario {
	d := newScenario(1 + r.IntN(most))
	d.trusted = r.IntN(3) == 0
	speeds := []int64{20, 40, 80, 80, 88, 120}
	density := 1 + r.IntN(6)
	for i := range d.nodes {
		n := &d.nodes[i]
		d.lan[i] = r.IntN(8) > 0
		n.Reached = r.IntN(10) > 0
		n.FP16TFLOPS = []*float64{nil, new(10.0), new(20.0)}[r.IntN(3)]
		n.WorkingSetBytes = new(int64(20+10*r.IntN(4)) << 30)
		if r.IntN(6) == 0 {
			n.MLX.Version = []string{"0.32.3", "0.32.4", "0.33.0"}[r.IntN(3)]
		}
		if r.IntN(10) == 0 {
			n.Refusal = api.ReasonJobsNotShared
		}
	}
	for a := range d.nodes {
		for b := a + 1; b < len(d.nodes); b++ {
			for range 3 {
				if r.IntN(8) < density {
					w := wire{a: a, b: b, gigabits: speeds[r.IntN(len(speeds))], ready: r.IntN(6) > 0}
					if r.IntN(3) == 0 {
						w.rdma, w.tcp = 10+int64(r.IntN(80)), 1+int64(r.IntN(60))
					}
					d.wires = append(d.wires, w)
				}
			}
		}
	}
	return d
}

// strain has some of the Macs suffer from something.
func (d *scenario) strain(r *rand.Rand) {
	for i := range d.nodes {
		if all := strains(); r.IntN(6) == 0 {
			d.nodes[i].Strain = all[r.IntN(len(all))]
		}
	}
}

// randomPlacement is what somebody could want of a desk.
func randomPlacement(r *rand.Rand, d *scenario) api.Placement {
	any := func() api.NodeID { return d.nodes[r.IntN(len(d.nodes))].ID }
	p := api.Placement{Backend: []api.Backend{api.BackendAuto, api.BackendJACCL, api.BackendJACCLRing, api.BackendRing}[r.IntN(4)]}
	if r.IntN(2) == 0 {
		p.Ranks = 1 + r.IntN(len(d.nodes))
	} else {
		p.MinNodes = 1 + r.IntN(len(d.nodes))
		p.MaxNodes = p.MinNodes + r.IntN(3)
	}
	if r.IntN(4) == 0 {
		p.Rank0 = any()
	}
	if r.IntN(4) == 0 {
		p.Nodes = []api.NodeID{any()}
	}
	if r.IntN(4) == 0 {
		p.ExcludedNodes = []api.NodeID{any()}
	}
	if r.IntN(3) == 0 {
		p.MemoryBytes = int64(10+10*r.IntN(4)) << 30
	}
	if r.IntN(5) == 0 {
		p.Networks = []string{"192.168.7.0/24"}
	}
	return p
}
