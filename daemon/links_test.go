package daemon

import (
	"errors"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestFindCable(t *testing.T) {
	end := func(node api.NodeID, n int) api.CableEnd {
		return api.CableEnd{End: api.LinkEnd{Node: node, Receptacle: api.Receptacle(n)}}
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
			cable, err := findCable(cables, c.ref, node)
			is.Equal(cable.PeerName, c.found)
			if c.reason != "" {
				is.True(errors.Is(err, c.reason))
			} else {
				is.NoErr(err)
			}
		})
	}
}

func TestCableChecks(t *testing.T) {
	is := is.New(t)
	name := func(id api.NodeID) string { return map[api.NodeID]string{nodeA: "ada", nodeB: "bob"}[id] }
	at := func(node api.NodeID, n int) api.CableEnd {
		return api.CableEnd{End: api.LinkEnd{Node: node, Receptacle: api.Receptacle(n)}}
	}
	good := api.Cable{Ends: []api.CableEnd{at(nodeB, 1), at(nodeA, 1)}}
	elsewhere := api.Cable{Ends: []api.CableEnd{at(nodeB, 7)}, Reasons: []api.Reason{api.ReasonLinkBelowPorts}}
	is.Equal(cableChecks(nodeA, api.LinkListResult{Cables: []api.Cable{elsewhere}, Loops: [][]api.NodeID{{nodeB}}}, name), nil) // of no concern here

	one := cableChecks(nodeA, api.LinkListResult{Cables: []api.Cable{good, elsewhere}}, name)
	is.Equal(len(one), 1)
	is.Equal(one[0].Answer, api.AnswerYes)

	slow := api.Cable{Ends: []api.CableEnd{at(nodeB, 2), at(nodeA, 2)}, Reasons: []api.Reason{api.ReasonLinkBelowPorts}}
	stranger := api.Cable{Ends: []api.CableEnd{at(nodeA, 3)}, PeerName: "Mac15,14", Reasons: []api.Reason{api.ReasonPeerUnknown}}
	checks := cableChecks(nodeA, api.LinkListResult{Cables: []api.Cable{good, slow, stranger}, Loops: [][]api.NodeID{{nodeB, nodeA}}}, name)
	is.Equal(len(checks), 1)                      // conditions say the rest
	is.Equal(checks[0].Answer, api.AnswerUnknown) // a Mac without Fulmen is no fault
	is.True(strings.HasPrefix(checks[0].Text, "ada:3 - Mac15,14: "))
	is.Equal(len(cableChecks(nodeA, api.LinkListResult{Cables: []api.Cable{good, slow}}, name)), 0) // nor that every cable is fast

	hub := api.Cable{Ends: []api.CableEnd{at(nodeB, 2), at(nodeA, 2)}, Reasons: []api.Reason{api.ReasonHubBetween}}
	checks = cableChecks(nodeA, api.LinkListResult{Cables: []api.Cable{good, hub}}, name)
	is.Equal(len(checks), 1)
	is.Equal(checks[0].Answer, api.AnswerNo)
	is.Equal(checks[0].Reason, api.ReasonHubBetween)
	is.True(strings.HasPrefix(checks[0].Text, "bob:2 - ada:2: "))
}
