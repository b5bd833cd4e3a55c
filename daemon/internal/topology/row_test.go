package topology

import (
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// rowSummary is a row in one line: transport, kind, verdict, reasons, old.
func rowSummary(r api.LinkRow) string {
	words := []string{string(r.Transport), string(r.Kind), string(r.Verdict)}
	for _, reason := range r.Reasons {
		words = append(words, string(reason))
	}
	if r.Old {
		words = append(words, "old")
	}
	return strings.Join(words, " ")
}

func TestRows(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) api.Time { return api.TimeOf(now.Add(-d)) }
	number := func(gb int64) *int64 { v := gb * gigabit; return &v }
	us := func(v float64) *float64 { return &v }
	measured := func() api.LinkProfile {
		return api.LinkProfile{Transport: api.TransportSocket, LinkKind: api.LinkTB5, Peer: testID(1), MeasuredAt: ago(time.Minute),
			UpBitsPerS: number(56), DownBitsPerS: number(55), RTTUS: us(380), JitterUS: us(20)}
	}
	sink := string(testID(1)) + "/" + plugAddress(1, 1)
	cable := string(testID(0)) + ":1~" + string(testID(1)) + ":1"
	link, err := api.ParseLinkID(cable)
	if err != nil {
		t.Fatal(err)
	}
	other, err := api.NewLinkID(api.LinkEnd{Node: testID(0), PortNumber: 2}, api.LinkEnd{Node: testID(1), PortNumber: 2})
	if err != nil {
		t.Fatal(err)
	}
	rdma := func(p *api.LinkProfile) { p.Transport, p.LinkKind = api.TransportRDMA, api.LinkRDMA }
	tests := map[string]struct {
		reach     bool
		plugged   bool
		name      string // of the profile; empty: none
		change    func(*api.LinkProfile)
		at        bool
		uneven    bool // the cable is faster one way
		down      bool // and the cable down
		away      bool // and the node too
		stale     int  // the node that is away; 0 = none
		simulated bool
		want      []string
	}{
		"reached, not measured":           {reach: true, plugged: true, at: true, want: []string{"socket tb5 unknown not_measured"}},
		"measured":                        {reach: true, plugged: true, name: sink, at: true, want: []string{"socket tb5 good"}},
		"measured, not reached":           {plugged: true, name: sink, at: true, want: []string{"socket tb5 good"}},
		"past its TTL":                    {reach: true, plugged: true, name: sink, at: true, change: func(p *api.LinkProfile) { p.MeasuredAt = ago(6 * time.Minute) }, want: []string{"socket tb5 good old"}},
		"age is not judged without a now": {reach: true, plugged: true, name: sink, change: func(p *api.LinkProfile) { p.MeasuredAt = ago(6 * time.Hour) }, want: []string{"socket tb5 good"}},
		"rdma lives longer":               {plugged: true, name: cable, at: true, change: func(p *api.LinkProfile) { rdma(p); p.MeasuredAt = ago(5 * time.Hour) }, want: []string{"rdma rdma good"}},
		"rdma past its TTL":               {plugged: true, name: cable, at: true, change: func(p *api.LinkProfile) { rdma(p); p.MeasuredAt = ago(7 * time.Hour) }, want: []string{"rdma rdma good old"}},
		"rdma, cable pulled":              {name: cable, at: true, change: rdma, want: []string{"rdma rdma down link_gone"}},
		"never finished":                  {reach: true, plugged: true, name: sink, at: true, change: func(p *api.LinkProfile) { *p = api.LinkProfile{Transport: p.Transport, Peer: p.Peer} }, want: []string{"socket tb5 unknown not_measured"}},
		"failed since": {reach: true, plugged: true, name: sink, at: true,
			change: func(p *api.LinkProfile) { p.Failure = &api.MeasureFailure{Reason: api.ReasonPeerStalled} }, want: []string{"socket tb5 unknown peer_stalled"}},
		"one number missing": {reach: true, plugged: true, name: sink, at: true, change: func(p *api.LinkProfile) { p.RTTUS = nil }, want: []string{"socket tb5 unknown not_measured"}},
		"below its history":  {reach: true, plugged: true, name: sink, at: true, change: func(p *api.LinkProfile) { drop(p, api.LinkResult{DownBitsPerS: number(70)}) }, want: []string{"socket tb5 slow link_below_history"}},
		"near its history":   {reach: true, plugged: true, name: sink, at: true, change: func(p *api.LinkProfile) { drop(p, api.LinkResult{DownBitsPerS: number(60)}) }, want: []string{"socket tb5 good"}},
		"the cable was at another speed": {reach: true, plugged: true, name: sink, at: true,
			change: func(p *api.LinkProfile) { p.NegotiatedAtStart = both(40) }, want: []string{"socket tb5 unknown link_changed old"}},
		"the cable was at this speed, seen from the other end": {reach: true, plugged: true, name: sink, at: true,
			change: func(p *api.LinkProfile) { p.NegotiatedAtStart = speedOf(40, 120) }, want: []string{"socket tb5 good"}, uneven: true},
		"the cable was at this speed": {reach: true, plugged: true, name: sink, at: true,
			change: func(p *api.LinkProfile) { p.NegotiatedAtStart = speedOf(120, 40) }, want: []string{"socket tb5 good"}, uneven: true},
		"one direction was another": {reach: true, plugged: true, name: sink, at: true,
			change: func(p *api.LinkProfile) { p.NegotiatedAtStart = speedOf(120, 120) }, want: []string{"socket tb5 unknown link_changed old"}, uneven: true},
		"the other direction was another": {reach: true, plugged: true, name: sink, at: true,
			change: func(p *api.LinkProfile) { p.NegotiatedAtStart = speedOf(40, 40) }, want: []string{"socket tb5 unknown link_changed old"}, uneven: true},
		"at its TTL":                  {reach: true, plugged: true, name: sink, at: true, change: func(p *api.LinkProfile) { p.MeasuredAt = ago(api.DefaultSocketTTL) }, want: []string{"socket tb5 good"}},
		"up below its history":        {reach: true, plugged: true, name: sink, at: true, change: func(p *api.LinkProfile) { drop(p, api.LinkResult{UpBitsPerS: number(71)}) }, want: []string{"socket tb5 slow link_below_history"}},
		"at the bound of its history": {reach: true, plugged: true, name: sink, at: true, change: func(p *api.LinkProfile) { drop(p, api.LinkResult{UpBitsPerS: number(70)}) }, want: []string{"socket tb5 good"}},
		"no speed up":                 {reach: true, plugged: true, name: sink, at: true, change: func(p *api.LinkProfile) { p.UpBitsPerS = nil }, want: []string{"socket tb5 unknown not_measured"}},
		"no speed down":               {reach: true, plugged: true, name: sink, at: true, change: func(p *api.LinkProfile) { p.DownBitsPerS = nil }, want: []string{"socket tb5 unknown not_measured"}},
		"failed without a reason":     {reach: true, plugged: true, name: sink, at: true, change: func(p *api.LinkProfile) { p.Failure = &api.MeasureFailure{} }, want: []string{"socket tb5 good"}},
		"simulated, not measured":     {reach: true, plugged: true, at: true, simulated: true, want: []string{"socket tb5 unknown not_in_scenario"}},
		"the peer is away":            {reach: true, plugged: true, name: sink, at: true, stale: 1, want: []string{"socket tb5 unknown unreachable"}},
		"the node is away":            {reach: true, plugged: true, name: sink, at: true, stale: 0, away: true, want: []string{"socket tb5 unknown unreachable"}},
		"rdma, cable down":            {plugged: true, name: cable, at: true, change: rdma, down: true, want: []string{"rdma rdma down link_down"}},
		"of a path that is gone, of a cable that is not": {plugged: true, name: sink, at: true,
			change: func(p *api.LinkProfile) { p.NegotiatedAtStart, p.Link = both(40), link }, want: []string{"socket tb5 unknown link_changed old"}},
		"of a path that is gone, and of no cable": {plugged: true, name: sink, at: true,
			change: func(p *api.LinkProfile) { p.NegotiatedAtStart = both(40) }, want: []string{"socket tb5 good"}},
		"of another kind than its path is now": {reach: true, plugged: true, name: sink, at: true, change: func(p *api.LinkProfile) { p.LinkKind = api.LinkEthernet }, want: []string{"socket tb5 good"}},
		"of another cable than its path is over now": {reach: true, plugged: true, name: sink, at: true,
			change: func(p *api.LinkProfile) { p.NegotiatedAtStart, p.Link = both(40), other }, want: []string{"socket tb5 unknown link_changed old"}},
		"of no kind":               {plugged: true, name: sink, at: true, change: func(p *api.LinkProfile) { p.LinkKind = "" }, want: []string{"socket unknown good"}},
		"a name that does not fit": {plugged: true, name: cable, at: true, want: []string{}},
		"rdma under another cable": {plugged: true, name: strings.ReplaceAll(cable, string(testID(1)), string(testID(2))), at: true, change: rdma, want: []string{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			nodes := []Node{testNode(0), testNode(1)}
			if tt.plugged {
				plug(nodes, 0, 1, 1, 1, 80)
			}
			if tt.uneven {
				nodes[0].Thunderbolt[0].Negotiated, nodes[1].Thunderbolt[0].Negotiated = speedOf(120, 40), speedOf(40, 120)
			}
			if tt.down {
				for i := range nodes {
					nodes[i].Thunderbolt[0].Negotiated, nodes[i].Thunderbolt[0].Unknown = nil, map[string]api.Reason{"negotiated": api.ReasonLinkDown}
				}
			}
			nodes[1].Stale, nodes[0].Stale, nodes[0].Simulated = tt.stale == 1, tt.away, tt.simulated
			if tt.reach {
				nodes[0].Reach = []api.Reach{testReach(1, plugAddress(1, 1), "en3")}
			}
			if tt.name != "" {
				p := measured()
				if tt.change != nil {
					tt.change(&p)
				}
				nodes[0].Profiles = []Profile{{Name: tt.name, LinkProfile: p}}
			}
			in := Input{Nodes: nodes}
			if tt.at {
				in.At = api.TimeOf(now)
			}
			got := []string{}
			for _, r := range Build(in).List().Rows {
				got = append(got, rowSummary(r))
				is.True(r.UpBitsPerS == nil || !r.MeasuredAt.IsZero())
			}
			is.Equal(got, tt.want)
		})
	}
}

func TestTTLsOfTheConfiguration(t *testing.T) {
	is := is.New(t)
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	nodes := []Node{testNode(0), testNode(1)}
	nodes[0].Profiles = []Profile{{Name: string(testID(1)) + "/10.0.0.1", LinkProfile: api.LinkProfile{
		Transport: api.TransportSocket, Peer: testID(1), MeasuredAt: api.TimeOf(now.Add(-time.Minute))}}}
	old := func(ttl time.Duration) bool {
		return Build(Input{Nodes: nodes, At: api.TimeOf(now), SocketTTL: ttl}).List().Rows[0].Old
	}
	is.Equal(old(0), false)
	is.Equal(old(30*time.Second), true)
}

func TestFailedPathIsDown(t *testing.T) {
	is := is.New(t)
	nodes := []Node{testNode(0), testNode(1)}
	plug(nodes, 0, 1, 1, 1, 80)
	r := testReach(1, plugAddress(1, 1), "en3")
	r.State, r.Reason = api.PathFailed, api.ReasonAddressLost
	nodes[0].Reach = []api.Reach{r}
	is.Equal(rowSummary(Build(Input{Nodes: nodes}).List().Rows[0]), "socket tb5 down address_lost not_measured")
}
