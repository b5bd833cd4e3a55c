package topology

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// A speed counts from one bit a second to the most that is believed, in both directions.
func TestSpeedsThatAreBelieved(t *testing.T) {
	is := is.New(t)
	for _, s := range [][2]int64{{0, 1}, {1, 0}, {-1, 1}, {1, -1}, {maxBitsPerS + 1, 1}, {1, maxBitsPerS + 1}} {
		h := hopOf(&api.ThunderboltSpeed{TxBitsPerS: s[0], RxBitsPerS: s[1]}, "")
		is.Equal(h, hop{why: api.ReasonSourceMalformed})
		is.True(!h.known())
	}
	for _, s := range [][2]int64{{1, 1}, {maxBitsPerS, maxBitsPerS}} {
		h := hopOf(&api.ThunderboltSpeed{TxBitsPerS: s[0], RxBitsPerS: s[1], Generation: "tb9"}, "")
		is.Equal(h, hop{tx: s[0], rx: s[1]})
		is.True(h.known())
	}
	is.Equal(hopOf(both(40), "").generation, api.Thunderbolt4)
	is.Equal(hopOf(nil, api.ReasonLinkDown).why, api.ReasonLinkDown)
	is.Equal(hopOf(nil, "").why, api.ReasonNotYetRead)
}

// What two ends tell of the hubs between them is one list; each letter is a hub, each
// digit how many of the ends have it in their tree.
func TestHubsOfBothEnds(t *testing.T) {
	list := func(names string, end int) []hubOnWay {
		var out []hubOnWay
		for _, n := range names {
			out = append(out, hubOnWay{string(n), []hubPlace{{route: fmt.Sprint(end)}}})
		}
		return out
	}
	for _, c := range [][3]string{
		{"", "", ""}, {"A", "", "A1"}, {"", "A", "A1"}, {"A", "A", "A2"}, {"AB", "AB", "A2B2"}, {"A", "B", "A1B1"},
		{"AB", "B", "A1B2"}, {"AB", "A", "A2B1"}, {"ABC", "B", "A1B2C1"}, {"B", "ABC", "A1B2C1"}, {"A", "AB", "A2B1"}, {"B", "AB", "A1B2"},
		{"AB", "BC", "A1B2C1"}, {"ABC", "BCD", "A1B2C2D1"}, {"BA", "AC", "B1A2C1"}, {"AB", "CD", "A1B1C1D1"}, {"AAB", "AB", "A1A2B2"},
		{"AB", "BA", "A1B2A1"}, {"AB", "BCD", "A1B2C1D1"}, {"ABC", "CD", "A1B1C2D1"}, {"CA", "AB", "C1A2B1"}, {"AC", "BC", "A1C1B1C1"},
	} {
		is := is.New(t)
		a, b, got := list(c[0], 1), list(c[1], 2), ""
		for _, h := range mergeHubs(a, b) {
			got += h.name + fmt.Sprint(len(h.places))
			is.True(slices.IsSortedFunc(h.places, func(x, y hubPlace) int { return strings.Compare(x.route, y.route) }) || len(c[1]) > len(c[0]))
		}
		is.Equal(got, c[2])
		is.Equal([]int{len(a), len(b)}, []int{len(c[0]), len(c[1])})
		for _, h := range slices.Concat(a, b) { // what the ends told is as it was
			is.Equal(len(h.places), 1)
		}
	}
}

// Of two tellings of one piece the slower counts, in each direction for itself.
func TestSlowerTelling(t *testing.T) {
	is := is.New(t)
	fast, slow := hop{tx: 80, rx: 20, generation: api.Thunderbolt5}, hop{tx: 40, rx: 40, generation: api.Thunderbolt4}
	mixed := hop{tx: 40, rx: 20, generation: api.Thunderbolt4}
	is.Equal(slower(fast, slow), mixed)
	is.Equal(slower(slow, fast), mixed)
	unread, down := hop{why: api.ReasonNotYetRead}, hop{why: api.ReasonLinkDown}
	is.Equal(slower(unread, fast), fast)
	is.Equal(slower(fast, down), fast)
	is.Equal(slower(down, unread), down)
	is.Equal(slower(unread, down), down)
	is.Equal(slower(down, hop{why: api.ReasonNeedsRoot}), down)
	is.Equal(older("", api.Thunderbolt4), api.Thunderbolt4)
	is.Equal(older(api.Thunderbolt3, ""), api.Thunderbolt3)
	is.Equal(older(api.Thunderbolt5, api.Thunderbolt3), api.Thunderbolt3)
}

