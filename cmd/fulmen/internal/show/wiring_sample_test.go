package show

import (
	"net/netip"
	"testing"
	"time"

	"fulmen/daemon/api"
)

const (
	second = api.NodeID("j79r4zr55xd4ph64")
	book   = api.NodeID("nbkp2dvz7d7hy1ys")
)

func end(node api.NodeID, portNumber api.PortNumber) api.LinkEnd {
	return api.LinkEnd{Node: node, PortNumber: portNumber}
}

func gbits(n int64) *int64 { return ptr(n * 1e9) }

func at(n int64) *api.ThunderboltSpeed {
	g := api.Thunderbolt5
	if n <= 40 {
		g = api.Thunderbolt4
	}
	return &api.ThunderboltSpeed{TxBitsPerS: n * 1e9, RxBitsPerS: n * 1e9, Generation: g}
}

// named makes a document with a name, simulated as all of these samples are.
func named(t *testing.T, node api.NodeID, kind api.Kind, name string, value any) api.Document {
	d := doc(t, node, kind, value, nil)
	d.Name, d.Simulated = name, true
	return d
}

func portDoc(t *testing.T, node api.NodeID, p api.Thunderbolt) api.Document {
	p.Capability = api.Thunderbolt5
	if p.Connected == nil {
		p.Connected = ptr(p.Peers != nil || p.Hubs != nil)
	}
	if p.DomainUUID == "" {
		p.DomainUUID = string(node[:4]) + p.PortNumber.String()
	}
	return named(t, node, api.KindThunderbolt, p.PortNumber.String(), p)
}

func peerOf(node api.NodeID, portNumber string) api.ThunderboltPeer {
	return api.ThunderboltPeer{DomainUUID: string(node[:4]) + portNumber, Name: "a Mac", Services: []api.ThunderboltService{api.ServiceIP}}
}

func rdmaDoc(t *testing.T, node api.NodeID, r api.RDMA) api.Document {
	return named(t, node, api.KindRDMA, r.PortNumber.String(), r)
}

func clusterNodes() []api.NodeView {
	return []api.NodeView{
		{Node: studio, ShortName: "mac-studio", Self: true, Simulated: true, Liveness: api.LivenessAlive, Since: before(time.Hour)},
		{Node: second, ShortName: "mac-studio-2", Simulated: true, Liveness: api.LivenessAlive, Since: before(time.Hour)},
		{Node: book, ShortName: "book", Simulated: true, Liveness: api.LivenessAsleep, Since: before(time.Hour), Message: "It went to sleep.",
			Paths: []api.PathView{{Address: api.PeerAddress{Peer: book, Address: netip.MustParseAddr("192.168.1.9")}, Interface: "en0", Kind: api.LinkWiFi, State: api.PathFailed}}},
	}
}

