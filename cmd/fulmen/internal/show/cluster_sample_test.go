package show

import (
	"net/netip"
	"time"

	"fulmen/cmd/fulmen/internal/demo"
	"fulmen/daemon/api"
)

const (
	attic  = api.NodeID("axwfk1even66ca3j")
	cellar = api.NodeID("9dw0ceww496t64df")
	office = api.NodeID("nbkp2dvz7d7hy1ys")
	lost   = api.NodeID("078fnf953z5vwawj")
)

// path is a way to a node.
func path(to api.NodeID, address, name string, kind api.LinkKind, state api.PathState, rtt *float64) api.PathView {
	return api.PathView{Address: api.PeerAddress{Peer: to, Address: netip.MustParseAddr(address)}, Interface: name, Kind: kind, State: state, RTTUS: rtt}
}

// fiveList is a cluster whose nodes are in every state that lasts.
func fiveList() api.NodeListResult {
	view := func(id api.NodeID, name string, l api.Liveness, since time.Duration, message string, paths ...api.PathView) api.NodeView {
		return api.NodeView{Node: id, ShortName: name, Liveness: l, Since: before(since), Message: message, Paths: paths}
	}
	return api.NodeListResult{
		Nodes: []api.NodeView{
			studioView(),
			view(attic, "attic", api.LivenessAlive, 3*time.Hour, "",
				path(attic, "169.254.1.2", "en5", api.LinkTB5, api.PathActive, ptr(92.0)), path(attic, "192.168.1.7", "en0", api.LinkEthernet, api.PathActive, ptr(340.0)),
				path(attic, "192.168.2.7", "en1", api.LinkWiFi, api.PathStandby, nil), path(attic, "10.8.0.7", "utun4", api.LinkVPN, api.PathFailed, nil)),
			view(cellar, "cellar", api.LivenessUnreachable, 190*time.Second, "The node does not answer on any path.", path(cellar, "192.168.1.8", "en0", api.LinkEthernet, api.PathFailed, nil)),
			view(mini, "mini", api.LivenessAsleep, 2*time.Hour, "The Mac sleeps because its lid was closed."),
			view(office, "office", api.LivenessRestarting, 40*time.Second, "The Mac is restarting and may be waiting at FileVault."),
		},
		Totals: api.Totals{Nodes: 2, Members: 5, MemoryTotalBytes: ptr(int64(528 << 30)), MeasuredNodes: 1, FP16TFLOPS: ptr(26.34)},
	}
}

func member(id api.NodeID, name string, by api.NodeID, age time.Duration) api.Member {
	return api.Member{Node: id, ShortName: name, AddedBy: by, AddedAt: before(age)}
}

func fivePeers() Peers {
	gone := member(lost, "lost", attic, 90*time.Hour)
	gone.RemovedBy, gone.RemovedAt = studio, before(26*time.Hour)
	return Peers{Nodes: fiveList(), Peers: api.ClusterPeersResult{Members: []api.Member{
		member(studio, "mac-studio", studio, 100*time.Hour), member(attic, "attic", studio, 99*time.Hour), gone,
		member(cellar, "cellar", attic, 50*time.Hour), member(mini, "mini", studio, 49*time.Hour), member(office, "office", lost, 48*time.Hour),
	}}}
}

func onePeer() Peers {
	return Peers{Nodes: aloneList(), Peers: api.ClusterPeersResult{Members: []api.Member{member(studio, "mac-studio", studio, time.Minute)}}}
}

func asking() []api.Pending {
	return []api.Pending{
		{Peer: attic, Name: "Attic", ModelName: "Mac mini", Address: netip.MustParseAddrPort("192.168.1.7:7732"), Interface: "en0", State: api.PendingAsking, Since: before(20 * time.Second), TriesLeft: 3},
		{Peer: cellar, Name: "evil\x1b[2J", Interface: "en5", State: api.PendingLater, Since: before(time.Hour)},
		{Peer: office, Name: "office", State: api.PendingIgnored, Since: before(2 * time.Hour)},
	}
}

func accounts() []api.MappedUser {
	return []api.MappedUser{
		{Principal: api.Principal{User: "ada", Node: attic}, Account: "ada"},
		{Principal: api.Principal{User: "bob", Node: lost}},
		{Principal: api.Principal{User: "eve", Node: attic}, Nobody: true},
		{Node: cellar, Account: "guest"},
		{Members: true, Nobody: true},
	}
}

func lent() api.Sharing {
	return api.Sharing{
		Jobs: api.JobsMapped, JobsFrom: []api.Principal{{User: "ada", Node: attic}}, Mapped: []api.Principal{{User: "ada", Node: attic}}, RDMAChanges: api.ChangesMembers,
		OnlyOnPower: true, OnlyWhenIdle: true, IdleAfterS: 90, MemoryMaxBytes: ptr(int64(64 << 30)), KeepAwake: true,
	}
}

// alphabet writes every character of codes, eight at a time.
func alphabet(w *Page) {
	for _, part := range []string{"01234567", "89ABCDEF", "GHJKMNPQ", "RSTVWXYZ"} {
		BigCode(w, part)
	}
}

func whole() demo.State {
	node := func(mac string, id api.NodeID) demo.NodeState {
		return demo.NodeState{Mac: mac, ID: id, Liveness: api.LivenessAlive, SeenBy: 2, Memory: &api.Memory{TotalBytes: ptr(int64(512 << 30)), UsedBytes: ptr(int64(24 << 30))}, GPU: &api.GPUProfile{FP16TFLOPS: ptr(23.6)},
			Paths: map[api.LinkKind]int{api.LinkEthernet: 2, api.LinkTB5: 2}}
	}
	return demo.State{Nodes: []demo.NodeState{node("studio-1", studio), node("studio-2", attic), node("studio-3", cellar)}}
}

func early() demo.State {
	return demo.State{
		Nodes: []demo.NodeState{
			{Mac: "studio-1", ID: studio, Liveness: api.LivenessAlive, SeenBy: 1, Paths: map[api.LinkKind]int{api.LinkTB5: 1, api.LinkEthernet: 2}},
			{Mac: "studio-2", ID: attic, Liveness: api.LivenessUnreachable, Ended: "signal: killed"},
			{Mac: "studio-3", ID: cellar},
		},
		Missing: []string{"a", "b", "c", "d\x1b", "e"},
	}
}