// A way is as fast as its slowest piece, of a generation where all pieces tell theirs,
// and what its speed can only be otherwise.
func TestSlowestPiece(t *testing.T) {
	for _, c := range []struct {
		hops []hop
		want hop
		kind api.LinkKind
	}{
		{[]hop{{tx: 80, rx: 80, generation: api.Thunderbolt5}, {tx: 40, rx: 90, generation: api.Thunderbolt4}}, hop{tx: 40, rx: 80, generation: api.Thunderbolt4}, api.LinkTB4},
		{[]hop{{tx: 80, rx: 80, generation: api.Thunderbolt5}, {tx: 40, rx: 40}}, hop{tx: 40, rx: 40}, api.LinkUnknown},
		{[]hop{{tx: 80, rx: 80}, {tx: 40, rx: 40, generation: api.Thunderbolt4}}, hop{tx: 40, rx: 40}, api.LinkUnknown},
		{[]hop{{tx: thunderbolt4BitsPerS, rx: thunderbolt4BitsPerS + 1}}, hop{tx: thunderbolt4BitsPerS, rx: thunderbolt4BitsPerS + 1}, api.LinkTB5},
		{[]hop{{tx: thunderbolt4BitsPerS, rx: thunderbolt4BitsPerS}}, hop{tx: thunderbolt4BitsPerS, rx: thunderbolt4BitsPerS}, api.LinkUnknown},
		{[]hop{{tx: 80, rx: 80, generation: api.Thunderbolt5}, {why: api.ReasonLinkDown}, {why: api.ReasonNotYetRead}}, hop{why: api.ReasonLinkDown}, api.LinkUnknown},
	} {
		is := is.New(t)
		w := way{hops: c.hops}
		w.total = w.slowest(nil, nil)
		is.Equal(w.total, c.want)
		is.Equal(w.kind(), c.kind)
	}
}

// What was measured comes before what is only negotiated, and what has a warning last.
func TestPreferredCables(t *testing.T) {
	is := is.New(t)
	good := &api.LinkRow{Verdict: api.VerdictGood}
	is.True(RDMARank(api.Cable{Verdict: api.VerdictGood}, good) < RDMARank(api.Cable{Verdict: api.VerdictGood}, nil))
	is.Equal(RDMARank(api.Cable{}, &api.LinkRow{Verdict: api.VerdictUnknown}), RDMARank(api.Cable{}, good))
	for _, c := range []struct {
		cable api.Cable
		row   *api.LinkRow
	}{
		{api.Cable{OneSided: true}, good}, {api.Cable{Verdict: api.VerdictBad}, nil}, {api.Cable{Verdict: api.VerdictSlow}, good},
		{api.Cable{Verdict: api.VerdictGood}, &api.LinkRow{Verdict: api.VerdictSlow}},
		{api.Cable{ForwardBitsPerS: new(int64(80)), BackwardBitsPerS: new(int64(80))}, &api.LinkRow{UpBitsPerS: new(int64(70)), DownBitsPerS: new(int64(39))}},
	} {
		is.True(RDMARank(c.cable, c.row) > RDMARank(api.Cable{}, nil))
	}
}

// A row counts where it has a speed of the cable as it negotiated last.
func TestRowsWithASpeed(t *testing.T) {
	is := is.New(t)
	up := api.LinkRow{UpBitsPerS: new(int64(1))}
	is.True(HasSpeed(&up))
	is.True(HasSpeed(&api.LinkRow{DownBitsPerS: new(int64(1))}))
	is.True(!HasSpeed(&api.LinkRow{}))
	up.Reasons = []api.Reason{api.ReasonLinkChanged}
	is.True(!HasSpeed(&up))
}