// clusterDocs are three Macs: two joined directly, the third through a dock.
func clusterDocs(t *testing.T) []api.Document {
	identity := func(node api.NodeID, model, chip string) api.Document {
		return named(t, node, api.KindIdentity, "", api.Identity{Name: model, ModelName: model, Chip: chip})
	}
	throughDock := peerOf(book, "2")
	throughDock.Hub, throughDock.Negotiated = "3", at(40)
	guest := api.ThunderboltPeer{DomainUUID: "ffff", Name: "guest\x1b[2J", Hub: "3", Negotiated: at(40)}
	fromBook := peerOf(studio, "3")
	fromBook.Hub, fromBook.Negotiated = "1", at(80)
	dock := api.ThunderboltHub{Route: "3", Vendor: "CalDigit", Name: "TS5 Plus"}
	active := &api.RDMADevice{Name: "rdma_en3", Interface: "en3", PortState: api.RDMAPortActive}
	return []api.Document{
		identity(studio, "Mac Studio", "Apple M3 Ultra"), identity(second, "Mac Studio", "Apple M3 Ultra"), identity(book, "MacBook Pro", "Apple M5 Max"),
		portDoc(t, studio, api.Thunderbolt{PortNumber: 1, Place: "back, leftmost", Interface: "en3", Negotiated: at(80), Peers: []api.ThunderboltPeer{peerOf(second, "1")}}),
		portDoc(t, studio, api.Thunderbolt{PortNumber: 2, Place: "back, second", Interface: "en4"}),
		portDoc(t, studio, api.Thunderbolt{PortNumber: 3, Place: "back, third", Interface: "en5", Negotiated: at(80), Hubs: []api.ThunderboltHub{dock}, Peers: []api.ThunderboltPeer{throughDock, guest}}),
		rdmaDoc(t, studio, api.RDMA{PortNumber: 1, SwitchedOn: ptr(true), Device: active}),
		rdmaDoc(t, studio, api.RDMA{PortNumber: 2, SwitchedOn: ptr(true)}),
		portDoc(t, second, api.Thunderbolt{PortNumber: 1, Place: "back, leftmost", Interface: "en3", Negotiated: at(80), Peers: []api.ThunderboltPeer{peerOf(studio, "1")}}),
		rdmaDoc(t, second, api.RDMA{PortNumber: 1, SwitchedOn: ptr(true), Device: active}),
		portDoc(t, book, api.Thunderbolt{PortNumber: 2, Place: "left, rear", Interface: "en2", Negotiated: at(40), Hubs: []api.ThunderboltHub{{Route: "1", Vendor: "CalDigit", Name: "TS5 Plus"}}, Peers: []api.ThunderboltPeer{fromBook}}),
		rdmaDoc(t, book, api.RDMA{PortNumber: 2, HardwareCapable: ptr(true), OSCapable: ptr(false)}),
		named(t, studio, api.KindReach, string(second)+"/192.168.1.5", api.Reach{Peer: second, Address: netip.MustParseAddr("192.168.1.5"), Interface: "en0", PeerInterface: "en0", Kind: api.LinkEthernet, State: api.PathStandby}),
		named(t, book, api.KindNetwork, "", api.Network{Interfaces: []api.Interface{{Name: "en1", Type: api.InterfaceWiFi, Addresses: []api.InterfaceAddress{{Address: netip.MustParsePrefix("192.168.1.9/24")}}}}}),
	}
}

func link(a, b api.LinkEnd) api.LinkID {
	id, err := api.NewLinkID(a, b)
	if err != nil {
		panic(err)
	}
	return id
}

