package topology

import (
	"crypto/ed25519"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"fulmen/daemon/api"
)

const gigabit = 1_000_000_000

// testIDs are the ids of made-up nodes, in order.
var testIDs = sync.OnceValue(func() []api.NodeID {
	ids := make([]api.NodeID, 16)
	for n := range ids {
		seed := fmt.Sprintf("%0*d", ed25519.SeedSize, n)
		ids[n] = api.NodeIDFromKey(ed25519.NewKeyFromSeed([]byte(seed)).Public().(ed25519.PublicKey))
	}
	slices.Sort(ids)
	return ids
})

func testID(n int) api.NodeID { return testIDs()[n] }

// testUUID is the domain of a receptacle of a made-up node.
func testUUID(n, portNumber int) string {
	return fmt.Sprintf("%08X-0000-4000-8000-%012X", n+1, portNumber)
}

// testNode is a node without documents, called mac-N.
func testNode(n int) Node {
	return Node{ID: testID(n), ShortName: fmt.Sprintf("mac-%d", n), Network: &api.Network{}}
}

// both is a speed that is the same each way, in Gb/s.
func both(gb int64) *api.ThunderboltSpeed { return speedOf(gb, gb) }

// speedOf is a speed in Gb/s with the generation that Macs tell of it.
func speedOf(tx, rx int64) *api.ThunderboltSpeed {
	s := &api.ThunderboltSpeed{TxBitsPerS: tx * gigabit, RxBitsPerS: rx * gigabit, Generation: api.Thunderbolt4}
	if max(tx, rx) > 40 {
		s.Generation = api.Thunderbolt5
	}
	return s
}

// testPort is a Thunderbolt 5 receptacle of node n with interface en(r+2).
func testPort(n, r int, speed *api.ThunderboltSpeed, peers ...api.ThunderboltPeer) Port {
	connected := len(peers) > 0
	return Port{Thunderbolt: api.Thunderbolt{
		PortNumber: api.PortNumber(r), DomainUUID: testUUID(n, r), Capability: api.Thunderbolt5,
		Interface: fmt.Sprintf("en%d", r+2), Connected: &connected, Negotiated: speed, Peers: peers,
	}}
}

// testPeer is receptacle r of node n, as another sees it.
func testPeer(n, r int) api.ThunderboltPeer {
	return api.ThunderboltPeer{DomainUUID: testUUID(n, r), Name: fmt.Sprintf("Mac %d", n)}
}

// behind is a peer that hangs on a hub.
func behind(p api.ThunderboltPeer, route string, speed *api.ThunderboltSpeed) api.ThunderboltPeer {
	p.Hub, p.Negotiated = route, speed
	return p
}

// testHub is a hub of a tree.
func testHub(route, parent, name string, speed *api.ThunderboltSpeed) api.ThunderboltHub {
	return api.ThunderboltHub{Route: route, Parent: parent, Name: name, Negotiated: speed}
}

// plug joins two receptacles directly, and gives both an active RDMA device and
// an address in a network of its own.
func plug(nodes []Node, a, ar, b, br int, speed int64) {
	for _, e := range [][4]int{{a, ar, b, br}, {b, br, a, ar}} {
		n := &nodes[e[0]]
		p := testPort(e[0], e[1], both(speed), testPeer(e[2], e[3]))
		n.Thunderbolt = append(n.Thunderbolt, p)
		n.RDMA = append(n.RDMA, testRDMA(e[1], plugAddress(e[0], e[1])))
		addInterface(n, api.Interface{Name: p.Interface, Type: api.InterfaceThunderbolt, Up: true,
			PortNumber: p.PortNumber, Addresses: addresses(plugAddress(e[0], e[1]))})
	}
}

// plugAddress is the address that plug gives a receptacle.
func plugAddress(n, r int) string { return fmt.Sprintf("169.254.%d.%d", n+1, r) }

// testRDMA is a receptacle that is ready for RDMA.
func testRDMA(r int, address string) api.RDMA {
	yes := true
	return api.RDMA{PortNumber: api.PortNumber(r), HardwareCapable: &yes, OSCapable: &yes, SwitchedOn: &yes,
		Device: &api.RDMADevice{Name: fmt.Sprintf("rdma_en%d", r+2), PortState: api.RDMAPortActive,
			GIDs: []api.GID{{Index: 1, Address: netip.MustParseAddr("::ffff:" + address)}}}}
}

func addInterface(n *Node, i api.Interface) {
	n.Network.Interfaces = append(n.Network.Interfaces, i)
}

func addresses(all ...string) []api.InterfaceAddress {
	var out []api.InterfaceAddress
	for _, a := range all {
		addr := netip.MustParseAddr(a)
		out = append(out, api.InterfaceAddress{Address: netip.PrefixFrom(addr, addr.BitLen()/2)})
	}
	return out
}

// testReach is a live path from one node to an address of another.
func testReach(to int, address, iface string) api.Reach {
	return api.Reach{Peer: testID(to), Address: netip.MustParseAddr(address), Interface: iface,
		Kind: api.LinkUnknown, State: api.PathActive}
}

// summary is a cable in one line: ends, kind, speeds in Gb/s, verdict, reasons.
func summary(c api.Cable) string {
	var ends []string
	for _, e := range c.Ends {
		name := "?"
		if n := slices.Index(testIDs(), e.End.Node); n >= 0 {
			name = fmt.Sprint(n)
		}
		ends = append(ends, name+":"+e.End.PortNumber.String())
	}
	if c.PeerName != "" {
		ends = append(ends, c.PeerName)
	}
	speed := "?"
	if c.ForwardBitsPerS != nil && c.BackwardBitsPerS != nil {
		speed = fmt.Sprintf("%d/%d", *c.ForwardBitsPerS/gigabit, *c.BackwardBitsPerS/gigabit)
	}
	words := []string{strings.Join(ends, "~"), string(c.Kind), speed, string(c.Verdict)}
	for _, r := range c.Reasons {
		words = append(words, string(r))
	}
	if len(c.Hubs) > 0 {
		words = append(words, "via "+strings.Join(c.Hubs, ","))
	}
	if c.OneSided {
		words = append(words, "one-sided")
	}
	if c.Stale {
		words = append(words, "stale")
	}
	return strings.Join(words, " ")
}
