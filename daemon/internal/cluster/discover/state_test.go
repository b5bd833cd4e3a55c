package discover

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/cluster/transport"
	"fulmen/native"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

const boot = time.Hour

func network(interfaces ...api.Interface) api.Network { return api.Network{Interfaces: interfaces} }

func iface(name string, kind api.InterfaceType, addresses ...string) api.Interface {
	i := api.Interface{Name: name, Type: kind, Up: true}
	for _, a := range addresses {
		i.Addresses = append(i.Addresses, api.InterfaceAddress{Address: netip.MustParsePrefix(a)})
	}
	return i
}

func stateWith(members ...api.NodeID) *state {
	s := newState(nodeA, 7732, Remembered{Salt: "salt"})
	s.setRoster(noon, home, append(members, nodeA))
	return s
}

func sighting(instance, iface, id, address string) native.Sighting {
	return native.Sighting{
		Instance: instance, Interface: iface, Port: 7732, TXT: Text{Protocol: 1, ID: id}.TXT(),
		Addresses: []netip.Addr{netip.MustParseAddr(address)},
	}
}

func idOf(node api.NodeID, now time.Time) string {
	return cluster.DailyID(home, node, cluster.UseAnnounce, now)
}

// TestFlood holds that strangers without end, and a repeated id of a member,
// leave what is kept bounded, and members where they are.
func TestFlood(t *testing.T) {
	is := is.New(t)
	s := stateWith(nodeB, nodeC)
	s.setNetwork(boot, network(iface("en0", api.InterfaceWiFi, "10.0.0.1/24")))
	s.receive(noon, sighting("real", "en0", idOf(nodeB, noon), "10.0.0.2"))
	nonMember := func(n int) native.Sighting {
		seen := sighting(fmt.Sprint("s", n), "en0", fmt.Sprintf("%032x", n), "10.0.0.66")
		seen.TXT[keyPairing], seen.TXT[keyPairID] = "1", fmt.Sprintf("%08d", n)
		return seen
	}
	for n := range 10 * mostInstances {
		s.receive(noon.Add(time.Duration(n)*time.Second), nonMember(n))
	}
	is.Equal(len(s.neighbours["en0"].entries), mostInstances)
	is.Equal(s.candidates(boot, nodeB), []transport.Candidate{at("en0", "10.0.0.2:7732")})
	is.Equal(len(s.nonMembers()), mostNonMembers)
	is.True(s.neighbours["en0"].entries[fmt.Sprint("s", 10*mostInstances-1)] != nil) // the newest is there
	for n := range 100 {
		s.receive(noon, sighting(fmt.Sprint("b", n), "en0", idOf(nodeB, noon), fmt.Sprint("10.0.0.", n+100)))
	}
	is.Equal(len(s.candidates(boot, nodeB)), mostOfNode)
	many := sighting("many", "en0", idOf(nodeC, noon), "10.0.0.3")
	for n := range 200 {
		many.Addresses = append(many.Addresses, netip.AddrFrom4([4]byte{10, 1, 0, byte(n)}))
	}
	s.receive(noon, many)
	is.Equal(len(s.candidates(boot, nodeC)), mostAddresses)

	// Members alone can be more than there is room for.
	for n := range mostInstances + 9 {
		s.neighbours["en0"].replace(fmt.Sprint("m", n), &entry{instance: fmt.Sprint("m", n), node: api.NodeID(fmt.Sprint("n", n))})
	}
	is.Equal(len(s.neighbours["en0"].entries), mostInstances)
}

