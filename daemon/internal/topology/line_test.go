package topology

import (
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// reading is what node from was measured to give to the other over a transport, in Gb/s.
func reading(nodes []Node, from, to int, transport api.Transport, up, down int64, change func(*api.LinkProfile)) {
	p := api.LinkProfile{
		Transport: transport, Peer: testID(to), MeasuredAt: api.TimeOf(time.Unix(1e9, 0)), UpBitsPerS: new(up * gigabit), DownBitsPerS: new(down * gigabit), RTTUS: new(20.0),
	}
	name := string(p.Peer) + "/" + plugAddress(to, 1)
	if transport == api.TransportRDMA {
		link, _ := api.NewLinkID(api.LinkEnd{Node: testID(0), PortNumber: 1}, api.LinkEnd{Node: testID(1), PortNumber: 1})
		name, p.Link = link.String(), link
	}
	if change != nil {
		change(&p)
	}
	nodes[from].Profiles = append(nodes[from].Profiles, Profile{Name: name, LinkProfile: p})
}

// drop has a path give for the third time what it gives, where it gave more before.
func drop(p *api.LinkProfile, usual api.LinkResult) {
	low := api.LinkResult{UpBitsPerS: p.UpBitsPerS, DownBitsPerS: p.DownBitsPerS}
	p.Median, p.History = &usual, []api.LinkResult{low, low, usual, usual, usual}
}

// up is a result away from who measured, in Gb/s.
func up(gb int64) api.LinkResult { return api.LinkResult{UpBitsPerS: new(gb * gigabit)} }

func TestWhatACableIsDrawnAs(t *testing.T) {
	median := func(gb int64) func(*api.LinkProfile) { return func(p *api.LinkProfile) { drop(p, up(gb)) } }
	type shown struct {
		style       api.LinkKind
		verdict     api.LinkVerdict
		text        string
		there, back int64
	}
	const slower = "The link is slower than its own history."
	for name, c := range map[string]struct {
		change func(nodes []Node)
		want   shown
	}{
		"RDMA, and only TCP was measured": {func(n []Node) { reading(n, 0, 1, api.TransportSocket, 60, 52, nil) }, shown{api.LinkRDMA, api.VerdictGood, "", 0, 0}},
		"RDMA by the first end": {func(n []Node) {
			reading(n, 0, 1, api.TransportRDMA, 74, 73, nil)
			reading(n, 0, 1, api.TransportSocket, 76, 75, median(200))
		}, shown{api.LinkRDMA, api.VerdictGood, "", 74, 73}},
		"RDMA by the second end": {func(n []Node) { reading(n, 1, 0, api.TransportRDMA, 74, 73, nil) }, shown{api.LinkRDMA, api.VerdictGood, "", 73, 74}},
		"RDMA by both, the newer counts": {func(n []Node) {
			reading(n, 0, 1, api.TransportRDMA, 74, 73, nil)
			reading(n, 1, 0, api.TransportRDMA, 30, 31, func(p *api.LinkProfile) { p.MeasuredAt = api.TimeOf(p.MeasuredAt.Add(time.Hour)) })
		}, shown{api.LinkRDMA, api.VerdictGood, "", 31, 30}},
		"RDMA slower than it was": {func(n []Node) { reading(n, 0, 1, api.TransportRDMA, 50, 73, median(74)) }, shown{api.LinkRDMA, api.VerdictSlow, slower, 50, 73}},
		"RDMA slower than it was once": {func(n []Node) {
			reading(n, 0, 1, api.TransportRDMA, 50, 73, func(p *api.LinkProfile) { drop(p, up(74)); p.History = p.History[1:] })
		}, shown{api.LinkRDMA, api.VerdictGood, "", 50, 73}},
		"RDMA at another speed of the cable": {func(n []Node) {
			reading(n, 0, 1, api.TransportRDMA, 50, 73, func(p *api.LinkProfile) { p.NegotiatedAtStart = both(40) })
		}, shown{api.LinkRDMA, api.VerdictGood, "", 0, 0}},
		"RDMA is off at one end": {func(n []Node) {
			n[1].RDMA[0].SwitchedOn, n[1].RDMA[0].Device = new(false), nil
			reading(n, 0, 1, api.TransportRDMA, 50, 73, median(74))
			reading(n, 1, 0, api.TransportSocket, 60, 52, nil)
		}, shown{api.LinkTB5, api.VerdictGood, "", 52, 60}},
		"no RDMA, and an end is silent": {func(n []Node) {
			n[1].RDMA[0].SwitchedOn, n[1].RDMA[0].Device = new(false), nil
			reading(n, 0, 1, api.TransportSocket, 60, 52, nil)
			n[1].Stale = true
		}, shown{api.LinkTB5, api.VerdictUnknown, "The node does not answer on any path.", 60, 52}},
		"what an end that is silent never told": {func(n []Node) {
			n[1].RDMA[0].SwitchedOn = nil
			n[1].Stale = true
		}, shown{api.LinkTB5, api.VerdictUnknown, "The node does not answer on any path.", 0, 0}},
		"TCP over an address that is gone": {func(n []Node) {
			n[1].RDMA[0].SwitchedOn, n[1].RDMA[0].Device = new(false), nil
			n[0].Reach, n[1].Reach = nil, nil
			reading(n, 0, 1, api.TransportSocket, 60, 52, nil)
		}, shown{api.LinkTB5, api.VerdictGood, "", 0, 0}},
		"it flaps, and was measured": {func(n []Node) {
			n[1].Faults = map[api.PortNumber][]api.Reason{1: {api.ReasonLinkFlapping}}
			reading(n, 0, 1, api.TransportRDMA, 50, 73, median(74))
		}, shown{api.LinkRDMA, api.VerdictBad, "The link keeps going up and down.", 50, 73}},
		"any other condition": {func(n []Node) {
			n[1].Faults = map[api.PortNumber][]api.Reason{1: {api.ReasonRDMAOneSided}}
			reading(n, 0, 1, api.TransportRDMA, 74, 73, nil)
		}, shown{api.LinkRDMA, api.VerdictGood, "", 74, 73}},
		"an end is away": {func(n []Node) {
			n[1].Stale = true
			reading(n, 0, 1, api.TransportRDMA, 50, 73, median(74))
		}, shown{api.LinkRDMA, api.VerdictUnknown, "The node does not answer on any path.", 50, 73}},
		"it carries nothing": {func(n []Node) {
			n[0].Thunderbolt[0].Negotiated, n[1].Thunderbolt[0].Negotiated = nil, nil
			for i := range n {
				n[i].Thunderbolt[0].Unknown = map[string]api.Reason{"negotiated": api.ReasonLinkDown}
			}
			reading(n, 0, 1, api.TransportSocket, 50, 73, nil)
		}, shown{api.LinkUnknown, api.VerdictDown, "The link is down.", 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			nodes := facing()
			c.change(nodes)
			cable := Build(Input{Nodes: nodes}).List().Cables[0]
			got := shown{style: cable.Style, verdict: cable.Verdict, text: cable.Text}
			if cable.MeasuredForwardBitsPerS != nil {
				got.there, got.back = *cable.MeasuredForwardBitsPerS/gigabit, *cable.MeasuredBackwardBitsPerS/gigabit
			}
			is.New(t).Equal(got, c.want)
		})
	}
}

// A line of a network is what the best of its ways is.
func TestNetworkLines(t *testing.T) {
	is := is.New(t)
	nodes := []Node{testNode(0), testNode(1)}
	for i := range nodes {
		addInterface(&nodes[i], api.Interface{Name: "en0", Type: api.InterfaceEthernet, Up: true, Addresses: addresses("10.0.0."+string(rune('1'+i)), "10.1.0."+string(rune('1'+i)))})
	}
	lines := func() []api.NetworkLine { return Build(Input{Nodes: nodes}).List().Networks }
	is.Equal(len(lines()), 0)
	nodes[1].Reach = []api.Reach{testReach(0, "10.0.0.1", "en0"), testReach(0, "10.1.0.1", "en0")}
	key := api.NetworkLineKey{Low: testID(0), High: testID(1), Kind: api.LinkEthernet}
	is.Equal(lines(), []api.NetworkLine{{NetworkLineKey: key, Verdict: api.VerdictUnknown, Reasons: []api.Reason{api.ReasonNotMeasured}, Text: "It has not been measured yet."}})

	measured := func(name string, up int64) {
		nodes[1].Profiles = append(nodes[1].Profiles, Profile{Name: string(testID(0)) + "/" + name, LinkProfile: api.LinkProfile{
			Transport: api.TransportSocket, Peer: testID(0), MeasuredAt: api.TimeOf(time.Unix(1e9, 0)), UpBitsPerS: new(up * gigabit), DownBitsPerS: new(9 * int64(gigabit)), RTTUS: new(300.0)}})
	}
	measured("10.1.0.1", 5)
	is.Equal(*lines()[0].MeasuredBackwardBitsPerS, 5*int64(gigabit)) // what was measured counts, from the lower node's point of view
	is.Equal(*lines()[0].MeasuredForwardBitsPerS, 9*int64(gigabit))
	drop(&nodes[1].Profiles[0].LinkProfile, up(50))
	is.Equal(lines()[0].Verdict, api.VerdictSlow) // also where it is slow, and another was never measured
	nodes[1].Reach[1].State = api.PathFailed
	is.Equal(lines()[0].Verdict, api.VerdictUnknown) // but not where nothing goes there
	is.True(lines()[0].RTTUS == nil)
	nodes[1].Reach[1].State, nodes[1].Profiles[0].Median = api.PathActive, nil
	measured("10.0.0.1", 8)
	is.Equal(*lines()[0].MeasuredBackwardBitsPerS, 8*int64(gigabit)) // the faster
	nodes[1].Reach[0].State, nodes[1].Reach[0].Reason = api.PathFailed, api.ReasonAddressLost
	is.Equal(*lines()[0].MeasuredBackwardBitsPerS, 5*int64(gigabit)) // but one that carries something
	nodes[1].Reach[1].State = api.PathFailed
	down := lines()[0]
	is.Equal(down.Verdict, api.VerdictDown)
	is.True(down.MeasuredForwardBitsPerS == nil)
	nodes[0].Stale = true
	is.True(lines()[0].Stale)

	before, after := api.LinkListResult{Networks: lines()}, api.LinkListResult{Networks: []api.NetworkLine{{NetworkLineKey: api.NetworkLineKey{Low: testID(0), High: testID(1), Kind: api.LinkWiFi}}}}
	change, changed := Diff(before, after)
	is.True(changed && slices.Equal(change.GoneNetworks, []api.NetworkLineKey{key}))
	is.Equal(change.Networks, after.Networks)
	_, changed = Diff(after, after)
	is.True(!changed)
}