// The latest measurement counts; of two at once that of the lower key.
func TestNewerRows(t *testing.T) {
	is := is.New(t)
	row := func(seconds int, from int, name string) *api.LinkRow {
		at := api.Time{Time: time.Unix(1_700_000_000, 0).Add(time.Duration(seconds) * time.Second)}
		return &api.LinkRow{LinkRowKey: api.LinkRowKey{From: testID(from), Name: name}, MeasuredAt: at}
	}
	all := []*api.LinkRow{row(2, 1, "b"), row(1, 0, "b"), row(1, 1, "a"), row(1, 1, "b"), row(0, 0, "a")}
	for i, a := range all {
		for k, b := range all {
			is.Equal(Newer(a, b), i < k)
		}
	}
}

// Addresses for the exchange at the start, each once: by kind, a LAN's first, then by address.
func TestCoordinatorsInOrder(t *testing.T) {
	is := is.New(t)
	var paths []*Path
	for i, kind := range []api.LinkKind{api.LinkLoopback, api.LinkTB5, api.LinkVPN, api.LinkUnknown, api.LinkWiFi, api.LinkEthernet, api.LinkTB3, api.LinkTB4} {
		paths = append(paths, &Path{Kind: kind, Address: netip.AddrFrom4([4]byte{10, 0, 0, byte(i)})})
	}
	paths = append(paths, &Path{Kind: api.LinkEthernet, Address: netip.AddrFrom4([4]byte{9, 0, 0, 0})}, paths[0], paths[5])
	var got []string
	for _, a := range addressesOf(paths) {
		got = append(got, a.String())
	}
	is.Equal(got, []string{"10.0.0.1", "10.0.0.6", "10.0.0.7", "10.0.0.5", "9.0.0.0", "10.0.0.4", "10.0.0.0", "10.0.0.3", "10.0.0.2"})
}

// Rows are ordered by nodes, then as people read kinds, then by transport and name.
func TestRowsInOrder(t *testing.T) {
	is := is.New(t)
	row := func(from, to int, kind api.LinkKind, of api.Transport, name string) api.LinkRow {
		return api.LinkRow{LinkRowKey: api.LinkRowKey{From: testID(from), To: testID(to), Transport: of, Name: name}, Kind: kind}
	}
	all := []api.LinkRow{row(0, 1, api.LinkUnknown, api.TransportSocket, "z"), row(0, 2, api.LinkWiFi, api.TransportSocket, "b")}
	for _, kind := range []api.LinkKind{api.LinkWiFi, api.LinkEthernet, api.LinkTB3, api.LinkTB4, api.LinkTB5, api.LinkRDMA, api.LinkVPN, api.LinkLoopback} {
		all = append(all, row(1, 0, kind, api.TransportSocket, "m"))
	}
	all = append(all, row(1, 0, api.LinkUnknown, api.TransportRDMA, "y"), row(1, 0, api.LinkUnknown, api.TransportSocket, "a"), row(1, 0, api.LinkUnknown, api.TransportSocket, "b"))
	for i := range all {
		for k := range all {
			is.Equal(compareRows(all[i], all[k]) < 0, i < k)
		}
	}
}

