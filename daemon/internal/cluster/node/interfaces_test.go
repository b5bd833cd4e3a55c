package node

import (
	"net/netip"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/transport"
)

// A Mac has more interfaces that are up and have addresses than lead to others.
func TestInterfacesThatLeadToPeers(t *testing.T) {
	is := is.New(t)
	up := func(name string, kind api.InterfaceType, addresses ...string) api.Interface {
		i := api.Interface{Name: name, Type: kind, Up: true}
		for _, a := range addresses {
			i.Addresses = append(i.Addresses, api.InterfaceAddress{Address: netip.MustParsePrefix(a)})
		}
		return i
	}
	six := "fe80::14:2/64"
	bridge := up("bridge0", api.InterfaceBridge, six, "169.254.3.4/16")
	bridge.Members = []string{"en1"}
	member := up("en1", api.InterfaceThunderbolt, six)
	member.Bridge = "bridge0"
	down := up("en7", api.InterfaceEthernet, six)
	down.Up = false
	pulled := up("en8", api.InterfaceEthernet, six)
	pulled.Link = new(false)
	tentative := up("en9", api.InterfaceEthernet, six)
	tentative.Addresses[0].Tentative = true
	costly := up("en10", api.InterfaceEthernet, "10.1.1.2/24")
	costly.Expensive = new(true)

	type found struct {
		addresses, rank int
	}
	got := map[string]found{}
	for _, i := range usable(api.Network{Interfaces: []api.Interface{
		up("lo0", api.InterfaceLoopback, "127.0.0.1/8", "::1/128", "fe80::1/64"),
		up("awdl0", api.InterfaceUnknown, six), up("llw0", api.InterfaceUnknown, six),
		up("utun0", api.InterfaceVPN, six), up("utun4", api.InterfaceVPN, six, "100.64.0.1/32"),
		up("en0", api.InterfaceEthernet, "10.0.0.2/24", six), up("en2", api.InterfaceThunderbolt, six, "169.254.9.1/16"),
		up("en5", api.InterfaceWiFi, "192.168.1.4/24"), up("feth0", api.InterfaceUnknown, six, "10.20.0.1/24"), up("en6", api.InterfaceEthernet),
		bridge, member, up("bridge100", api.InterfaceBridge, six), down, pulled, tentative, costly,
	}}) {
		got[i.Name] = found{len(i.Addresses), i.Rank}
	}
	is.Equal(got, map[string]found{
		"en0": {2, rankEthernet}, "en2": {2, rankThunderbolt}, "en5": {1, rankWiFi}, "en10": {1, rankEthernet + rankCostly},
		"bridge0": {2, rankEthernet}, "utun4": {1, rankVPN}, "feth0": {1, rankUnknown},
	})
}

// An address of IPv6 is left alone only where IPv4 joins the two interfaces that it would.
func TestIPv6ThatIPv4Serves(t *testing.T) {
	is := is.New(t)
	network := api.Network{Interfaces: []api.Interface{
		{Name: "en0", Addresses: []api.InterfaceAddress{{Address: netip.MustParsePrefix("10.0.0.2/24")}, {Address: netip.MustParsePrefix("fe80::2/64")}}},
		{Name: "en1", Addresses: []api.InterfaceAddress{{Address: netip.MustParsePrefix("fe80::3/64")}}},
	}}
	path := transport.Path{Interface: "en0", PeerInterface: "en0", Address: netip.MustParseAddrPort("10.0.0.2:7732"), State: api.PathActive}
	at := func(iface, address string) transport.Candidate {
		return transport.Candidate{Interface: iface, Address: netip.MustParseAddrPort(address)}
	}
	same := at("en0", "[fe80::2%en0]:7732")
	is.True(isServed(same, []transport.Path{path}, network))
	is.True(!isServed(at("en0", "10.0.0.2:7732"), []transport.Path{path}, network))
	is.True(!isServed(at("en0", "[fe80::3%en0]:7732"), []transport.Path{path}, network)) // its other interface
	is.True(!isServed(at("en1", "[fe80::2%en1]:7732"), []transport.Path{path}, network)) // by another of this Mac
	is.True(!isServed(same, []transport.Path{path}, api.Network{}))                      // it has not told yet
	failed, over6 := path, path
	failed.State, over6.Address = api.PathFailed, same.Address
	is.True(!isServed(same, []transport.Path{failed, over6}, network))
}
