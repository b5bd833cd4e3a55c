package health

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest"
)

var nodeC = api.NodeIDFromKey(make([]byte, 32))

// joined is a cable between two nodes.
func joined(t *testing.T, a, b api.NodeID, reasons ...api.Reason) api.Cable {
	t.Helper()
	ends := [2]api.LinkEnd{{Node: a, PortNumber: 1}, {Node: b, PortNumber: 2}}
	link, err := api.NewLinkID(ends[0], ends[1])
	is.New(t).NoErr(err)
	return api.Cable{Link: link, Ends: []api.CableEnd{{End: ends[0]}, {End: ends[1]}}, Reasons: reasons}
}

// Who does not answer is a condition, with what is known of why.
func TestSilentNodes(t *testing.T) {
	suspect := api.NodeView{Liveness: api.LivenessSuspect, Reason: api.ReasonSuspect, Message: "It has just stopped answering."}
	gone := api.NodeView{Liveness: api.LivenessUnreachable, Reason: api.ReasonUnreachable, Message: "The node does not answer on any path."}
	for name, test := range map[string]struct {
		bob          api.NodeView
		cyd          api.Liveness // alive, where it is empty
		cables       []api.Cable
		severity     api.Severity // empty: there is no condition
		text, remedy string       // the remedy's beginning
	}{
		"alive":                              {bob: api.NodeView{Liveness: api.LivenessAlive}},
		"asleep by choice":                   {bob: api.NodeView{Liveness: api.LivenessAsleep, Reason: api.ReasonAsleep, Message: "It went to sleep."}},
		"left":                               {bob: api.NodeView{Liveness: api.LivenessLeft, Reason: api.ReasonLeft}},
		"removed":                            {bob: api.NodeView{Liveness: api.LivenessRemoved, Reason: api.ReasonRemoved}},
		"just gone":                          {bob: suspect, severity: api.SeverityWarning, text: "bob has just stopped answering.", remedy: "Check that it is on and awake"},
		"gone":                               {bob: gone, severity: api.SeverityWarning, text: "bob does not answer on any path.", remedy: "Check that it is on and awake"},
		"its daemon":                         {bob: gone, cables: []api.Cable{joined(t, nodeA, nodeB)}, severity: api.SeverityWarning, remedy: "ada sees it over a cable"},
		"its daemon, as another sees":        {bob: gone, cables: []api.Cable{joined(t, nodeB, nodeC)}, severity: api.SeverityWarning, remedy: "cyd sees it over a cable"},
		"off, or its cables":                 {bob: gone, cables: []api.Cable{joined(t, nodeA, nodeB, api.ReasonLinkDown)}, severity: api.SeverityWarning, remedy: "Nothing is at the other end"},
		"a cable to one that is gone itself": {bob: gone, cyd: api.LivenessAsleep, cables: []api.Cable{joined(t, nodeB, nodeC)}, severity: api.SeverityWarning, remedy: "Check that it is on"},
		"this Mac's network":                 {bob: gone, cyd: api.LivenessUnreachable, severity: api.SeverityWarning, remedy: "No other Mac answers: check this Mac's own"},
		"others reach it": {bob: api.NodeView{Liveness: api.LivenessUnreachable, Reason: api.ReasonNoPath, Message: "No verified path leads to the node."},
			cables: []api.Cable{joined(t, nodeB, nodeC)}, severity: api.SeverityWarning, text: "bob: No verified path leads to the node.", remedy: "Other Macs reach it"},
		"stopped":    {bob: api.NodeView{Liveness: api.LivenessUnreachable, Reason: api.ReasonStopped, Message: "Fulmen was stopped there."}, severity: api.SeverityInfo, remedy: "Start it with `fulmen start`"},
		"restarting": {bob: api.NodeView{Liveness: api.LivenessRestarting, Reason: api.ReasonRestarting, Message: "It is restarting."}, severity: api.SeverityInfo, text: "bob is restarting."},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			test.bob.Node, test.bob.ShortName, test.bob.Since = nodeB, "bob", api.TimeOf(time.Unix(5, 0))
			if test.cyd == "" {
				test.cyd = api.LivenessAlive
			}
			got := Derived(Seen{Cables: test.cables, Nodes: []api.NodeView{
				{Node: nodeA, ShortName: "ada", Self: true, Liveness: api.LivenessAlive}, test.bob, {Node: nodeC, ShortName: "cyd", Liveness: test.cyd}}})
			got = slices.DeleteFunc(got, func(c api.NodeCondition) bool { return c.Node != nodeB })
			if test.severity == "" {
				is.Equal(len(got), 0)
				return
			}
			is.Equal(len(got), 1)
			is.Equal(got[0].Severity, test.severity)
			is.Equal(got[0].Code, test.bob.Reason)
			is.Equal(got[0].Since, test.bob.Since)
			if test.text != "" {
				is.Equal(got[0].Text, test.text)
			}
			is.True(strings.HasPrefix(got[0].Remedy, test.remedy))
		})
	}
}

// Both ends of a cable name it alike, and it is one condition.
func TestACableIsNamedOnce(t *testing.T) {
	is := is.New(t)
	name := func(id api.NodeID) string { return map[api.NodeID]string{nodeA: "ada", nodeB: "bob"}[id] }
	cable := joined(t, nodeA, nodeB)
	seen := Seen{}
	for _, node := range []api.NodeID{nodeA, nodeB} {
		h, _, _ := rig()
		c := NewCables(logging(h, loud(t)), node, nativetest.NewClock(time.Unix(0, 0)))
		port := cable.Ends[slices.IndexFunc(cable.Ends, func(e api.CableEnd) bool { return e.End.Node == node })].End.PortNumber
		c.Plugged(plugged(port, 80))
		c.Drawn(api.LinkListResult{Cables: []api.Cable{cable}}, name)
		for range flapCount / 2 {
			c.Plugged(plugged(port, 0))
			c.Drawn(api.LinkListResult{}, name)
			c.Plugged(plugged(port, 80))
		}
		for _, condition := range h.Shown() {
			seen.Reported = append(seen.Reported, api.NodeCondition{Node: node, Condition: condition})
		}
		is.NoErr(h.raise(api.ReasonDiskFull, "", ""))
		for _, condition := range h.Shown()[:1] {
			seen.Reported = append(seen.Reported, api.NodeCondition{Node: node, Condition: condition})
		}
	}
	is.Equal(len(seen.Reported), 4)
	got := Derived(seen)
	is.Equal(len(got), 3) // two full disks are two things
	is.Equal(got[0].Code, api.ReasonDiskFull)
	is.Equal(got[2].Code, api.ReasonLinkFlapping)
	is.True(strings.HasSuffix(got[2].Text, ": ada:1 to bob:2."))
	is.Equal([]api.NodeID{got[2].Node, got[2].Others[0]}, []api.NodeID{nodeA, nodeB})
}

// What a Mac suffers from has its few words, and nothing else has.
func TestBrief(t *testing.T) {
	is := is.New(t)
	all := Derived(Seen{Reported: []api.NodeCondition{
		{Node: nodeA, Condition: api.Condition{Code: api.ReasonThermalCritical, Severity: api.SeverityError}}, {Node: nodeB, Condition: api.Condition{Code: api.ReasonDiskFull}},
	}})
	is.Equal([]string{all[0].Brief, all[1].Brief}, []string{"dangerously hot", ""})
}