// A profile counts where its name is what it says: a peer and an address in their one
// form, or a cable of the two.
func TestNamesOfProfiles(t *testing.T) {
	nodes := []Node{testNode(0), testNode(1)}
	m := &rowMaker{index: newIndex(nodes)}
	end := func(n int) string { return string(testID(n)) + ":1" }
	for _, c := range []struct {
		of   api.Transport
		peer api.NodeID
		name string
		fits bool
	}{
		{api.TransportSocket, testID(1), string(testID(1)) + "/10.0.0.1", true},
		{api.TransportSocket, testID(2), string(testID(2)) + "/10.0.0.1", true}, // not known, and an id
		{api.TransportSocket, "somebody", "somebody/10.0.0.1", false},
		{api.TransportSocket, testID(1), string(testID(2)) + "/10.0.0.1", false},
		{api.TransportSocket, testID(1), "10.0.0.1", false},
		{api.TransportSocket, testID(1), string(testID(1)) + "/10.0.0", false},
		{api.TransportSocket, testID(1), string(testID(1)) + "/::ffff:10.0.0.1", false},
		{api.TransportSocket, testID(1), string(testID(1)) + "/fe80::1%en0", true},
		{api.TransportRDMA, testID(1), end(0) + "~" + end(1), true},
		{api.TransportRDMA, testID(1), end(1) + "~" + end(2), false},
		{api.TransportRDMA, testID(1), end(0) + "~" + end(2), false},
		{api.TransportRDMA, testID(1), "cable", false},
		{"", testID(1), string(testID(1)) + "/10.0.0.1", false},
		{"carrier pigeon", testID(1), string(testID(1)) + "/10.0.0.1", false},
	} {
		is := is.New(t)
		is.Equal(m.fits(testID(0), &Profile{Name: c.name, LinkProfile: api.LinkProfile{Transport: c.of, Peer: c.peer}}), c.fits)
	}
	is := is.New(t)
	link, err := api.ParseLinkID(end(0) + "~" + end(1))
	is.NoErr(err)
	is.True(joins(link, testID(0), testID(1)))
	is.True(joins(link, testID(1), testID(0)))
	is.True(!joins(link, testID(0), testID(0)))
	is.True(!joins(link, testID(1), testID(1)))
}

// What documents say twice, or not in their form, does not count and is noted.
func TestWhatDoesNotCount(t *testing.T) {
	profile := Profile{Name: string(testID(1)) + "/10.0.0.1", LinkProfile: api.LinkProfile{Transport: api.TransportSocket, Peer: testID(1)}}
	for name, c := range map[string]struct {
		change func(nodes []Node) []Node
		rows   int
		cables []string
		notes  []string
	}{
		"nothing": {func(n []Node) []Node { return n }, 0, []string{"0:1~1:1 tb5 80/80 good"}, nil},
		"no id":   {func(n []Node) []Node { return append(n, Node{ID: "somebody"}) }, 0, []string{"0:1~1:1 tb5 80/80 good"}, []string{`"somebody" is not a node id`}},
		"a node twice": {func(n []Node) []Node { return append(n, testNode(1)) }, 0, []string{"0:1~Mac 1 tb5 80/80 unknown peer_unknown one-sided"},
			[]string{testID(1).Display() + " is given twice: neither counts"}},
		"a node three times": {func(n []Node) []Node { return append(n, testNode(1), testNode(1)) }, 0, []string{"0:1~Mac 1 tb5 80/80 unknown peer_unknown one-sided"},
			[]string{testID(1).Display() + " is given twice: neither counts"}},
		"no receptacle": {func(n []Node) []Node { n[1].Thunderbolt[0].PortNumber = 0; return n }, 0, []string{"0:1~Mac 1 tb5 80/80 unknown peer_unknown one-sided"},
			[]string{"mac-1: 0 is not a receptacle"}},
		"a profile twice": {func(n []Node) []Node { n[0].Profiles = []Profile{profile, profile}; return n }, 0, []string{"0:1~1:1 tb5 80/80 good"},
			[]string{"mac-0 describes " + profile.Name + " twice: neither counts"}},
		"a profile three times": {func(n []Node) []Node { n[0].Profiles = []Profile{profile, profile, profile}; return n }, 0, []string{"0:1~1:1 tb5 80/80 good"},
			[]string{"mac-0 describes " + profile.Name + " twice: neither counts"}},
		"two profiles": {func(n []Node) []Node {
			other := profile
			other.Name += "1"
			n[0].Profiles = []Profile{profile, other}
			return n
		}, 2, []string{"0:1~1:1 tb5 80/80 good"}, nil},
		"alike from two nodes": {func(n []Node) []Node { n[0].Profiles, n[1].Profiles = []Profile{profile}, []Profile{profile}; return n }, 2, []string{"0:1~1:1 tb5 80/80 good"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			nodes := []Node{testNode(0), testNode(1)}
			plug(nodes, 0, 1, 1, 1, 80)
			g := Build(Input{Nodes: c.change(nodes)})
			var cables, notes []string
			for _, k := range g.List().Cables {
				cables = append(cables, summary(k))
			}
			for _, n := range g.Notes {
				notes = append(notes, n.Message)
			}
			is.Equal(len(g.List().Rows), c.rows)
			is.True(g.List().Rows != nil)
			is.Equal(cables, c.cables)
			is.Equal(notes, c.notes)
		})
	}
}