// TestClocks recognises members whose day is another one, and nobody of the day
// before yesterday.
func TestClocks(t *testing.T) {
	is := is.New(t)
	s := stateWith(nodeB)
	s.setNetwork(boot, network(iface("en0", api.InterfaceWiFi, "10.0.0.1/24")))
	for days, want := range map[int]int{-2: 0, -1: 1, 0: 1, 1: 1, 2: 0} {
		seen := sighting("x", "en0", idOf(nodeB, noon.AddDate(0, 0, days)), "10.0.0.2")
		s.receive(noon, seen)
		is.Equal(len(s.candidates(boot, nodeB)), want)
	}
	// The id of another use, or of another cluster, is a stranger's.
	s.receive(noon, sighting("x", "en0", cluster.DailyID(home, nodeB, cluster.UseDial, noon), "10.0.0.2"))
	is.Equal(s.candidates(boot, nodeB), nil)
	s.receive(noon, sighting("x", "en0", cluster.DailyID("f", nodeB, cluster.UseAnnounce, noon), "10.0.0.2"))
	is.Equal(s.candidates(boot, nodeB), nil)
	// Its own id by another name is passed over.
	s.receive(noon, sighting("x", "en0", idOf(nodeA, noon), "10.0.0.2"))
	is.Equal(len(s.neighbours["en0"].entries), 0)
}

// TestSources merges what is known of a member, the best first, each once.
func TestSources(t *testing.T) {
	is := is.New(t)
	s := stateWith(nodeB)
	s.setNetwork(boot, network(
		iface("en0", api.InterfaceWiFi, "10.0.0.1/24", "fe80::1/64"),
		iface("en5", api.InterfaceThunderbolt, "169.254.9.1/16", "fe80::5/64"),
		iface("en6", api.InterfaceThunderbolt, "169.254.1.1/30")))
	theirs := network(
		iface("en1", api.InterfaceWiFi, "10.0.0.2/24", "fe80::2/64", "203.0.113.4/24"),
		iface("en7", api.InterfaceThunderbolt, "169.254.9.2/16", "fe80::7/64"),
		iface("en8", api.InterfaceThunderbolt, "169.254.1.2/30"))
	s.setDocument(boot, nodeB, &theirs)
	documented := []transport.Candidate{at("en0", "10.0.0.2:7732"), at("en6", "169.254.1.2:7732")}
	is.Equal(s.candidates(boot, nodeB), documented) // nothing link-local

	// A known cable makes link-local addresses candidates on it, and only there.
	s.setCables([]Cable{{"en5", nodeB, "en7"}})
	is.Equal(s.candidates(boot, nodeB), []transport.Candidate{
		documented[0], at("en5", "169.254.9.2:7732"), at("en5", "[fe80::7%en5]:7732"), documented[1],
	})
	s.setCables(nil)

	// A path that was up is tried for an hour more, and tells the port; what is
	// announced comes first.
	s.setPaths(boot, noon, nodeB, []transport.Path{up("en5", "169.254.9.2:7740")})
	s.setPaths(boot, noon, nodeB, nil)
	s.receive(noon, sighting("b", "en0", idOf(nodeB, noon), "10.0.0.2"))
	is.Equal(s.candidates(boot+observedFor, nodeB), []transport.Candidate{
		at("en0", "10.0.0.2:7732"), at("en5", "169.254.9.2:7740"), at("en0", "10.0.0.2:7740"), at("en6", "169.254.1.2:7740"),
	})
	is.Equal(len(s.candidates(boot+observedFor+1, nodeB)), 3)

	// As long as it is up, it is no older.
	s.setPaths(boot, noon, nodeB, []transport.Path{up("en5", "169.254.9.2:7740")})
	is.Equal(len(s.candidates(boot+9*observedFor, nodeB)), 4)

	// Removed is forgotten, and begins anew when it comes back.
	s.setRoster(noon, home, []api.NodeID{nodeA})
	s.setPaths(boot, noon, nodeB, []transport.Path{up("en5", "169.254.9.2:7740")})
	s.setDocument(boot, nodeB, &theirs)
	is.Equal(s.candidates(boot, nodeB), nil)
	s.setRoster(noon, home, []api.NodeID{nodeA, nodeB})
	is.Equal(s.candidates(boot, nodeB), []transport.Candidate{at("en0", "10.0.0.2:7732")})
}

