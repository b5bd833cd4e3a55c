package topology

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

func TestCables(t *testing.T) {
	hubTB4 := testHub("0x301", "0x1", "Hub", both(40))
	dock := testHub("0x1", "", "Dock", nil)
	withHubs := func(p Port, hubs ...api.ThunderboltHub) Port { p.Hubs = hubs; return p }
	with := func(p Port, change func(*Port)) Port { change(&p); return p }
	nodes := func(ports ...[]Port) []Node {
		var all []Node
		for n, p := range ports {
			all = append(all, testNode(n))
			all[n].Thunderbolt = p
		}
		return all
	}
	stale := func(n int, all []Node) []Node { all[n].Stale = true; return all }
	faulty := func(n int, r api.PortNumber, all []Node) []Node {
		all[n].Faults = map[api.PortNumber][]api.Reason{r: {api.ReasonLinkFlapping}}
		return all
	}
	tests := map[string]struct {
		nodes []Node
		want  []string
	}{
		"direct": {
			nodes([]Port{testPort(0, 1, both(80), testPeer(1, 3))}, []Port{testPort(1, 3, both(80), testPeer(0, 1))}),
			[]string{"0:1~1:3 tb5 80/80 good"},
		},
		"asymmetric, forward from the lower end": {
			nodes([]Port{testPort(0, 1, speedOf(120, 40), testPeer(1, 3))}, []Port{testPort(1, 3, speedOf(40, 120), testPeer(0, 1))}),
			[]string{"0:1~1:3 tb5 120/40 good"},
		},
		"a peer that runs no Fulmen": {
			nodes([]Port{testPort(0, 1, both(80), api.ThunderboltPeer{DomainUUID: "0000000a", Name: "stranger"})}),
			[]string{"0:1~stranger tb5 80/80 unknown peer_unknown one-sided"},
		},
		"a peer whose domain is not told": {
			nodes([]Port{testPort(0, 1, both(80), api.ThunderboltPeer{Name: "stranger"})}),
			[]string{"0:1~stranger tb5 80/80 unknown source_malformed one-sided"},
		},
		"only the higher end tells": {
			nodes([]Port{testPort(0, 1, nil)}, []Port{testPort(1, 3, speedOf(40, 120), testPeer(0, 1))}),
			[]string{"0:1~1:3 tb5 120/40 unknown sources_disagree one-sided"},
		},
		"the end that tells sleeps, the other sees nothing": {
			stale(1, nodes([]Port{testPort(0, 1, nil)}, []Port{testPort(1, 3, both(80), testPeer(0, 1))})),
			[]string{"0:1~1:3 tb5 80/80 down link_down one-sided stale"},
		},
		"the same at the lower end": {
			stale(0, nodes([]Port{testPort(0, 1, both(80), testPeer(1, 3))}, []Port{testPort(1, 3, nil)})),
			[]string{"0:1~1:3 tb5 80/80 down link_down one-sided stale"},
		},
		"a hub that one end names and does not describe": {
			nodes([]Port{testPort(0, 1, both(80), behind(testPeer(1, 3), "0x1", both(80)))}, []Port{testPort(1, 3, both(80), testPeer(0, 1))}),
			[]string{"0:1~1:3 unknown ? unknown source_malformed"},
		},
		"both tell, one sleeps": {
			stale(1, nodes([]Port{testPort(0, 1, both(80), testPeer(1, 3))}, []Port{testPort(1, 3, both(80), testPeer(0, 1))})),
			[]string{"0:1~1:3 tb5 80/80 unknown unreachable stale"},
		},
		"one end says that it flaps": {
			faulty(1, 3, nodes([]Port{testPort(0, 1, both(80), testPeer(1, 3))}, []Port{testPort(1, 3, both(80), testPeer(0, 1))})),
			[]string{"0:1~1:3 tb5 80/80 bad link_flapping"},
		},
		"another cable flaps": {
			faulty(1, 2, nodes([]Port{testPort(0, 1, both(80), testPeer(1, 3))}, []Port{testPort(1, 3, both(80), testPeer(0, 1))})),
			[]string{"0:1~1:3 tb5 80/80 good"},
		},
		"ends disagree on the speed: the slower counts": {
			nodes([]Port{testPort(0, 1, both(80), testPeer(1, 3))}, []Port{testPort(1, 3, both(40), testPeer(0, 1))}),
			[]string{"0:1~1:3 tb4 40/40 slow link_below_ports sources_disagree"},
		},
		"one end does not tell the speed of one cable": {
			nodes([]Port{testPort(0, 1, nil, testPeer(1, 3))}, []Port{testPort(1, 3, both(80), testPeer(0, 1))}),
			[]string{"0:1~1:3 tb5 80/80 good"},
		},
		"trained down": {
			nodes([]Port{with(testPort(0, 1, nil, testPeer(1, 3)), func(p *Port) { p.Unknown = map[string]api.Reason{"negotiated": api.ReasonLinkDown} })}, []Port{testPort(1, 3, nil, testPeer(0, 1))}),
			[]string{"0:1~1:3 unknown ? down link_down"},
		},
		"speed without generation: only tb5 is that fast": {
			nodes([]Port{testPort(0, 1, &api.ThunderboltSpeed{TxBitsPerS: 80 * gigabit, RxBitsPerS: 80 * gigabit}, testPeer(1, 1)),
				testPort(0, 2, &api.ThunderboltSpeed{TxBitsPerS: 40 * gigabit, RxBitsPerS: 40 * gigabit}, testPeer(1, 2))},
				[]Port{testPort(1, 1, nil, testPeer(0, 1)), testPort(1, 2, nil, testPeer(0, 2))}),
			[]string{"0:1~1:1 tb5 80/80 good", "0:2~1:2 unknown 40/40 slow link_below_ports"},
		},
		"a port of Thunderbolt 4 asks for no more": {
			nodes([]Port{with(testPort(0, 1, both(40), testPeer(1, 3)), func(p *Port) { p.Capability = api.Thunderbolt4 })}, []Port{testPort(1, 3, both(40), testPeer(0, 1))}),
			[]string{"0:1~1:3 tb4 40/40 good"},
		},
		"what the other port can is not told": {
			nodes([]Port{with(testPort(0, 1, both(40), testPeer(1, 3)), func(p *Port) {
				p.Capability, p.Unknown = "", map[string]api.Reason{"capability": api.ReasonNeedsRoot}
			})}, []Port{testPort(1, 3, both(40), testPeer(0, 1))}),
			[]string{"0:1~1:3 tb4 40/40 unknown needs_root"},
		},
		"hub seen from one end": {
			nodes([]Port{withHubs(testPort(0, 1, both(80), behind(testPeer(1, 3), "0x1", both(80))), dock)}, []Port{testPort(1, 3, both(80), testPeer(0, 1))}),
			[]string{"0:1~1:3 tb5 80/80 good via Dock"},
		},
		"two hubs seen from both ends, slow in the middle": {
			nodes([]Port{withHubs(testPort(0, 1, both(80), behind(testPeer(1, 3), "0x301", both(80))), hubTB4, dock)},
				[]Port{withHubs(testPort(1, 3, both(80), behind(testPeer(0, 1), "0x301", both(80))), testHub("0x1", "", "Hub", nil), testHub("0x301", "0x1", "Dock", both(40)))}),
			[]string{"0:1~1:3 tb4 40/40 slow hub_between via Dock,Hub"},
		},
		"each end sees its own hub only": {
			nodes([]Port{withHubs(testPort(0, 1, both(80), behind(testPeer(1, 3), "0x1", speedOf(120, 40))), dock)},
				[]Port{withHubs(testPort(1, 3, both(80), behind(testPeer(0, 1), "0x1", both(80))), testHub("0x1", "", "Other", nil))}),
			[]string{"0:1~1:3 tb5 80/40 slow hub_between via Dock,Other"},
		},
		"a hop that nobody tells": {
			nodes([]Port{withHubs(testPort(0, 1, both(80), behind(testPeer(1, 3), "0x301", both(80))), dock, testHub("0x301", "0x1", "Hub", nil))},
				[]Port{testPort(1, 3, both(80), testPeer(0, 1))}),
			[]string{"0:1~1:3 unknown ? unknown not_yet_read via Dock,Hub"},
		},
		"a hub that hangs on itself": {
			nodes([]Port{withHubs(testPort(0, 1, both(80), behind(testPeer(1, 3), "0x1", both(80))), testHub("0x1", "0x1", "Dock", both(80)))}, []Port{testPort(1, 3, nil)}),
			[]string{"0:1~1:3 unknown ? unknown sources_disagree source_malformed via Dock one-sided"},
		},
		"two peers behind one hub": {
			nodes([]Port{withHubs(testPort(0, 1, both(80), behind(testPeer(1, 1), "0x1", both(80)), behind(testPeer(2, 1), "0x1", both(40))), dock)},
				[]Port{testPort(1, 1, both(80), testPeer(0, 1))}, []Port{testPort(2, 1, both(40), testPeer(0, 1))}),
			[]string{"0:1~1:1 tb5 80/80 good via Dock", "0:1~2:1 tb4 40/40 slow hub_between via Dock"},
		},
		"both ends in one Mac": {
			nodes([]Port{testPort(0, 1, both(80), testPeer(0, 2)), testPort(0, 2, both(80), testPeer(0, 1))}),
			[]string{"0:1~0:2 tb5 80/80 good"},
		},
		"a port that names itself": {
			nodes([]Port{testPort(0, 1, both(80), testPeer(0, 1))}), []string{},
		},
		"two nodes claim one domain": {
			nodes([]Port{testPort(0, 1, both(80), testPeer(1, 1))}, []Port{testPort(1, 1, both(80), testPeer(0, 1))},
				[]Port{with(testPort(2, 1, nil), func(p *Port) { p.DomainUUID = testUUID(1, 1) })}),
			[]string{"0:1~Mac 1 tb5 80/80 unknown sources_disagree one-sided", "1:1~Mac 0 tb5 80/80 unknown sources_disagree one-sided"},
		},
		"a node that sleeps claims the domain of one that does not": {
			stale(2, nodes([]Port{testPort(0, 1, both(80), testPeer(1, 1))}, []Port{testPort(1, 1, both(80), testPeer(0, 1))},
				[]Port{with(testPort(2, 1, both(80), testPeer(0, 1)), func(p *Port) { p.DomainUUID = testUUID(1, 1) })})),
			[]string{"0:1~1:1 tb5 80/80 good", "2:1~Mac 0 tb5 80/80 unknown unreachable sources_disagree one-sided stale"},
		},
		"faster than any cable": {
			nodes([]Port{testPort(0, 1, &api.ThunderboltSpeed{TxBitsPerS: maxBitsPerS + 1, RxBitsPerS: 1}, testPeer(1, 1))}, []Port{testPort(1, 1, nil, testPeer(0, 1))}),
			[]string{"0:1~1:1 unknown ? unknown source_malformed"},
		},
		"strangers behind one port, by name, hubs and domain": {
			nodes([]Port{withHubs(testPort(0, 1, both(80), api.ThunderboltPeer{DomainUUID: "0000000C", Name: "b"}, api.ThunderboltPeer{DomainUUID: "0000000B", Name: "b"},
				behind(api.ThunderboltPeer{DomainUUID: "0000000A", Name: "b"}, "0x1", both(40)), api.ThunderboltPeer{DomainUUID: "0000000D", Name: "a"}), dock)}),
			[]string{"0:1~a tb5 80/80 unknown peer_unknown one-sided", "0:1~b tb5 80/80 unknown peer_unknown one-sided",
				"0:1~b tb5 80/80 unknown peer_unknown one-sided", "0:1~b tb4 40/40 unknown peer_unknown via Dock one-sided"},
		},
		"a stranger on a port whose cable is known": {
			nodes([]Port{testPort(0, 1, both(80), testPeer(1, 3), api.ThunderboltPeer{DomainUUID: "0000000A", Name: "b"})}, []Port{testPort(1, 3, both(80), testPeer(0, 1))}),
			[]string{"0:1~b tb5 80/80 unknown peer_unknown one-sided", "0:1~1:3 tb5 80/80 good"},
		},
		"one peer told twice: by the way with fewer hubs": {
			nodes([]Port{withHubs(testPort(0, 1, both(80), behind(testPeer(1, 3), "0x301", both(80)), behind(testPeer(1, 3), "0x1", both(80))), hubTB4, dock)}, []Port{testPort(1, 3, nil)}),
			[]string{"0:1~1:3 tb5 80/80 unknown sources_disagree via Dock one-sided"},
		},
		"both ends sleep, one tells": {
			stale(0, stale(1, nodes([]Port{testPort(0, 1, nil)}, []Port{testPort(1, 3, both(80), testPeer(0, 1))}))),
			[]string{"0:1~1:3 tb5 80/80 unknown unreachable sources_disagree one-sided stale"},
		},
		"the end that tells nothing sleeps": {
			stale(0, nodes([]Port{testPort(0, 1, nil)}, []Port{testPort(1, 3, both(80), testPeer(0, 1))})),
			[]string{"0:1~1:3 tb5 80/80 unknown unreachable sources_disagree one-sided stale"},
		},
		"the higher end that tells nothing sleeps": {
			stale(1, nodes([]Port{testPort(0, 1, both(80), testPeer(1, 3))}, []Port{testPort(1, 3, nil)})),
			[]string{"0:1~1:3 tb5 80/80 unknown unreachable sources_disagree one-sided stale"},
		},
		"it flaps and is down": {
			faulty(1, 3, stale(1, nodes([]Port{testPort(0, 1, nil)}, []Port{testPort(1, 3, both(80), testPeer(0, 1))}))),
			[]string{"0:1~1:3 tb5 80/80 down link_down one-sided stale"},
		},
		"the lower end flaps": {
			faulty(0, 1, nodes([]Port{testPort(0, 1, both(80), testPeer(1, 3))}, []Port{testPort(1, 3, both(80), testPeer(0, 1))})),
			[]string{"0:1~1:3 tb5 80/80 bad link_flapping"},
		},
		"just what both ports can, unevenly": {
			nodes([]Port{testPort(0, 1, speedOf(120, 40), testPeer(1, 3)), testPort(0, 2, speedOf(120, 39), testPeer(1, 4))},
				[]Port{testPort(1, 3, nil, testPeer(0, 1)), testPort(1, 4, nil, testPeer(0, 2))}),
			[]string{"0:1~1:3 tb5 120/40 good", "0:2~1:4 tb5 120/39 slow link_below_ports"},
		},
		"one receptacle described twice": {
			nodes([]Port{testPort(0, 1, both(80), testPeer(1, 1)), testPort(0, 1, both(40), testPeer(1, 1))}, []Port{testPort(1, 1, both(80), testPeer(0, 1))}),
			[]string{"1:1~Mac 0 tb5 80/80 unknown peer_unknown one-sided"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			got := []string{}
			for _, c := range Build(Input{Nodes: tt.nodes}).List().Cables {
				got = append(got, summary(c))
			}
			is.Equal(got, tt.want)
		})
	}
}

