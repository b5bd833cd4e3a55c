package placement

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology"
)

// lan is an interface that two Macs have alike, each with the next address.
type lan struct {
	name     string
	kind     api.InterfaceType
	prefixes string // with the first Mac's addresses
	gigabits int64  // as measured; 0 = not measured
	together *api.LinkTogether
}

// joinedBy is two Macs that reach each other at every address of these.
func joinedBy(asked api.Placement, lans ...lan) Input {
	d := newScenario(2)
	known := make([]topology.Node, 2)
	for i := range known {
		n := topology.Node{ID: id(i), ShortName: d.nodes[i].ShortName, Network: &api.Network{}}
		for _, l := range lans {
			iface := api.Interface{Name: l.name, Type: l.kind, Up: true}
			for _, text := range strings.Fields(l.prefixes) {
				own := netip.MustParsePrefix(text)
				far := own.Addr().Next()
				if i == 1 {
					own, far = netip.PrefixFrom(far, own.Bits()), own.Addr()
				}
				iface.Addresses = append(iface.Addresses, api.InterfaceAddress{Address: own})
				reach := reachOf(id(1-i), far, l.name, own.Addr())
				reach.PeerInterface = l.name
				n.Reach = append(n.Reach, reach)
				if l.gigabits > 0 && i == 0 {
					n.Profiles = append(n.Profiles, topology.Profile{Name: string(id(1)) + "/" + far.String(), LinkProfile: api.LinkProfile{Peer: id(1),
						Transport: api.TransportSocket, Sink: far, UpBitsPerS: new(l.gigabits * gigabit), DownBitsPerS: new(l.gigabits * gigabit), MeasuredAt: scenarioTime, Together: l.together}})
				}
			}
			n.Network.Interfaces = append(n.Network.Interfaces, iface)
		}
		known[i], d.nodes[i].Network = n, n.Network
	}
	asked.Ranks, asked.Backend = 2, api.BackendRing
	in := d.input(asked, nil)
	in.Nodes, in.Graph = d.nodes, topology.Build(topology.Input{Nodes: known})
	return in
}

var (
	wireAt   = lan{"en0", api.InterfaceEthernet, "100.64.0.1/24", 0, nil}
	wifiAt   = lan{"en1", api.InterfaceWiFi, "10.0.0.1/24", 0, nil}
	tunnelAt = lan{"utun4", api.InterfaceVPN, "100.100.0.1/32", 0, nil}
	oddAt    = lan{"en9", api.InterfaceUnknown, "10.1.0.1/24", 0, nil}
	anywhere = api.Placement{Networks: []string{"0.0.0.0/0"}}
)

// Of everything that joins two Macs a ring takes what people expect, by the documents.
func TestWhichNetworkARingTakes(t *testing.T) {
	for _, c := range []struct {
		name  string
		asked api.Placement
		lans  []lan
		want  string // the first Mac's addresses
	}{
		{"a wire before Wi-Fi", anywhere, []lan{wifiAt, wireAt, tunnelAt}, "100.64.0.1"},
		{"a LAN before Tailscale", anywhere, []lan{tunnelAt, wifiAt}, "10.0.0.1"},
		{"Wi-Fi before what is not known", anywhere, []lan{oddAt, wifiAt}, "10.0.0.1"},
		{"Ethernet at 192.168 before a tunnel", anywhere, []lan{{"utun4", api.InterfaceVPN, "10.8.0.1/24", 0, nil}, {"en0", api.InterfaceEthernet, "192.168.1.1/24", 0, nil}}, "192.168.1.1"},
		{"the LAN's address before a public one", anywhere, []lan{{"en0", api.InterfaceEthernet, "9.9.9.1/24 192.168.1.1/24", 0, nil}}, "192.168.1.1"},
		{"and before a self-assigned one", anywhere, []lan{{"en0", api.InterfaceEthernet, "169.254.1.1/16 192.168.1.1/24", 0, nil}}, "192.168.1.1"},
		{"the second address of a wire, by its network", api.Placement{Networks: []string{"9.9.9.0/24"}}, []lan{{"en0", api.InterfaceEthernet, "9.9.9.1/24 192.168.1.1/24", 0, nil}}, "9.9.9.1"},
		{"the second address of a wire, itself", api.Placement{Networks: []string{"10.9.0.2/32"}}, []lan{{"en0", api.InterfaceEthernet, "192.168.1.1/24 10.9.0.1/24", 0, nil}}, "10.9.0.1"},
		{"Wi-Fi more than twice as fast", anywhere, []lan{{"en0", api.InterfaceEthernet, "192.168.1.1/24", 1, nil}, {"en1", api.InterfaceWiFi, "10.0.0.1/24", 3, nil}}, "10.0.0.1"},
		{"not twice as fast", anywhere, []lan{{"en0", api.InterfaceEthernet, "192.168.1.1/24", 2, nil}, {"en1", api.InterfaceWiFi, "10.0.0.1/24", 4, nil}}, "192.168.1.1"},
		{"a tunnel that is named", api.Placement{Networks: []string{"utun4"}}, []lan{wifiAt, tunnelAt}, "100.100.0.1"},
		{"what is not known and named", api.Placement{Networks: []string{"en9"}}, []lan{oddAt, tunnelAt}, "10.1.0.1"},
		{"no tunnel unasked", api.Placement{}, []lan{tunnelAt, oddAt}, ""},
		{"two wires as fast", anywhere, []lan{{"en0", api.InterfaceEthernet, "192.168.1.1/24", 10, nil}, {"en7", api.InterfaceEthernet, "192.168.2.1/24", 9, nil}}, "192.168.1.1 192.168.2.1"},
		{"one of two wires in one network", anywhere, []lan{{"en0", api.InterfaceEthernet, "192.168.1.1/24", 10, nil}, {"en7", api.InterfaceEthernet, "192.168.1.5/24", 9, nil}}, "192.168.1.1"},
		{"one of two wires, one much slower", anywhere, []lan{{"en0", api.InterfaceEthernet, "192.168.1.1/24", 10, nil}, {"en7", api.InterfaceEthernet, "192.168.2.1/24", 4, nil}}, "192.168.1.1"},
		{"one of two wires that nobody measured", anywhere, []lan{{"en0", api.InterfaceEthernet, "192.168.1.1/24", 0, nil}, {"en7", api.InterfaceEthernet, "192.168.2.1/24", 0, nil}}, "192.168.1.1"},
		{"no Wi-Fi beside a wire", anywhere, []lan{{"en0", api.InterfaceEthernet, "192.168.1.1/24", 1, nil}, {"en1", api.InterfaceWiFi, "10.0.0.1/24", 1, nil}}, "192.168.1.1"},
		{"one of two addresses of a wire", anywhere, []lan{{"en0", api.InterfaceEthernet, "192.168.1.1/24 192.168.2.1/24", 9, nil}}, "192.168.1.1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			r := Plan(joinedBy(c.asked, c.lans...))
			if c.want == "" {
				is.True(errors.Is(r.Err(), api.ReasonNetworkNotTrusted))
				return
			}
			is.True(r.Plan != nil)
			is.Equal(strings.Join(r.Plan.Hosts[0], " "), c.want)
			is.Equal(len(r.Plan.Hosts[1]), len(r.Plan.Hosts[0]))
			is.Equal(len(r.Plan.Links), len(r.Plan.Hosts[0]))
		})
	}
}