// An interface, and what a receptacle is for RDMA, count where they are told once.
func TestTwiceInOneNode(t *testing.T) {
	is := is.New(t)
	nodes := []Node{testNode(0)}
	addInterface(&nodes[0], api.Interface{Name: "en0", Addresses: addresses("10.0.0.1")})
	addInterface(&nodes[0], api.Interface{Name: "en1", Addresses: addresses("10.0.0.2", "10.0.0.3", "fe80::1%en1", "10.0.0.2")})
	addInterface(&nodes[0], api.Interface{Name: "en1b", Addresses: addresses("::ffff:10.0.0.3", "10.0.0.1")})
	nodes[0].RDMA = []api.RDMA{testRDMA(1, "10.0.0.1"), testRDMA(2, "10.0.0.2"), testRDMA(2, "10.0.0.3")}
	of := func(x *index, address string) string {
		var names []string
		for _, i := range x.nodes[0].byAddress[netip.MustParseAddr(address)] {
			names = append(names, i.Name)
		}
		return strings.Join(names, " ")
	}
	x := newIndex(nodes)
	is.Equal(len(x.notes), 0)
	is.Equal(of(x, "10.0.0.1"), "en0 en1b")
	is.Equal(of(x, "10.0.0.2"), "en1")
	is.Equal(of(x, "10.0.0.3"), "en1 en1b")
	is.Equal(of(x, "fe80::1"), "en1")
	is.True(x.nodes[0].rdma[1] != nil)
	is.True(x.nodes[0].rdma[2] == nil)
	addInterface(&nodes[0], api.Interface{Name: "en1"})
	addInterface(&nodes[0], api.Interface{Name: "en1", Addresses: addresses("10.0.0.9")})
	x = newIndex(nodes)
	is.Equal(of(x, "10.0.0.9"), "") // nor does a third
	is.Equal(x.notes.sorted()[0].Message, "mac-0 has two interfaces en1: neither counts")
	is.Equal(of(x, "10.0.0.2"), "")
	is.Equal(of(x, "10.0.0.3"), "en1b")
}

// The readiness of a cable is its own, also where a receptacle leads to several Macs that
// do not run Fulmen, which their names alone tell apart.
func TestReadinessOfEachCable(t *testing.T) {
	is := is.New(t)
	nodes := []Node{testNode(0), testNode(1)}
	plug(nodes, 0, 2, 1, 1, 80)
	n := &nodes[0]
	n.Thunderbolt = append(n.Thunderbolt, testPort(0, 1, both(80), testPeer(7, 1), testPeer(8, 1)))
	g := Build(Input{Nodes: nodes})
	cables := g.List().Cables
	is.Equal(len(cables), 3)
	for i, report := range g.Readiness() {
		is.Equal(g.ReadinessOf(cables[i]), report.RDMAReadiness)
		is.Equal(report.PeerName, cables[i].PeerName)
	}
	gone := api.Cable{RDMA: api.RDMACannot}
	is.Equal(g.ReadinessOf(gone).Verdict, api.RDMACannot) // of a graph before
}