func TestDomainMatchesInEitherCase(t *testing.T) {
	is := is.New(t)
	nodes := []Node{testNode(0), testNode(1)}
	plug(nodes, 0, 1, 1, 1, 80)
	nodes[1].Thunderbolt[0].DomainUUID = "00000002-0000-4000-8000-00000000000a"
	nodes[0].Thunderbolt[0].Peers[0].DomainUUID = "00000002-0000-4000-8000-00000000000A"
	is.Equal(summary(Build(Input{Nodes: nodes}).List().Cables[0]), "0:1~1:1 tb5 80/80 good")
}

func TestRDMAVerdictIsFactsOfBothEnds(t *testing.T) {
	no := false
	tests := map[string]struct {
		change func(nodes []Node)
		want   api.RDMAVerdict
		cause  api.Reason
	}{
		"all there":       {func([]Node) {}, api.RDMAReady, ""},
		"hardware cannot": {func(n []Node) { n[1].RDMA[0].HardwareCapable = &no }, api.RDMACannot, api.ReasonNotThunderbolt5},
		"port cannot":     {func(n []Node) { n[0].Thunderbolt[0].Capability = api.Thunderbolt4 }, api.RDMACannot, api.ReasonNotThunderbolt5},
		"old system":      {func(n []Node) { n[0].RDMA[0].OSCapable = &no }, api.RDMANeedsPerson, api.ReasonOSTooOld},
		"switched off":    {func(n []Node) { n[1].RDMA[0].SwitchedOn, n[1].RDMA[0].Device = &no, nil }, api.RDMANeedsPerson, api.ReasonRDMASwitchOff},
		"no device told":  {func(n []Node) { n[1].RDMA[0].Device = nil }, api.RDMAUnknown, api.ReasonNotYetRead},
		"not restarted": {func(n []Node) {
			n[1].RDMA[0].Device, n[1].RDMAUnknown = nil, map[api.PortNumber]map[string]api.Reason{2: {"device": api.ReasonRDMANoDevice}}
		}, api.RDMANeedsPerson, api.ReasonRDMANoDevice},
		"port down":       {func(n []Node) { n[1].RDMA[0].Device.PortState = api.RDMAPortDown }, api.RDMANeedsPerson, api.ReasonRDMAPortDown},
		"state not told":  {func(n []Node) { n[1].RDMA[0].Device.PortState = "" }, api.RDMAUnknown, api.ReasonNotYetRead},
		"switch not told": {func(n []Node) { n[1].RDMA[0].SwitchedOn = nil }, api.RDMAUnknown, api.ReasonNotYetRead},
		"no document":     {func(n []Node) { n[0].RDMA = nil }, api.RDMAUnknown, api.ReasonNotYetRead},
		"no IPv4 GID":     {func(n []Node) { n[0].RDMA[0].Device.GIDs = []api.GID{} }, api.RDMACanEnable, api.ReasonRDMANoIPv4GID},
		"GIDs not told":   {func(n []Node) { n[0].RDMA[0].Device.GIDs = nil }, api.RDMAUnknown, api.ReasonNotYetRead},
		"in a bridge":     {func(n []Node) { n[0].Network.Interfaces[0].Bridge = "bridge0" }, api.RDMACanEnable, api.ReasonInBridge},
		"too slow":        {func(n []Node) { n[0].Thunderbolt[0].Negotiated = both(40) }, api.RDMANeedsPerson, api.ReasonLinkTooSlow},
		"service missing": {func(n []Node) {
			n[0].Thunderbolt[0].Peers[0].Services = []api.ThunderboltService{api.ServiceIP}
			n[0].RDMA[0].Device.PortState = api.RDMAPortDown
		}, api.RDMANeedsPerson, api.ReasonRDMANotOffered},
		"active without":  {func(n []Node) { n[0].Thunderbolt[0].Peers[0].Services = []api.ThunderboltService{api.ServiceIP} }, api.RDMAReady, ""},
		"no network told": {func(n []Node) { n[0].Network, n[1].Network = nil, nil }, api.RDMAUnknown, api.ReasonNotYetRead},
		"an end is away":  {func(n []Node) { n[1].Stale = true }, api.RDMAUnknown, api.ReasonUnreachable},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			nodes := []Node{testNode(0), testNode(1)}
			plug(nodes, 0, 1, 1, 2, 80)
			tt.change(nodes)
			g := Build(Input{Nodes: nodes})
			is.Equal(g.List().Cables[0].RDMA, tt.want)
			caused := slices.ContainsFunc(g.cables[0].rdma.Causes, func(c api.Cause) bool { return c.Reason == tt.cause })
			is.Equal(caused, tt.cause != "")
		})
	}
}