// A plan says why it passes a network.
func TestAPassedNetworkIsNamed(t *testing.T) {
	is := is.New(t)
	p := Plan(joinedBy(anywhere, lan{"en0", api.InterfaceEthernet, "192.168.1.1/24", 1, nil}, lan{"en1", api.InterfaceWiFi, "10.0.0.1/24", 3, nil})).Plan
	is.Equal(p.Notes[0].Reason, api.ReasonNetworkFaster)
	is.Equal(p.Notes[0].Message, "mac-0 and mac-1 talk over en1 (wifi), measured at 3 Gb/s, and not over en0 (ethernet): that is less than half as fast (1 Gb/s)")
}

// The networks that could be named are advised in the same order.
func TestNetworksAreAdvisedInOrder(t *testing.T) {
	is := is.New(t)
	r := Plan(joinedBy(api.Placement{}, tunnelAt, oddAt, wifiAt))
	is.True(strings.HasPrefix(r.Remedies[0].Message, "Allow unencrypted traffic over 10.0.0.0/24 (wifi)"))
	is.True(strings.Contains(r.Err().Message, "only over en1 (wifi)"))
}

// Several wires give what was measured of all at once, where that was, and never more than
// as much as the slowest each.
func TestWiresMeasuredTogether(t *testing.T) {
	first, second := lan{"en0", api.InterfaceEthernet, "192.168.1.1/24", 10, nil}, lan{"en7", api.InterfaceEthernet, "192.168.2.1/24", 9, nil}
	at := func(all ...string) (out []netip.Addr) {
		for _, a := range all {
			out = append(out, netip.MustParseAddr(a))
		}
		return out
	}
	sources, sinks := at("192.168.1.1", "192.168.2.1"), at("192.168.1.2", "192.168.2.2")
	for _, c := range []struct {
		name           string
		sources, sinks []netip.Addr
		gigabits       int64
		links          int
		together       bool
	}{
		{"as much as alone", sources, sinks, 18, 2, true},
		{"more than evenly shared", sources, sinks, 30, 2, true},
		{"hardly more than one", sources, sinks, 9, 1, false},
		{"of other paths", at("192.168.1.1", "192.168.3.1"), at("192.168.1.2", "192.168.3.2"), 9, 2, false},
		{"of more paths", append(at("192.168.3.1"), sources...), append(at("192.168.3.2"), sinks...), 9, 2, false},
		{"not measured", nil, nil, 0, 2, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			p := Plan(joinedBy(anywhere, first.with(&api.LinkTogether{Sources: c.sources, Sinks: c.sinks, UpBitsPerS: new(int64(100 * gigabit)), DownBitsPerS: new(c.gigabits * gigabit)}), second)).Plan
			is.Equal(len(p.Links), c.links)
			for _, l := range p.Links {
				is.Equal(l.TogetherBitsPerS != nil, c.together)
				is.True(!c.together || *l.TogetherBitsPerS == c.gigabits*gigabit)
			}
		})
	}
	is := is.New(t)
	is.Equal(throughput([]channel{{speed: speed{bits: 10}}, {speed: speed{bits: 9}}}), int64(18))
	of := speed{bits: 10, measured: true, together: &api.LinkTogether{Sources: sources, Sinks: sinks, UpBitsPerS: new(int64(30)), DownBitsPerS: new(int64(30))}}
	both := []channel{{speed: of, addresses: [2]netip.Addr{sinks[0], sources[0]}}, {speed: of, addresses: [2]netip.Addr{sinks[1], sources[1]}}}
	is.Equal(throughput(both), int64(20)) // they share the work alike
	*of.together.DownBitsPerS = 15
	is.Equal(throughput(both), int64(15))
	both[1].measured = false // it has another speed by now
	is.Equal(throughput(both), int64(20))
}

func (l lan) with(t *api.LinkTogether) lan {
	l.together = t
	return l
}