func clusterLinks() api.LinkListResult {
	direct, docked := link(end(studio, 1), end(second, 1)), link(end(studio, 3), end(book, 2))
	return api.LinkListResult{
		Cables: []api.Cable{
			{Link: direct, Kind: api.LinkTB5, ForwardBitsPerS: gbits(80), BackwardBitsPerS: gbits(80), RDMA: api.RDMAReady, Style: api.LinkRDMA, Verdict: api.VerdictGood,
				LinkNumbers: api.LinkNumbers{MeasuredForwardBitsPerS: ptr(int64(74.8e9)), MeasuredBackwardBitsPerS: ptr(int64(74.8e9)), RTTUS: ptr(18.)}, Simulated: true,
				Ends: []api.CableEnd{{End: direct.Low, Place: "back, leftmost", Interface: "en3", Device: "rdma_en3"}, {End: direct.High, Place: "back, leftmost", Interface: "en3", Device: "rdma_en3"}}},
			{Link: docked, Kind: api.LinkTB4, ForwardBitsPerS: gbits(40), BackwardBitsPerS: gbits(40), Hubs: []string{"CalDigit TS5 Plus"}, RDMA: api.RDMACannot,
				Verdict: api.VerdictSlow, Reasons: []api.Reason{api.ReasonHubBetween}, Stale: true, Simulated: true,
				Ends: []api.CableEnd{{End: docked.Low, Place: "back, third", Interface: "en5"}, {End: docked.High, Place: "left, rear", Interface: "en2"}}},
			{Kind: api.LinkTB4, ForwardBitsPerS: gbits(120), BackwardBitsPerS: gbits(40), PeerName: "guest\x1b[2J", RDMA: api.RDMAUnknown, Verdict: api.VerdictUnknown,
				Reasons: []api.Reason{api.ReasonPeerUnknown}, OneSided: true, Muted: true, Simulated: true, Ends: []api.CableEnd{{End: end(studio, 3), Interface: "en5"}}},
		},
		Rows: []api.LinkRow{
			{LinkRowKey: api.LinkRowKey{From: studio, To: second, Transport: api.TransportSocket, Name: string(second) + "/169.254.1.2"}, Kind: api.LinkTB5, Link: direct,
				UpBitsPerS: ptr(int64(52.64e9)), DownBitsPerS: ptr(int64(60.7e9)), RTTUS: ptr(340.), JitterUS: ptr(31.), MeasuredAt: before(3 * time.Minute), Verdict: api.VerdictGood, Simulated: true},
			{LinkRowKey: api.LinkRowKey{From: studio, To: second, Transport: api.TransportRDMA, Name: direct.String()}, Kind: api.LinkRDMA, Link: direct,
				UpBitsPerS: ptr(int64(74.8e9)), DownBitsPerS: ptr(int64(74.8e9)), RTTUS: ptr(18.), MeasuredAt: before(7 * time.Hour), Old: true, Verdict: api.VerdictGood, Simulated: true},
			{LinkRowKey: api.LinkRowKey{From: studio, To: book, Transport: api.TransportSocket, Name: string(book) + "/192.168.1.9"}, Kind: api.LinkWiFi,
				Verdict: api.VerdictDown, Reasons: []api.Reason{api.ReasonLinkDown}, Simulated: true},
			{LinkRowKey: api.LinkRowKey{From: studio, To: second, Transport: api.TransportSocket, Name: string(second) + "/192.168.1.5"}, Kind: api.LinkEthernet,
				Verdict: api.VerdictUnknown, Reasons: []api.Reason{api.ReasonNotMeasured}, Simulated: true},
		},
	}
}

func mesh(t *testing.T) Topology {
	return Topology{Nodes: clusterNodes(), Docs: clusterDocs(t), Links: clusterLinks()}
}

// unknown is a cluster about which little is told, and some of it by somebody
// who means ill: names that act on terminals, hubs that hang on each other.
func unknown(t *testing.T) Topology {
	const here = api.NodeID("078fnf953z5vwawj")
	evil := "evil\n\u202e\x1b[2J"
	ring := []api.ThunderboltHub{{Route: "1", Parent: "2", Name: evil}, {Route: "2", Parent: "1"}, {Route: "4", Parent: "4", Vendor: "Self"}}
	lost := peerOf(second, "1")
	lost.Hub = "9"
	unreported := doc(t, here, api.KindThunderbolt, api.Thunderbolt{PortNumber: 3}, map[string]api.Reason{"connected": api.ReasonReadFailed, "place": api.ReasonNotSupportedByPlatform})
	oneSided := link(end(here, 3), end(second, 1))
	return Topology{
		Nodes: []api.NodeView{
			{Node: here, ShortName: evil, Self: true, Liveness: api.LivenessAlive},
			{Node: second, Liveness: api.LivenessUnreachable, Message: evil + "."},
		},
		Docs: []api.Document{
			portDoc(t, here, api.Thunderbolt{PortNumber: 2, Place: evil, Hubs: ring, Peers: []api.ThunderboltPeer{lost, {}, {DomainUUID: "dead", Name: evil}}}),
			unreported,
			silenced(portDoc(t, here, api.Thunderbolt{PortNumber: 10, Connected: ptr(true)})),
			doc(t, here, api.KindThunderbolt, "no object", nil),
			rdmaDoc(t, here, api.RDMA{PortNumber: 2, Device: &api.RDMADevice{Name: evil, PortState: "sideways"}}),
			{Node: second, Kind: api.KindThunderbolt, Name: "1", Deleted: true},
		},
		Links: api.LinkListResult{
			Cables: []api.Cable{
				{Link: oneSided, Kind: api.LinkUnknown, OneSided: true, RDMA: "perhaps", Verdict: "odd", Reasons: []api.Reason{"from_the_future", api.ReasonInBridge}, BackwardBitsPerS: gbits(40),
					Ends: []api.CableEnd{{End: oneSided.Low}, {End: oneSided.High, Place: evil}}},
			},
			Rows:  []api.LinkRow{{LinkRowKey: api.LinkRowKey{From: here, To: second, Transport: "pigeon", Name: evil}, Kind: api.LinkKind(evil), Verdict: api.VerdictUnknown}},
			Loops: [][]api.NodeID{{here, second, book}},
		},
	}
}

