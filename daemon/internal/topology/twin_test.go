package topology

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// facing is two nodes on a cable that have each reached the other.
func facing() []Node {
	nodes := []Node{testNode(0), testNode(1)}
	plug(nodes, 0, 1, 1, 1, 80)
	there, back := testReach(1, plugAddress(1, 1), "en3"), testReach(0, plugAddress(0, 1), "en3")
	there.Source, back.Source = back.Address, there.Address
	nodes[0].Reach, nodes[1].Reach = []api.Reach{there}, []api.Reach{back}
	return nodes
}

// ownedBy names the paths that each node measures.
func ownedBy(g Graph) (all [2][]string, alone int) {
	for i := range all {
		owned, isAlone := g.Owned(testID(i))
		for _, p := range owned {
			all[i] = append(all[i], p.target().String())
		}
		alone += len(isAlone)
	}
	return all, alone
}

func TestOneEndMeasures(t *testing.T) {
	is := is.New(t)
	lower, higher := 0, 1
	if testID(1) < testID(0) {
		lower, higher = 1, 0
	}
	nodes := facing()
	all, alone := ownedBy(Build(Input{Nodes: nodes}))
	is.Equal(len(all[lower]), 1)
	is.Equal(len(all[higher]), 0)
	is.Equal(alone, 0)

	nodes[lower].Reach = nil // it does not tell, yet
	all, alone = ownedBy(Build(Input{Nodes: nodes}))
	is.Equal(len(all[higher]), 1)
	is.Equal(alone, 1)

	nodes = facing()
	nodes[higher].Reach = nil // what is the lower's is not alone for that
	all, alone = ownedBy(Build(Input{Nodes: nodes}))
	is.Equal(len(all[lower]), 1)
	is.Equal(alone, 0)

	nodes = facing() // taken in by another interface than the one with the address
	addInterface(&nodes[1], api.Interface{Name: "en9", Type: api.InterfaceThunderbolt, Up: true})
	nodes[0].Reach[0].PeerInterface = "en9"
	g := Build(Input{Nodes: nodes})
	is.True(g.Paths[0].Crossed)
	owned, _ := g.Owned(testID(0))
	is.Equal(len(owned), 0)
	owned, _ = g.Owned(testID(1))
	is.Equal(len(owned), 1)
	rows := func() (from int) {
		for _, row := range Build(Input{Nodes: nodes}).List().Rows {
			if row.From == testID(0) {
				from++
			}
		}
		return from
	}
	is.Equal(rows(), 0) // what goes there goes by another row
	nodes[0].Profiles = []Profile{{Name: g.Paths[0].target().String(), LinkProfile: api.LinkProfile{Transport: api.TransportSocket, Peer: testID(1)}}}
	is.Equal(rows(), 1) // unless it was measured
}

// What one end measured is a row of both, each from its own side; the newer counts
// where both did.
func TestBothEndsHaveARow(t *testing.T) {
	is := is.New(t)
	at := func(minute int) api.Time { return api.TimeOf(time.Date(2026, 11, 21, 12, minute, 0, 0, time.UTC)) }
	nodes := facing()
	up, down, usual := int64(60e9), int64(50e9), int64(90e9)
	profile := api.LinkProfile{Transport: api.TransportSocket, LinkKind: api.LinkTB5, Peer: testID(1), MeasuredAt: at(1), UpBitsPerS: &up, DownBitsPerS: &down,
		RTTUS: new(340.0), LossRatio: new(0.01), Waiting: &api.MeasureWait{Reason: api.ReasonJobHasNode}}
	drop(&profile, api.LinkResult{UpBitsPerS: &usual, DownBitsPerS: &down})
	name := nodes[0].Reach[0]
	nodes[0].Profiles = []Profile{{Name: api.PeerAddress{Peer: name.Peer, Address: name.Address}.String(), LinkProfile: profile}}
	rows := func() (there, back api.LinkRow) {
		for _, row := range Build(Input{Nodes: nodes}).List().Rows {
			if row.From == testID(0) {
				there = row
			} else {
				back = row
			}
		}
		return there, back
	}
	there, back := rows()
	is.Equal(*there.UpBitsPerS, up)
	is.Equal(*back.UpBitsPerS, down)
	is.Equal(*back.DownBitsPerS, up)
	is.Equal(*back.RTTUS, 340.0)
	is.Equal(*back.LossRatio, 0.01)
	is.Equal(back.MeasuredAt, there.MeasuredAt)
	is.Equal(there.Reasons, []api.Reason{api.ReasonLinkBelowHistory})
	is.Equal(back.Reasons, there.Reasons) // both ways are slow to the same end
	is.Equal(back.Waiting.Reason, api.ReasonJobHasNode)
	is.True(there.Together == nil)

	itself := profile // which is as fast as the machine is idle
	itself.Peer, itself.LinkKind = testID(0), api.LinkLoopback
	itself.Waiting = nil
	nodes[0].Profiles = append(nodes[0].Profiles, Profile{Name: api.PeerAddress{Peer: testID(0), Address: netip.MustParseAddr("127.0.0.1")}.String(), LinkProfile: itself})
	for _, row := range Build(Input{Nodes: nodes}).List().Rows {
		if row.Kind == api.LinkLoopback {
			is.Equal(row.Verdict, api.VerdictGood)
			nodes[0].Profiles = nodes[0].Profiles[:1]
		}
	}
	is.Equal(len(nodes[0].Profiles), 1) // it was among the rows

	nodes[0].Profiles[0].Together = &api.LinkTogether{Sources: []netip.Addr{name.Source}, Sinks: []netip.Addr{name.Address}, UpBitsPerS: &usual, DownBitsPerS: &down}
	there, back = rows()
	is.Equal(there.Together, nodes[0].Profiles[0].Together)
	is.Equal(back.Together, &api.LinkTogether{Sources: []netip.Addr{name.Address}, Sinks: []netip.Addr{name.Source}, UpBitsPerS: &down, DownBitsPerS: &usual})
	gone := nodes[0].Profiles[0].Together // of a wire that is not there now
	gone.Sources, gone.Sinks = append(gone.Sources, netip.MustParseAddr("169.254.9.8")), append(gone.Sinks, netip.MustParseAddr("169.254.9.9"))
	there, back = rows()
	is.True(there.Together == nil && back.Together == nil)
	nodes[0].Profiles[0].Together = nil

	own := profile
	own.Peer, own.MeasuredAt = testID(0), at(2)
	name = nodes[1].Reach[0]
	nodes[1].Profiles = []Profile{{Name: api.PeerAddress{Peer: name.Peer, Address: name.Address}.String(), LinkProfile: own}}
	there, back = rows()
	is.Equal(*back.UpBitsPerS, up)
	is.Equal(*there.UpBitsPerS, down)
	is.Equal(there.MeasuredAt, at(2))

	nodes[1].Profiles[0].MeasuredAt = at(1) // of two at once each has its own
	there, back = rows()
	is.Equal(*there.UpBitsPerS, up)
	is.Equal(*back.UpBitsPerS, up)
}