// TestTunnels finds a member behind a tunnel that has a network of its own, and behind one
// whose ends are networks of one address, and behind what is not known.
func TestTunnels(t *testing.T) {
	is := is.New(t)
	s := stateWith(nodeB)
	s.setNetwork(boot, network(iface("utun3", api.InterfaceVPN, "10.8.0.1/24"), iface("utun4", api.InterfaceVPN, "100.64.0.1/32"),
		iface("utun5", api.InterfaceVPN, "10.9.0.1/32"), iface("feth0", api.InterfaceUnknown, "10.7.0.1/24"), iface("en0", api.InterfaceEthernet, "100.66.0.1/32")))
	theirs := network(iface("utun0", api.InterfaceVPN, "100.100.0.2/32", "fe80::2/64"), iface("utun1", api.InterfaceVPN, "10.9.0.2/32", "10.8.0.2/24"),
		iface("feth1", api.InterfaceUnknown, "10.7.0.2/24"), iface("en0", api.InterfaceEthernet, "100.65.0.2/32"))
	s.setDocument(boot, nodeB, &theirs)
	is.Equal(s.candidates(boot, nodeB), []transport.Candidate{at("feth0", "10.7.0.2:7732"), at("utun3", "10.8.0.2:7732"), at("utun4", "100.100.0.2:7732")})
}

// TestIsolation tells it with evidence and takes it back with counter-evidence.
func TestIsolation(t *testing.T) {
	wifi := iface("en0", api.InterfaceWiFi, "10.0.0.1/24")
	thunderbolt := iface("en5", api.InterfaceThunderbolt, "169.254.9.1/16")
	theirs := network(iface("en1", api.InterfaceWiFi, "10.0.0.2/24"))
	cable := []transport.Path{up("en5", "169.254.9.2:7732")}
	isolated := []Isolation{{"en0", nodeB, "en1"}}
	later := boot + isolatedAfter
	for _, test := range []struct {
		name   string
		change func(s *state)
		at     time.Duration
		want   []Isolation
	}{
		{"both in one network, joined by cable only", func(*state) {}, later, isolated},
		{"not yet", func(*state) {}, later - 1, nil},
		{"not online", func(s *state) { s.setPaths(boot, noon, nodeB, nil) }, later, nil},
		{"the cable is cut", func(s *state) {
			s.setPaths(boot, noon, nodeB, []transport.Path{{Interface: "en5", Address: cable[0].Address, State: api.PathFailed}})
		}, later, nil},
		{"online from far away", func(s *state) {
			s.setPaths(boot, noon, nodeB, []transport.Path{up("utun0", "100.64.0.2:7732")})
		}, later, nil},
		{"reached there", func(s *state) {
			s.setPaths(boot, noon, nodeB, append(slices.Clone(cable), up("en0", "10.0.0.2:7732")))
		}, later, nil},
		{"heard there", func(s *state) { s.receive(noon, sighting("b", "en0", idOf(nodeB, noon), "10.0.0.2")) }, later, nil},
		{"somebody else is heard there", func(s *state) { s.receive(noon, sighting("x", "en0", strings.Repeat("0", 32), "10.0.0.9")) }, later, nil},
		{"another number", func(s *state) {
			other := network(iface("en1", api.InterfaceWiFi, "10.0.1.2/24"))
			s.setDocument(boot, nodeB, &other)
		}, later, nil},
		{"the same address", func(s *state) {
			other := network(iface("en1", api.InterfaceWiFi, "10.0.0.1/24"))
			s.setDocument(boot, nodeB, &other)
		}, later, nil},
		{"nothing but link-local", func(s *state) {
			other := network(iface("en1", api.InterfaceWiFi, "169.254.3.2/16"))
			s.setDocument(boot, nodeB, &other)
		}, later, nil},
		{"just come into it", func(s *state) {
			s.setDocument(boot, nodeB, nil)
			s.setDocument(later-1, nodeB, &theirs)
		}, later, nil},
		{"enough paths without it", func(s *state) {
			s.setPaths(boot, noon, nodeB, []transport.Path{cable[0], up("en6", "169.254.9.3:1"), up("en7", "169.254.9.4:1")})
		}, later, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			s := stateWith(nodeB)
			s.setNetwork(boot, network(wifi, thunderbolt, iface("utun0", api.InterfaceVPN, "100.64.0.1/32")))
			s.setDocument(boot, nodeB, &theirs)
			s.setPaths(boot, noon, nodeB, cable)
			is.Equal(s.nextIsolation(boot), later)
			test.change(s)
			is.Equal(s.isolation(test.at), test.want)
			s.isolated = nil
			is.Equal(s.takeChange(test.at).Isolation, test.want != nil)
		})
	}
}

