package topology

import (
	"errors"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestFindCable(t *testing.T) {
	end := func(node api.NodeID, n int) api.CableEnd {
		return api.CableEnd{End: api.LinkEnd{Node: node, PortNumber: api.PortNumber(n)}}
	}
	cables := []api.Cable{
		{PeerName: "direct", Ends: []api.CableEnd{end(nodeB, 1), end(nodeA, 4)}},
		{PeerName: "hub, first", Ends: []api.CableEnd{end(nodeB, 2), end(nodeA, 2)}},
		{PeerName: "hub, second", Ends: []api.CableEnd{end(nodeB, 2), end(nodeA, 3)}},
		{PeerName: "stranger", Ends: []api.CableEnd{end(nodeA, 5)}},
	}
	node := func(ref api.NodeRef) (api.NodeID, error) {
		switch ref {
		case "ada", api.NodeRef(nodeA):
			return nodeA, nil
		case "bob":
			return nodeB, nil
		}
		return "", api.NewError(api.ReasonNoSuchNode, string(ref))
	}
	for _, c := range []struct {
		ref    api.LinkRef
		found  string
		reason api.Reason
	}{
		{ref: "bob:1~ada:4", found: "direct"},
		{ref: "ada:4~bob:1", found: "direct"}, // in either order
		{ref: api.LinkRef(nodeA) + ":4", found: "direct"},
		{ref: "ada:3", found: "hub, second"},
		{ref: "ada:5", found: "stranger"},
		{ref: "bob:2", reason: api.ReasonAmbiguousName},
		{ref: "bob:2~ada:3", found: "hub, second"},
		{ref: "bob:1~ada:3", reason: api.ReasonNoSuchLink},
		{ref: "bob:1~ada:4~ada:4", reason: api.ReasonNoSuchLink},
		{ref: "ada:9", reason: api.ReasonNoSuchLink},
		{ref: "eve:1", reason: api.ReasonNoSuchNode},
		{ref: "ada", reason: api.ReasonMalformedID},
		{ref: ":1", reason: api.ReasonMalformedID},
		{ref: "ada:0", reason: api.ReasonMalformedID},
		{ref: "", reason: api.ReasonMalformedID},
	} {
		t.Run(string(c.ref), func(t *testing.T) {
			is := is.New(t)
			cable, err := FindCable(cables, c.ref, node)
			is.Equal(cable.PeerName, c.found)
			if c.reason != "" {
				is.True(errors.Is(err, c.reason))
			} else {
				is.NoErr(err)
			}
		})
	}
}
