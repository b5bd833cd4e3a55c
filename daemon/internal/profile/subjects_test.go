package profile

import (
	"net/netip"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology"
)

// A line of the picture that is no cable is measured over its own paths alone, each by
// the one node that owns it, whichever node is asked.
func TestNetworkSubjects(t *testing.T) {
	is := is.New(t)
	a, b, asked := api.NodeIDFromKey([]byte{1}), api.NodeIDFromKey([]byte{2}), api.NodeIDFromKey([]byte{3})
	a, b = min(a, b), max(a, b)
	path := func(from, to api.NodeID, address string, kind api.LinkKind) topology.Path {
		return topology.Path{From: from, To: to, Address: netip.MustParseAddr(address), Kind: kind, State: api.PathActive}
	}
	cabled := path(a, b, "10.0.0.4", api.LinkWiFi)
	cabled.Link = api.LinkID{Low: api.LinkEnd{Node: a, PortNumber: 1}, High: api.LinkEnd{Node: b, PortNumber: 1}}
	failed := path(a, b, "10.0.0.5", api.LinkWiFi)
	failed.State = api.PathFailed
	graph := topology.Graph{Paths: []topology.Path{
		path(a, b, "192.168.1.2", api.LinkWiFi), path(a, b, "192.168.2.2", api.LinkEthernet), path(a, asked, "192.168.1.3", api.LinkWiFi), cabled, failed,
	}}
	subjects := func(reached ...api.NodeID) []api.Key {
		keys, err := NewPaths(PathsConfig{Node: asked}).Subjects(
			api.MeasureLinkParams{Networks: []api.NetworkLineKey{{Low: a, High: b, Kind: api.LinkWiFi}}}, graph, reached, nil)
		is.NoErr(err)
		return keys
	}
	is.Equal(subjects(a, b, asked), []api.Key{{Node: a, Kind: api.KindLinkProfile, Name: b.String() + "/192.168.1.2"}})
	is.Equal(subjects(b, asked), nil) // its node is not reached: nothing is left to measure
}
