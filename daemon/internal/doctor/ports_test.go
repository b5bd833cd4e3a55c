package doctor

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

const (
	nodeA = api.NodeID("cpv0cwypxp44qw0p")
	nodeB = api.NodeID("71532pmrr5f6wz0c")
)

func TestCableChecks(t *testing.T) {
	is := is.New(t)
	name := func(id api.NodeID) string { return map[api.NodeID]string{nodeA: "ada", nodeB: "bob"}[id] }
	at := func(node api.NodeID, n int) api.CableEnd {
		return api.CableEnd{End: api.LinkEnd{Node: node, PortNumber: api.PortNumber(n)}}
	}
	good := api.Cable{Ends: []api.CableEnd{at(nodeB, 1), at(nodeA, 1)}}
	elsewhere := api.Cable{Ends: []api.CableEnd{at(nodeB, 7)}, Reasons: []api.Reason{api.ReasonLinkBelowPorts}}
	is.Equal(cableChecks(nodeA, api.LinkListResult{Cables: []api.Cable{elsewhere}, Loops: [][]api.NodeID{{nodeB}}}, name), nil) // of no concern here

	one := cableChecks(nodeA, api.LinkListResult{Cables: []api.Cable{good, elsewhere}}, name)
	is.Equal(len(one), 1)
	is.Equal(one[0].Answer, api.AnswerYes)

	slow := api.Cable{Ends: []api.CableEnd{at(nodeB, 2), at(nodeA, 2)}, Reasons: []api.Reason{api.ReasonLinkBelowPorts}}
	nonMember := api.Cable{Ends: []api.CableEnd{at(nodeA, 3)}, PeerName: "Mac15,14", Reasons: []api.Reason{api.ReasonPeerUnknown}}
	checks := cableChecks(nodeA, api.LinkListResult{Cables: []api.Cable{good, slow, nonMember}, Loops: [][]api.NodeID{{nodeB, nodeA}}}, name)
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
