package simulate

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/profile"
	"fulmen/native/sim"
	"fulmen/native/sim/scenario"
)

// A path of a simulated Mac has the recording of its cable or of its network.
func TestRecordedPaths(t *testing.T) {
	is := is.New(t)
	self, peer := newAuthor("a").node, newAuthor("b").node
	link, err := api.NewLinkID(api.LinkEnd{Node: self, PortNumber: 4}, api.LinkEnd{Node: peer, PortNumber: 2})
	is.NoErr(err)
	unmet, err := api.NewLinkID(api.LinkEnd{Node: self, PortNumber: 4}, api.LinkEnd{Node: newAuthor("c").node, PortNumber: 2})
	is.NoErr(err)
	one := func(transport string, up float64, near, far int, ifaces ...string) sim.RecordedPath {
		return sim.RecordedPath{LinkMeasurement: scenario.LinkMeasurement{To: "b", Transport: transport, UpBitsPerS: up}, PortNumber: near, PeerPortNumber: far, Interfaces: ifaces}
	}
	r := &recorded{self: self, macs: map[api.NodeID]string{peer: "b", self: "a"}, Recorded: sim.Recorded{Paths: []sim.RecordedPath{
		one("rdma", 1, 4, 2, "en5"), one("socket", 2, 4, 2, "en5", "bridge0"), one("socket", 3, 0, 0, "en0"),
	}}}
	for name, tt := range map[string]struct {
		path profile.Path
		want int64
	}{
		"over the cable":                       {profile.Path{Transport: api.TransportSocket, Peer: peer, Link: link, Interface: "en5"}, 2},
		"over a bridge of cables":              {profile.Path{Transport: api.TransportSocket, Peer: peer, Interface: "bridge0"}, 2},
		"over the network":                     {profile.Path{Transport: api.TransportSocket, Peer: peer, Interface: "en0"}, 3},
		"the cable over RDMA":                  {profile.Path{Transport: api.TransportRDMA, Peer: peer, Link: link}, 1},
		"over another network":                 {profile.Path{Transport: api.TransportSocket, Peer: peer, Interface: "en1"}, 0},
		"to somebody else":                     {profile.Path{Transport: api.TransportSocket, Peer: self, Interface: "en0"}, 0},
		"the cable, before a path leads there": {profile.Path{Transport: api.TransportRDMA, Peer: newAuthor("c").node, Link: unmet}, 1},
		"the cable, of another Mac now":        {profile.Path{Transport: api.TransportRDMA, Peer: self, Link: link}, 0},
		"RDMA, of no cable":                    {profile.Path{Transport: api.TransportRDMA, Peer: peer}, 0},
	} {
		got, ok := r.Path(tt.path)
		if ok != (tt.want != 0) || ok && *got.UpBitsPerS != tt.want {
			t.Errorf("%s: %v %v", name, got.UpBitsPerS, ok)
		}
	}
}