// A receptacle that does not tell its interface has the one that names it.
func TestInterfaceOfAPort(t *testing.T) {
	is := is.New(t)
	n := testNode(0)
	addInterface(&n, api.Interface{Name: "en0", Type: api.InterfaceEthernet, PortNumber: 2})
	addInterface(&n, api.Interface{Name: "en3", Type: api.InterfaceThunderbolt, PortNumber: 1})
	addInterface(&n, api.Interface{Name: "en4", Type: api.InterfaceThunderbolt, PortNumber: 2})
	p := &port{Port: &Port{Thunderbolt: api.Thunderbolt{PortNumber: 2}}, node: &node{Node: &n}}
	is.Equal(p.iface(), "en4")
	p.PortNumber = 3
	is.Equal(p.iface(), "")
	p.Interface = "en9"
	is.Equal(p.iface(), "en9")
	n.Network = nil
	is.Equal(p.iface(), "en9")
	p.Interface = ""
	is.Equal(p.iface(), "")
}

// Why a node that cannot be reached does not answer, as far as it said.
func TestSilence(t *testing.T) {
	for state, want := range map[api.SelfState]api.Reason{
		"": api.ReasonUnreachable, api.SelfAwake: api.ReasonUnreachable, api.SelfStopping: api.ReasonUnreachable,
		api.SelfAsleep: api.ReasonAsleep, api.SelfRestarting: api.ReasonRestarting,
	} {
		is := is.New(t)
		for end := range 2 {
			nodes := []Node{testNode(0), testNode(1)}
			plug(nodes, 0, 1, 1, 1, 80)
			nodes[end].Stale = true
			if state != "" {
				nodes[end].State = &api.NodeState{State: state}
			}
			is.Equal(Build(Input{Nodes: nodes}).List().Cables[0].Reasons, []api.Reason{want})
		}
	}
}

// What a hub is called, and how a cable is drawn that is down or seen from one end.
func TestNamesAndStyles(t *testing.T) {
	is := is.New(t)
	is.Equal(hubName(&api.ThunderboltHub{Name: "TS4", Vendor: "CalDigit"}), "TS4")
	is.Equal(hubName(&api.ThunderboltHub{Vendor: "CalDigit"}), "CalDigit")
	is.Equal(hubName(&api.ThunderboltHub{}), "hub")
	for style, change := range map[string]func([]Node){
		"]": func([]Node) {}, ", style=dashed]": func(n []Node) { n[1].Thunderbolt[0].Peers = nil },
		", style=dotted]": func(n []Node) {
			for i := range n {
				n[i].Thunderbolt[0].Negotiated, n[i].Thunderbolt[0].Unknown = nil, map[string]api.Reason{"negotiated": api.ReasonLinkDown}
			}
		},
	} {
		nodes := []Node{testNode(0), testNode(1)}
		plug(nodes, 0, 1, 1, 1, 80)
		change(nodes)
		drawn := Build(Input{Nodes: nodes}).DOT()
		edge := drawn[strings.Index(drawn, " -- "):]
		edge = edge[strings.LastIndex(edge[:strings.Index(edge, ";")], "\"")+1 : strings.Index(edge, ";")]
		is.Equal(edge, style)
	}
	n := testNode(3)
	n.ShortName = ""
	is.Equal(n.displayName(), testID(3).Display())
}

// Why the other end of a cable is not known.
func TestNonMembers(t *testing.T) {
	is := is.New(t)
	nodes := []Node{testNode(0), testNode(1), testNode(2)}
	nodes[0].Thunderbolt = []Port{testPort(0, 1, both(80), api.ThunderboltPeer{DomainUUID: "0A", Name: "guest"}), testPort(0, 2, both(80), api.ThunderboltPeer{Name: "guest"}),
		testPort(0, 3, both(80), testPeer(1, 1))}
	nodes[1].Thunderbolt, nodes[2].Thunderbolt = []Port{testPort(1, 1, nil)}, []Port{testPort(2, 1, nil)}
	nodes[2].Thunderbolt[0].DomainUUID = testUUID(1, 1)
	var got []api.Reason
	for _, c := range (Build(Input{Nodes: nodes})).RDMACables() {
		got = append(got, c.NonMember)
	}
	is.Equal(got, []api.Reason{api.ReasonPeerUnknown, api.ReasonSourceMalformed, api.ReasonSourcesDisagree})
}