func TestMutedByEitherEnd(t *testing.T) {
	is := is.New(t)
	nodes := []Node{testNode(0), testNode(1)}
	plug(nodes, 0, 1, 1, 1, 80)
	plug(nodes, 0, 2, 1, 2, 80)
	link, err := api.ParseLinkID(string(testID(1)) + ":2~" + string(testID(0)) + ":2")
	is.NoErr(err)
	nodes[1].Profiles = []Profile{{Name: link.String(), LinkProfile: api.LinkProfile{
		Transport: api.TransportRDMA, Peer: testID(0), Link: link, Muted: true}}}
	cables := Build(Input{Nodes: nodes}).List().Cables
	is.Equal([]bool{cables[0].Muted, cables[1].Muted}, []bool{false, true})
}

const (
	nodeA = api.NodeID("cpv0cwypxp44qw0p")
	nodeB = api.NodeID("71532pmrr5f6wz0c")
)

// applied is what a client has that keeps to the words of LinkChanged.
func applied(list api.LinkListResult, c api.LinkChanged) api.LinkListResult {
	list.Cables, list.Rows = slices.Clone(list.Cables), slices.Clone(list.Rows)
	list.Cables = slices.DeleteFunc(list.Cables, func(one api.Cable) bool { return slices.Contains(c.GoneCables, one.Ends[0].End) })
	for _, cable := range c.Cables {
		at := slices.IndexFunc(list.Cables, func(one api.Cable) bool {
			if cable.Link.Valid() || one.Link.Valid() {
				return one.Link == cable.Link
			}
			return one.Ends[0].End == cable.Ends[0].End && one.PeerName == cable.PeerName
		})
		if at < 0 || slices.Contains(c.GoneCables, cable.Ends[0].End) {
			list.Cables = append(list.Cables, cable)
			continue
		}
		list.Cables[at] = cable
	}
	list.Rows = slices.DeleteFunc(list.Rows, func(one api.LinkRow) bool { return slices.Contains(c.GoneRows, one.LinkRowKey) })
	for _, row := range c.Rows {
		if at := slices.IndexFunc(list.Rows, func(one api.LinkRow) bool { return one.LinkRowKey == row.LinkRowKey }); at >= 0 {
			list.Rows[at] = row
		} else {
			list.Rows = append(list.Rows, row)
		}
	}
	if c.Loops != nil {
		list.Loops = c.Loops
	}
	return list
}

