package topology

import (
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// parsedHostfile is a host file as MLX reads it.
type parsedHostfile struct {
	Backend string
	Hosts   []struct {
		SSH  string
		IPs  []string
		RDMA []any
	}
}

func parseHostfile(t *testing.T, text string) parsedHostfile {
	t.Helper()
	var f parsedHostfile
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return f
}

func TestRingListensWhereTheRankBeforeReaches(t *testing.T) {
	is := is.New(t)
	g := Build(Input{Nodes: meshed(3, 2)})
	text, notes, err := g.Hostfile([]api.NodeID{testID(0), testID(2), testID(1)}, api.BackendRing)
	is.NoErr(err)
	is.Equal(len(notes), 0)
	f := parseHostfile(t, text)
	is.Equal(f.Backend, "ring")
	// Receptacles of j towards i are 1+i and 4+i; before 0 is 1, before 2 is 0, before 1 is 2.
	is.Equal(f.Hosts[0].SSH, "mac-0")
	is.Equal(f.Hosts[0].IPs, []string{plugAddress(0, 2), plugAddress(0, 5)})
	is.Equal(f.Hosts[1].SSH, "mac-2")
	is.Equal(f.Hosts[1].IPs, []string{plugAddress(2, 1), plugAddress(2, 4)})
	is.Equal(f.Hosts[2].SSH, "mac-1")
	is.Equal(f.Hosts[2].IPs, []string{plugAddress(1, 3), plugAddress(1, 6)})
}

// dropReach removes the paths of a node to a peer that keep does not keep.
func dropReach(n *Node, peer api.NodeID, keep func(api.Reach) bool) {
	var kept []api.Reach
	for _, r := range n.Reach {
		if r.Peer != peer || keep(r) {
			kept = append(kept, r)
		}
	}
	n.Reach = kept
}

func none(api.Reach) bool { return false }

func onLAN(r api.Reach) bool { return strings.HasPrefix(r.Address.String(), "10.") }

func TestRingHasAsManyAddressesEverywhere(t *testing.T) {
	is := is.New(t)
	nodes := meshed(3, 2)
	dropReach(&nodes[0], testID(1), func(r api.Reach) bool { return r.Address.String() == plugAddress(1, 1) })
	text, _, err := Build(Input{Nodes: nodes}).Hostfile(nil, api.BackendRing)
	is.NoErr(err)
	for _, h := range parseHostfile(t, text).Hosts {
		is.Equal(len(h.IPs), 1)
	}
}

func TestRingUsesOtherNetworksOnlyWhereTrusted(t *testing.T) {
	is := is.New(t)
	build := func(trusted ...netip.Prefix) (string, []api.Cause, error) {
		nodes := meshed(3, 1)
		dropReach(&nodes[0], testID(1), onLAN)
		dropReach(&nodes[1], testID(0), onLAN)
		g := Build(Input{Nodes: nodes})
		g.Trusted = trusted
		return g.Hostfile(nil, api.BackendRing)
	}
	for _, trusted := range [][]netip.Prefix{nil, {netip.MustParsePrefix("10.1.0.0/16")}} { // none, and another
		_, _, err := build(trusted...)
		is.True(errors.Is(err, api.ReasonNoPath))
		is.Equal(causeLine(err), "network_not_trusted")
	}
	text, notes, err := build(netip.MustParsePrefix("10.0.0.0/8"))
	is.NoErr(err)
	is.Equal(len(notes), 1) // of the two without a cable
	is.Equal(notes[0].Reason, api.ReasonUnencrypted)
	is.Equal(notes[0].Subject, string(testID(0))+"~"+string(testID(1)))
	hosts := parseHostfile(t, text).Hosts
	is.Equal(hosts[1].IPs, []string{lanAddress(1)})
	is.Equal(hosts[2].IPs, []string{plugAddress(2, 2)}) // Thunderbolt first, no more than the others have
}

func TestRingTakesTheOtherEndsWord(t *testing.T) {
	is := is.New(t)
	nodes := meshed(2, 1)
	dropReach(&nodes[0], testID(1), none)
	for i := range nodes[1].Reach {
		if !onLAN(nodes[1].Reach[i]) {
			nodes[1].Reach[i].Source = netip.MustParseAddr(plugAddress(1, 1))
		}
	}
	text, notes, err := Build(Input{Nodes: nodes}).Hostfile(nil, api.BackendRing)
	is.NoErr(err)
	is.Equal(parseHostfile(t, text).Hosts[1].IPs, []string{plugAddress(1, 1)})
	is.Equal(len(notes), 1)
	is.Equal(notes[0].Reason, api.ReasonSourcesDisagree)

	nodes[1].Reach = nil
	_, _, err = Build(Input{Nodes: nodes}).Hostfile(nil, api.BackendRing)
	is.Equal(causeLine(err), "no_path no_path")
}

func TestRingLeavesOutWhatIsNotLive(t *testing.T) {
	is := is.New(t)
	nodes := meshed(2, 1)
	for i := range nodes[0].Reach {
		nodes[0].Reach[i].State = api.PathFailed
	}
	_, _, err := Build(Input{Nodes: nodes}).Hostfile(nil, api.BackendRing)
	is.Equal(causeLine(err), "no_path")
	nodes[0].Stale = true
	_, _, err = Build(Input{Nodes: nodes}).Hostfile(nil, api.BackendRing)
	is.Equal(causeLine(err), "no_path no_path")
}

func TestCoordinatorIsReachedByAll(t *testing.T) {
	is := is.New(t)
	nodes := meshed(3, 1)
	text, _, err := Build(Input{Nodes: nodes}).Hostfile(nil, api.BackendJACCL)
	is.NoErr(err)
	f := parseHostfile(t, text)
	is.Equal(f.Backend, "jaccl")
	is.Equal(f.Hosts[0].IPs, []string{lanAddress(0)}) // the cables' addresses are for one peer each
	is.Equal(f.Hosts[1].IPs, []string{plugAddress(1, 1), lanAddress(1)})
	is.Equal(f.Hosts[2].RDMA, []any{"rdma_en3", "rdma_en4", nil})

	dropReach(&nodes[2], testID(0), func(r api.Reach) bool { return !onLAN(r) })
	_, _, err = Build(Input{Nodes: nodes}).Hostfile(nil, api.BackendJACCL)
	is.True(errors.Is(err, api.ReasonNoPath))
	is.Equal(api.AsError(err).Data.Causes[0].Subject, string(testID(2))+"~"+string(testID(0)))
	is.Equal(len(api.AsError(err).Data.Causes), 1)
}

func TestAutoSaysWhyThereIsNoRDMA(t *testing.T) {
	is := is.New(t)
	nodes := meshed(2, 1)
	nodes[1].RDMA[0].Device.PortState = api.RDMAPortDown
	text, notes, err := Build(Input{Nodes: nodes}).Hostfile(nil, api.BackendAuto)
	is.NoErr(err)
	is.Equal(parseHostfile(t, text).Backend, "ring")
	is.Equal([]api.Reason{notes[0].Reason, notes[1].Reason}, []api.Reason{api.ReasonRDMANotReady, api.ReasonRDMAPortDown})
}

func TestHostfileHasIPv4Only(t *testing.T) {
	is := is.New(t)
	nodes := meshed(2, 1)
	for n := range nodes {
		i := &nodes[n].Network.Interfaces[1] // the cable's
		i.Addresses = append(i.Addresses, addresses("fe80::1")...)
		nodes[n].Reach = append(nodes[n].Reach, testReach(1-n, "fe80::1%en3", i.Name))
	}
	for _, backend := range []api.Backend{api.BackendRing, api.BackendJACCL} {
		text, _, err := Build(Input{Nodes: nodes}).Hostfile(nil, backend)
		is.NoErr(err)
		is.True(!strings.Contains(text, "fe80"))
	}
}

// withLANs gives two Macs with a cable an interface more for each line: its name, type, and the
// first Mac's address.
func withLANs(cable bool, lines ...string) []Node {
	nodes := []Node{testNode(0), testNode(1)}
	if cable {
		nodes = meshed(2, 1)
		for i := range nodes {
			dropReach(&nodes[i], testID(1-i), none)
			nodes[i].Network.Interfaces = slices.DeleteFunc(nodes[i].Network.Interfaces, func(i api.Interface) bool { return i.Name == "en0" })
		}
	}
	for _, line := range lines {
		f := strings.Fields(line)
		own := netip.MustParsePrefix(f[2])
		for i := range nodes {
			at, far := own, own.Addr().Next()
			if i == 1 {
				at, far = netip.PrefixFrom(far, own.Bits()), own.Addr()
			}
			if k := slices.IndexFunc(nodes[i].Network.Interfaces, func(i api.Interface) bool { return i.Name == f[0] }); k >= 0 {
				nodes[i].Network.Interfaces[k].Addresses = append(nodes[i].Network.Interfaces[k].Addresses, api.InterfaceAddress{Address: at})
			} else {
				addInterface(&nodes[i], api.Interface{Name: f[0], Type: api.InterfaceType(f[1]), Up: true, Addresses: []api.InterfaceAddress{{Address: at}}})
			}
			reach := testReach(1-i, far.String(), f[0])
			reach.Source = at.Addr()
			nodes[i].Reach = append(nodes[i].Reach, reach)
		}
	}
	return nodes
}

// The ring and JACCL's coordinator take the networks in the same order. What is not named, here
// by the configuration, carries nothing where it is a tunnel or not known.
func TestNetworksOfAHostfile(t *testing.T) {
	everything := []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}
	for _, c := range []struct {
		name, lans  string
		trusted     []netip.Prefix
		ring, jaccl string // the first Mac's addresses, as far as they are checked
	}{
		{"a wire before Wi-Fi", "en1 wifi 10.0.0.1/24, en0 ethernet 100.64.0.1/24", everything, "100.64.0.1", "100.64.0.1 10.0.0.1"},
		{"a LAN before Tailscale", "utun4 vpn 100.100.0.1/32, en1 wifi 10.0.0.1/24", everything, "10.0.0.1", "10.0.0.1 100.100.0.1"},
		{"the LAN's address before a public one", "en0 ethernet 9.9.9.1/24, en0 ethernet 192.168.1.1/24", everything, "192.168.1.1", "192.168.1.1 9.9.9.1"},
		{"what is not known before a tunnel", "utun4 vpn 10.0.0.1/32, en9 unknown 203.0.113.1/24", everything, "203.0.113.1", "203.0.113.1 10.0.0.1"},
		{"two wires", "en0 ethernet 192.168.1.1/24, en7 ethernet 192.168.2.1/24", everything, "192.168.1.1 192.168.2.1", "192.168.1.1 192.168.2.1"},
		{"two wires in one network", "en0 ethernet 192.168.1.1/24, en7 ethernet 192.168.1.5/24", everything, "192.168.1.1", "192.168.1.1 192.168.1.5"},
		{"no tunnel unasked", "utun4 vpn 100.100.0.1/32, en1 wifi 10.0.0.1/24", nil, "", "10.0.0.1"},
		{"a tunnel alone", "utun4 vpn 100.100.0.1/32", nil, "", ""},
		{"a tunnel alone that is trusted", "utun4 vpn 100.100.0.1/32", everything, "100.100.0.1", "100.100.0.1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for backend, want := range map[api.Backend]string{api.BackendRing: c.ring, api.BackendJACCL: c.jaccl} {
				is := is.New(t)
				g := Build(Input{Nodes: withLANs(backend == api.BackendJACCL, strings.Split(c.lans, ", ")...)})
				g.Trusted = c.trusted
				text, _, err := g.Hostfile(nil, backend)
				if want == "" {
					is.Equal(causeLine(err)[:len("network_not_trusted")], "network_not_trusted")
					continue
				}
				is.NoErr(err)
				is.Equal(strings.Join(parseHostfile(t, text).Hosts[0].IPs, " "), want)
			}
		})
	}
}

// A network that was measured to be more than twice as fast is exported before another.
func TestHostfileTakesTheFasterNetwork(t *testing.T) {
	is := is.New(t)
	nodes := withLANs(false, "en0 ethernet 192.168.1.1/24", "en1 wifi 10.0.0.1/24")
	for address, bits := range map[string]int64{"192.168.1.2": 1e9, "10.0.0.2": 3e9} {
		nodes[0].Profiles = append(nodes[0].Profiles, Profile{Name: string(testID(1)) + "/" + address, LinkProfile: api.LinkProfile{
			Peer: testID(1), Transport: api.TransportSocket, Sink: netip.MustParseAddr(address), UpBitsPerS: &bits, DownBitsPerS: &bits, MeasuredAt: api.TimeOf(time.Unix(1, 0))}})
	}
	g := Build(Input{Nodes: nodes})
	g.Trusted = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}
	text, _, err := g.Hostfile(nil, api.BackendRing)
	is.NoErr(err)
	is.Equal(parseHostfile(t, text).Hosts[1].IPs, []string{"10.0.0.2"})
}