// What the documents of a node say of its receptacles reaches the readiness of its
// cables, each at its own end.
func TestDocumentsOfPorts(t *testing.T) {
	is := is.New(t)
	nodes := []Node{testNode(0), testNode(1)}
	plug(nodes, 0, 1, 1, 2, 80)
	plug(nodes, 0, 3, 1, 4, 80)
	var docs []api.Document
	write := func(node int, kind api.Kind, name string, value any, unknown map[string]api.Reason) {
		d := api.Document{Node: testID(node), Kind: kind, Name: name, Inc: 1, Seq: 1, Unknown: unknown}
		is.NoErr(d.SetValue(value))
		docs = append(docs, d)
	}
	for i := range nodes {
		write(i, api.KindIdentity, "", api.Identity{ShortName: nodes[i].ShortName}, map[string]api.Reason{"os_version": api.ReasonNeedsRoot})
		write(i, api.KindNetwork, "", *nodes[i].Network, nil)
		write(i, api.KindNodeState, "", api.NodeState{State: api.SelfAwake}, nil)
		for k, p := range nodes[i].Thunderbolt {
			write(i, api.KindThunderbolt, p.PortNumber.String(), p.Thunderbolt, map[string]api.Reason{"place": api.ReasonNeedsRoot})
			r := nodes[i].RDMA[k]
			r.Device.Limits = &api.RDMALimits{QueuePairs: 10*i + int(p.PortNumber)}
			write(i, api.KindRDMA, r.PortNumber.String(), r, map[string]api.Reason{"os_capable": api.ReasonPermissionDenied})
		}
	}
	by := api.Principal{User: "ada", Node: testID(0)}
	link := func(a, b int) api.LinkID {
		l, err := api.ParseLinkID(fmt.Sprintf("%s:%d~%s:%d", testID(0), a, testID(1), b))
		is.NoErr(err)
		return l
	}
	write(0, api.KindRDMAChange, link(1, 2).String(), api.RDMAChange{Link: link(1, 2), Change: "c1", State: api.RDMAChangeActive, By: by}, nil)
	write(0, api.KindRDMAChange, link(3, 4).String(), api.RDMAChange{Link: link(3, 4), Change: "c2", State: api.RDMAChangeActive, By: by}, nil)
	write(0, api.KindLinkProfile, link(3, 4).String(), api.LinkProfile{Transport: api.TransportRDMA, Peer: testID(1), Link: link(3, 4)}, nil)
	suspect := api.Condition{Code: api.ReasonRDMAPortSuspect, Subject: string(testID(1)) + ":4"}
	write(1, api.KindCondition, "a", suspect, nil)
	write(0, api.KindCondition, "a", api.Condition{Code: api.ReasonRDMAPortSuspect, Subject: string(testID(1)) + ":3"}, nil) // of another node's receptacle
	write(0, api.KindCondition, "b", api.Condition{Code: api.ReasonRDMAPortSuspect, Subject: string(testID(0))}, nil)        // of no receptacle
	write(0, api.KindCondition, "c", api.Condition{Code: api.ReasonLinkFlapping, Subject: string(testID(0)) + ":3"}, nil)    // of another kind
	known, notes := NodesOf(docs, nil)
	is.Equal(len(notes), 0)
	g := Build(Input{Nodes: known})
	is.Equal(len(g.Readiness()), 2)
	is.Equal([]api.LinkID{g.Readiness()[0].Link, g.Readiness()[1].Link}, []api.LinkID{link(1, 2), link(3, 4)})
	all := g.RDMACables()
	is.Equal(len(all), 2)
	for i, c := range all {
		is.Equal(c.Link, g.Readiness()[i].Link)
		for k, e := range []*struct {
			limits int
			is     bool
		}{{[]int{1, 3}[i], false}, {[]int{12, 14}[i], i == 1}} {
			end := c.Low
			if k == 1 {
				end = c.High
			}
			is.Equal(end.RDMA.Device.Limits.QueuePairs, e.limits)
			is.Equal(g.List().Cables[i].Ends[k].Limits.QueuePairs, e.limits)
			is.Equal(g.Readiness()[i].Ends[k], g.List().Cables[i].Ends[k])
			is.Equal(g.Readiness()[i].Ends[k].Device, end.RDMA.Device.Name)
			is.Equal(end.IsSuspect, e.is)
			is.Equal(end.RDMAUnknown["os_capable"], api.ReasonPermissionDenied)
			is.Equal(end.PortUnknown["place"], api.ReasonNeedsRoot)
			is.Equal(end.IdentityUnknown["os_version"], api.ReasonNeedsRoot)
			is.Equal(end.State.State, api.SelfAwake)
			is.Equal(end.Change != nil, k == 0)
			is.Equal(end.Profile != nil, k == 0 && i == 1)
		}
		is.Equal(c.Low.Change.Change, []string{"c1", "c2"}[i])
	}
	is.Equal(g.List().Cables[1].Reasons, []api.Reason{api.ReasonLinkFlapping})
	for i := range docs {
		docs[i].Value = []byte(`[]`)
	}
	known, notes = NodesOf(docs, nil)
	is.Equal(len(known), 2)
	is.Equal(len(notes), len(docs)) // each is named
	is.Equal(Build(Input{Nodes: known}).List().Cables, []api.Cable{})
}