// Why a path has no numbers is said by what it is made of.
func TestWhyAPathIsNotMeasured(t *testing.T) {
	for kind, want := range map[api.InterfaceType]api.Reason{
		api.InterfaceWiFi: api.ReasonMeasuredOnRequest, api.InterfaceVPN: api.ReasonExpensiveNetwork, api.InterfaceEthernet: api.ReasonNotMeasured,
	} {
		for _, expensive := range []bool{false, true} {
			is := is.New(t)
			nodes := []Node{testNode(0), testNode(1)}
			for i, a := range []string{"10.0.0.1", "10.0.0.2"} {
				addInterface(&nodes[i], api.Interface{Name: "en0", Type: kind, Up: true, Addresses: addresses(a), Expensive: &expensive})
			}
			r := testReach(1, "10.0.0.2", "en0")
			r.Source = netip.MustParseAddr("10.0.0.1")
			nodes[0].Reach = []api.Reach{r}
			if expensive {
				want = api.ReasonExpensiveNetwork
			}
			is.Equal(Build(Input{Nodes: nodes}).List().Rows[0].Reasons, []api.Reason{want})
		}
	}
}

// Of a node's paths those are measured together that are several wires of one kind to a
// peer, over interfaces and networks of their own.
func TestWiresThatAreMeasuredTogether(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes []Node
		want  string
	}{
		{"one", withLANs(false, "en0 ethernet 192.168.1.1/24"), ""},
		{"two", withLANs(false, "en7 ethernet 9.9.9.1/24", "en0 ethernet 192.168.1.1/24"), "192.168.1.2 9.9.9.2"},
		{"two in one network", withLANs(false, "en0 ethernet 192.168.1.1/24", "en7 ethernet 192.168.1.5/24"), ""},
		{"two addresses of one", withLANs(false, "en0 ethernet 192.168.1.1/24", "en0 ethernet 192.168.2.1/24"), ""},
		{"a wire and Wi-Fi", withLANs(false, "en0 ethernet 192.168.1.1/24", "en1 wifi 10.0.0.1/24"), ""},
		{"a cable and Ethernet", meshed(2, 1), ""},
		{"two cables and Ethernet", meshed(2, 2), plugAddress(1, 1) + " " + plugAddress(1, 3)},
		{"two and Wi-Fi", withLANs(false, "en0 ethernet 192.168.1.1/24", "en1 wifi 10.0.0.1/24", "en7 ethernet 192.168.2.1/24"), "192.168.1.2 192.168.2.2"},
		{"one of two is expensive", withLANs(false, "en0 ethernet 192.168.1.1/24", "en8 ethernet 192.168.2.1/24"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			nodes := c.nodes
			for i := range nodes[1].Network.Interfaces {
				nodes[1].Network.Interfaces[i].Expensive = new(nodes[1].Network.Interfaces[i].Name == "en8")
			}
			for i := range nodes[0].Reach {
				for _, own := range nodes[0].Network.Interfaces {
					if r := &nodes[0].Reach[i]; own.Name == r.Interface && !r.Source.IsValid() {
						r.Source = own.Addresses[0].Address.Addr()
					}
				}
			}
			g := Build(Input{Nodes: nodes})
			var paths []Path
			for _, p := range g.Paths {
				if p.From == testID(0) {
					paths = append(paths, p)
				}
			}
			got := ""
			for _, group := range g.Wires(paths) {
				for _, p := range group {
					got += " " + p.Address.String()
				}
			}
			is.Equal(strings.TrimSpace(got), c.want)
		})
	}
}