// TestRemembered bounds what is kept and says nothing of where that is.
func TestRemembered(t *testing.T) {
	is := is.New(t)
	r := Remembered{Salt: "one"}
	wifi := []string{"192.168.1.0/24"}
	print := r.fingerprint(api.InterfaceWiFi, wifi)
	is.True(!strings.Contains(print, "192"))
	is.True(print != r.fingerprint(api.InterfaceEthernet, wifi))
	is.True(print != Remembered{Salt: "two"}.fingerprint(api.InterfaceWiFi, wifi))
	is.Equal(r.fingerprint(api.InterfaceWiFi, nil), "")
	is.True(!r.meet("", noon))
	is.True(r.meet(print, noon))
	is.True(!r.meet(print, noon.Add(time.Hour)))
	is.True(r.meet(print, noon.Add(freshFor)))
	for n := range 3 * mostNetworks {
		is.True(r.meet(fmt.Sprint(n), noon.Add(48*time.Hour+time.Duration(n)*time.Second)))
	}
	is.Equal(len(r.Networks), mostNetworks)
	is.True(!r.knows(print, noon))
	is.True(r.knows(fmt.Sprint(3*mostNetworks-1), noon.AddDate(0, 0, 30)))
	is.True(!r.knows(fmt.Sprint(3*mostNetworks-1), noon.AddDate(0, 0, 120)))
}

// FuzzParseText holds that whatever is understood is said again alike, and
// without anything else.
func FuzzParseText(f *testing.F) {
	id := strings.Repeat("0a", 16)
	f.Add("1", id, "", "")
	f.Add("2", id, "1", "0123wxyz")
	f.Add("+1", id, "1", "0123WXYZ")
	f.Add("01", id[1:], "yes", "x")
	f.Fuzz(func(t *testing.T, protocol, id, pairing, pairingID string) {
		txt := map[string]string{keyProtocol: protocol, keyID: id, keyPairing: pairing, keyPairID: pairingID, "future": "x"}
		text, ok := ParseText(txt)
		if !ok {
			return
		}
		if len(text.ID) != dailyIDLength || text.Protocol < 1 || text.Pairing != "" && len(text.Pairing) != pairingIDLength {
			t.Fatalf("understood %+v", text)
		}
		again, ok := ParseText(text.TXT())
		if !ok || again != text {
			t.Fatalf("%+v is read back as %+v", text, again)
		}
		for key, value := range text.TXT() {
			if txt[key] != value {
				t.Fatalf("%s=%q came from %v", key, value, slices.Sorted(maps.Keys(txt)))
			}
		}
	})
}

// FuzzParsePeer holds that what is taken for an address or a host has a port.
func FuzzParsePeer(f *testing.F) {
	for _, name := range []string{"studio", "studio:99", "10.0.0.1:1", "[::1]:2", "::1", "[fe80::1%en0]", "a:0", ":1", "[", "a:b:c"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		p, err := parsePeer(name)
		if err != nil {
			return
		}
		if p.port == 0 || p.isLiteral != (len(p.addresses) == 1) || p.host == "" && !p.isLiteral {
			t.Fatalf("%q is %+v", name, p)
		}
		for _, c := range p.candidates() {
			if !p.has(c.Address) {
				t.Fatalf("%q has not its own %v", name, c)
			}
		}
	})
}