// A cable whose ends sit in bridges of one Mac is a loop, whichever end has which.
func TestLoopInOneMac(t *testing.T) {
	is := is.New(t)
	nodes := []Node{testNode(0)}
	plug(nodes, 0, 1, 0, 2, 80)
	plug(nodes, 0, 3, 0, 4, 80)
	for i, bridge := range []string{"bridge1", "bridge0", "bridge0", "bridge1"} {
		nodes[0].Network.Interfaces[i].Bridge = bridge
	}
	addInterface(&nodes[0], api.Interface{Name: "bridge0", Type: api.InterfaceBridge, Up: true})
	addInterface(&nodes[0], api.Interface{Name: "bridge1", Type: api.InterfaceBridge, Up: true})
	list := Build(Input{Nodes: nodes}).List()
	is.Equal(numbered(list.Loops), [][]int{{0}})
	for _, c := range list.Cables {
		is.Equal(c.Verdict, api.VerdictBad)
	}
}

// The type of a bridge is that of its members, where they have one.
func TestTypeOfABridge(t *testing.T) {
	bridge := api.Interface{Name: "b", Type: api.InterfaceBridge, Members: []string{"m1", "m2"}}
	for _, c := range []struct {
		members []api.InterfaceType
		want    api.InterfaceType
	}{
		{nil, api.InterfaceUnknown},
		{[]api.InterfaceType{api.InterfaceEthernet}, api.InterfaceEthernet},
		{[]api.InterfaceType{api.InterfaceEthernet, api.InterfaceEthernet}, api.InterfaceEthernet},
		{[]api.InterfaceType{api.InterfaceEthernet, api.InterfaceWiFi}, api.InterfaceUnknown},
		{[]api.InterfaceType{api.InterfaceBridge}, api.InterfaceUnknown},
	} {
		for _, byMember := range []bool{false, true} {
			is := is.New(t)
			n := testNode(0)
			i := bridge
			addInterface(&n, api.Interface{Name: "x", Type: api.InterfaceVPN}) // no member
			for k, kind := range c.members {
				m := api.Interface{Name: fmt.Sprintf("m%d", k+1), Type: kind}
				if byMember {
					m.Bridge, i.Members = "b", nil
				}
				addInterface(&n, m)
			}
			is.Equal((&node{Node: &n}).typeOf(&i), c.want)
		}
	}
}
