package daemon

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology/readiness"
	"fulmen/native/nativetest"
)

func TestContinuedIsDueOnceTheTripWasMade(t *testing.T) {
	is := is.New(t)
	clock := nativetest.NewClock(time.Unix(0, 0))
	w := newContinued(clock)
	end := func(node api.NodeID, r int) api.LinkEnd {
		return api.LinkEnd{Node: node, Receptacle: api.Receptacle(r)}
	}
	first, err := api.NewLinkID(end(nodeA, 1), end(nodeB, 1))
	is.NoErr(err)
	second, err := api.NewLinkID(end(nodeA, 2), end(nodeB, 2))
	is.NoErr(err)
	by := api.Principal{User: "ada", Node: nodeA}
	is1 := func(link api.LinkID, verdict api.RDMAVerdict, causes ...api.Reason) readiness.Report {
		r := readiness.Report{RDMAReadiness: api.RDMAReadiness{Link: link, Verdict: verdict}}
		for _, c := range causes {
			r.Causes = append(r.Causes, api.Cause{Reason: c})
		}
		return r
	}
	off := is1(first, api.RDMANeedsPerson, api.ReasonRDMASwitchOff, api.ReasonInBridge)
	is.True(w.want(off, by))
	is.True(!w.want(is1(second, api.RDMANeedsPerson, api.ReasonRDMASwitchOff, api.ReasonLinkTooSlow), by)) // a cable too
	is.True(!w.want(is1(second, api.RDMACanEnable, api.ReasonInBridge), by))                               // no trip
	is.True(!w.want(is1(api.LinkID{}, api.RDMANeedsPerson, api.ReasonRDMASwitchOff), by))                  // no member there
	is.True(w.waits(first) && !w.waits(second))

	is.Equal(len(w.due([]readiness.Report{off, is1(first, api.RDMAUnknown, api.ReasonUnreachable)})), 0)
	is.Equal(w.due([]readiness.Report{is1(second, api.RDMACanEnable), is1(first, api.RDMACanEnable)}), map[api.LinkID]api.Principal{first: by})
	is.Equal(len(w.due([]readiness.Report{is1(first, api.RDMACanEnable)})), 0) // once
	is.True(!w.waits(first))

	is.True(w.want(off, by))
	clock.Advance(continueWithin)
	is.True(!w.waits(first)) // too long ago
	is.Equal(len(w.due([]readiness.Report{is1(first, api.RDMACanEnable)})), 0)

	is.True(w.want(off, by))
	is.True(!w.forget(func(l api.LinkID) bool { return l == second }))
	is.True(w.forget(func(l api.LinkID) bool { return l == first }))
	is.True(!w.waits(first))

	is.True(w.want(off, by))
	is.Equal(len(w.due([]readiness.Report{is1(first, api.RDMAReady)})), 0) // somebody else did it
	is.True(!w.waits(first))
}