func clusterLink() api.LinkGetResult {
	list := clusterLinks()
	return api.LinkGetResult{Cable: list.Cables[0], Rows: list.Rows[:2], RDMA: api.RDMAReadiness{
		Link: list.Cables[0].Link, Verdict: api.RDMAReady, Text: "RDMA can be used over this cable.",
		Checks: []api.RDMACheck{
			{Check: api.CheckSpeed, Answer: api.AnswerYes, Text: "The cable negotiated 80 Gb/s."},
			{Check: api.CheckSameBuild, Answer: api.AnswerNo, Advice: true, Reason: api.ReasonRDMABuildsDiffer, Text: "The Macs run different builds of macOS.", Remedy: "Update both to the same build."},
			{Check: api.CheckPortActive, End: end(studio, 1), Answer: api.AnswerYes, Text: "The RDMA port is active."},
			{Check: api.CheckPortActive, End: end(second, 1), Answer: api.AnswerYes, Text: "The RDMA port is active."},
		},
	}}
}

// dockedLink is a cable that RDMA does not work over yet.
func dockedLink() api.LinkGetResult {
	list := clusterLinks()
	return api.LinkGetResult{Cable: list.Cables[1], RDMA: api.RDMAReadiness{
		Link: list.Cables[1].Link, Verdict: api.RDMANeedsPerson, Text: "RDMA is off on book.",
		Checks: []api.RDMACheck{
			{Check: api.CheckSwitch, End: end(book, 2), Answer: api.AnswerNo, Reason: api.ReasonRDMASwitchOff, Text: "RDMA is switched off.", Remedy: "Switch it on in Recovery."},
			{Check: api.CheckDevice, End: end(book, 2), Answer: api.AnswerUnknown, Reason: api.ReasonNotYetRead, Text: "Whether the port has a device is not known."},
		},
	}}
}

// alikeLinks are two cables between the same Macs that were measured together too, and with a
// second address of the first where that is asked for.
func alikeLinks(secondAddress bool) api.LinkListResult {
	all := clusterLinks()
	twice := link(end(studio, 2), end(second, 2))
	first := all.Rows[0]
	other := first
	other.Link, other.Name = twice, string(second)+"/169.254.2.2"
	first.Together = &api.LinkTogether{Sinks: []netip.Addr{netip.MustParseAddr("169.254.1.2"), netip.MustParseAddr("169.254.2.2")}, UpBitsPerS: ptr(int64(88e9)), DownBitsPerS: ptr(int64(99e9))}
	all.Rows = []api.LinkRow{first, other, all.Rows[1]}
	if secondAddress {
		again := all.Rows[0]
		again.Name, again.Together = string(second)+"/10.1.1.2", &api.LinkTogether{Sinks: first.Together.Sinks, Reason: api.ReasonProtocolTooOld}
		all.Rows = append(all.Rows, again)
	}
	return all
}
