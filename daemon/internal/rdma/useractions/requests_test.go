package useractions

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology/readiness"
	"fulmen/native/nativetest"
)

func TestARequestIsDueOnceTheUserActionWasMade(t *testing.T) {
	is := is.New(t)
	clock := nativetest.NewClock(time.Unix(0, 0))
	w := NewRequests(clock, nil, func([]KeptRequest) {})
	end := func(node api.NodeID, r int) api.LinkEnd {
		return api.LinkEnd{Node: node, PortNumber: api.PortNumber(r)}
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
	is.True(w.Add(off, by))
	is.True(!w.Add(is1(second, api.RDMANeedsPerson, api.ReasonRDMASwitchOff, api.ReasonLinkTooSlow), by)) // a cable too
	is.True(!w.Add(is1(second, api.RDMACanEnable, api.ReasonInBridge), by))                               // no user action
	is.True(!w.Add(is1(api.LinkID{}, api.RDMANeedsPerson, api.ReasonRDMASwitchOff), by))                  // no member there
	is.True(w.Waits(first) && !w.Waits(second))

	is.Equal(len(w.due([]readiness.Report{off, is1(first, api.RDMAUnknown, api.ReasonUnreachable)})), 0)
	is.Equal(w.due([]readiness.Report{is1(second, api.RDMACanEnable), is1(first, api.RDMACanEnable)}), map[api.LinkID]api.Principal{first: by})
	is.Equal(len(w.due([]readiness.Report{is1(first, api.RDMACanEnable)})), 0) // once
	is.True(!w.Waits(first))

	is.True(w.Add(off, by))
	clock.Advance(continueWithin)
	is.True(!w.Waits(first)) // too long ago
	is.Equal(len(w.due([]readiness.Report{is1(first, api.RDMACanEnable)})), 0)

	is.True(w.Add(off, by))
	is.True(!w.Forget(func(l api.LinkID) bool { return l == second }))
	is.True(w.Forget(func(l api.LinkID) bool { return l == first }))
	is.True(!w.Waits(first))

	is.True(w.Add(off, by))
	is.Equal(len(w.due([]readiness.Report{is1(first, api.RDMAReady)})), 0) // somebody else did it
	is.True(!w.Waits(first))
}

// A request for RDMA that waits for a user action is kept over a start of the Mac that was
// asked, and counts for an hour in all.
func TestRequestsOutliveTheDaemon(t *testing.T) {
	is := is.New(t)
	link, err := api.NewLinkID(api.LinkEnd{Node: nodeA, PortNumber: 1}, api.LinkEnd{Node: nodeB, PortNumber: 1})
	is.NoErr(err)
	by := api.Principal{User: "ada", Node: nodeA}
	now := time.Unix(1_800_000_000, 0)
	kept := requestsKept(map[api.LinkID]request{link: {by, 5000*time.Second + continueWithin}}, now, 5000*time.Second)

	// Twenty minutes later, and a minute after a new start of the system.
	later := requestsOf(kept, now.Add(20*time.Minute), time.Minute)
	is.Equal(later, map[api.LinkID]request{link: {by, 41 * time.Minute}})
	is.Equal(len(requestsOf(kept, now.Add(continueWithin), time.Minute)), 0)
	// A wall clock that was set back makes it count for no longer than an hour.
	is.Equal(requestsOf(kept, now.Add(-9*time.Hour), 0)[link].until, continueWithin)
}