// graphOf makes a graph of a few cables, rows and loops by chance.
func graphOf(r *rand.Rand) api.LinkListResult {
	list := api.LinkListResult{Cables: []api.Cable{}, Rows: []api.LinkRow{}, Loops: [][]api.NodeID{}}
	used := map[api.LinkID]bool{}
	for range r.IntN(6) {
		low := api.LinkEnd{Node: nodeB, PortNumber: api.PortNumber(1 + r.IntN(2))}
		cable := api.Cable{Ends: []api.CableEnd{{End: low}}, Kind: []api.LinkKind{api.LinkTB4, api.LinkTB5}[r.IntN(2)]}
		if r.IntN(2) == 0 {
			cable.PeerName = []string{"Mac15,14", "Mac17,6"}[r.IntN(2)] // a hub may lead to two that are called alike
		} else {
			high := api.LinkEnd{Node: nodeA, PortNumber: api.PortNumber(1 + r.IntN(3))}
			cable.Link = api.LinkID{Low: low, High: high}
			cable.Ends = append(cable.Ends, api.CableEnd{End: high})
			if used[cable.Link] {
				continue
			}
			used[cable.Link] = true
		}
		list.Cables = append(list.Cables, cable)
	}
	for n := range 3 {
		if r.IntN(2) == 0 {
			row := api.LinkRow{LinkRowKey: api.LinkRowKey{From: nodeA, To: nodeB, Name: string(rune('a' + n))}, Old: r.IntN(2) == 0}
			list.Rows = append(list.Rows, row)
		}
	}
	if r.IntN(3) == 0 {
		list.Loops = append(list.Loops, []api.NodeID{nodeB, nodeA})
	}
	return list
}

// sorted puts a graph in an order in which two can be compared.
func sorted(list api.LinkListResult) api.LinkListResult {
	slices.SortFunc(list.Cables, func(a, b api.Cable) int {
		if d := a.Ends[0].End.Compare(b.Ends[0].End); d != 0 {
			return d
		}
		if d := a.Link.Compare(b.Link); d != 0 {
			return d
		}
		return slices.Compare([]string{a.PeerName, string(a.Kind)}, []string{b.PeerName, string(b.Kind)})
	})
	slices.SortFunc(list.Rows, func(a, b api.LinkRow) int { return slices.Compare([]byte(a.Name), []byte(b.Name)) })
	return list
}

// Whoever applies the differences has the new graph, whatever the two were.
func TestDifferencesLeadToTheNewGraph(t *testing.T) {
	r := testkit.Fixed(t, 1).Source(2)
	for range 2000 {
		is := is.New(t)
		before, after := graphOf(r), graphOf(r)
		change, changed := Diff(before, after)
		is.Equal(sorted(applied(before, change)), sorted(after))
		if _, again := Diff(after, after); again {
			t.Fatal("a graph differs from itself")
		}
		if !changed {
			is.Equal(sorted(before), sorted(after))
		}
	}
}

func TestOnlyDifferencesAreSent(t *testing.T) {
	is := is.New(t)
	end := func(node api.NodeID, n int) api.LinkEnd {
		return api.LinkEnd{Node: node, PortNumber: api.PortNumber(n)}
	}
	cable := func(n int, kind api.LinkKind) api.Cable {
		link := api.LinkID{Low: end(nodeB, n), High: end(nodeA, n)}
		return api.Cable{Link: link, Ends: []api.CableEnd{{End: link.Low}, {End: link.High}}, Kind: kind}
	}
	before := api.LinkListResult{Cables: []api.Cable{cable(1, api.LinkTB5), cable(2, api.LinkTB5), cable(3, api.LinkTB5)}, Loops: [][]api.NodeID{{nodeA}}}
	after := api.LinkListResult{Cables: []api.Cable{cable(1, api.LinkTB5), cable(2, api.LinkTB4)}}
	change, _ := Diff(before, after)
	is.Equal(change, api.LinkChanged{
		Cables: []api.Cable{cable(2, api.LinkTB4)}, GoneCables: []api.LinkEnd{end(nodeB, 3)}, Loops: [][]api.NodeID{},
	})
}
