package health

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest"
)

// A detail is one line of printable text, and no longer than it may be.
func TestDetails(t *testing.T) {
	long := strings.Repeat("x", maxDetail)
	for detail, want := range map[string]string{
		"": "It is so.", " .": "It is so.", "en0": "It is so: en0.", "en0.": "It is so: en0.", "a\tb\n\u202ec\ufffd": "It is so: a b c.",
		long: "It is so: " + long + ".", long + "x": "It is so: " + long[1:] + "….",
		strings.Repeat("é", maxDetail):              "It is so: " + strings.Repeat("é", maxDetail) + ".",
		strings.Repeat("x", maxDetail-2) + " yz":    "It is so: " + strings.Repeat("x", maxDetail-2) + "….",
		strings.Repeat(" ", 8*maxDetail) + "late":   "It is so.",
		strings.Repeat(" ", 8*maxDetail-1) + "late": "It is so: l.",
	} {
		is.New(t).Equal(withDetail("It is so.", detail), want)
	}
}

// A clock is far off from just above the tolerance, either way.
func TestClocksToTheMoment(t *testing.T) {
	is := is.New(t)
	name := func(api.NodeID) string { return "bob" }
	for by, far := range map[time.Duration]string{
		api.ClockTolerance: "", api.ClockTolerance + 1: "ahead", -api.ClockTolerance: "", -api.ClockTolerance - 1: "behind", 1: "", 0: "", -1: "",
	} {
		got := Clocks(map[api.NodeID]time.Duration{nodeB: by}, name)
		is.Equal(strings.Contains(got[api.ReasonClockFarOff], " "+far), far != "")
		is.Equal(got[api.ReasonClockSkew] != "", far == "")
		is.Equal(strings.HasSuffix(got[api.ReasonClockSkew], " ahead"), far == "" && by > 0)
	}
}

// A link flaps from so many changes within the window on, each to the end of it.
func TestFlappingToTheMoment(t *testing.T) {
	for _, c := range []struct {
		gap   time.Duration // between the first change and the others
		flaps bool
	}{{flapWindow - 1, true}, {flapWindow, false}} {
		is := is.New(t)
		cables, b, clock := cableRig(t)
		cables.Plugged(plugged(2, 80))
		cables.Plugged(plugged(2, 0))
		clock.Advance(c.gap)
		for i := range flapCount - 1 {
			cables.Plugged(plugged(2, int64(20+i)))
		}
		is.Equal(len(b.names()) == 1, c.flaps)
	}
	is := is.New(t)
	one, _ := plugged(2, 80)
	cables, b, _ := cableRig(t)
	for i := range flapCount + 1 { // a change in one direction is one
		one.Negotiated = &api.ThunderboltSpeed{TxBitsPerS: int64(80 + i%2), RxBitsPerS: int64(80 + i/2)}
		cables.Plugged(one, nil)
	}
	is.Equal(len(b.names()), 1)
}

// After its end nothing is raised any more, and what cannot be published is told.
func TestAfterTheEnd(t *testing.T) {
	is := is.New(t)
	name := func(id api.NodeID) string { return string(id[:3]) }
	slow := api.Cable{Ends: []api.CableEnd{{End: api.LinkEnd{Node: nodeA, PortNumber: 1}}, {End: api.LinkEnd{Node: nodeB, PortNumber: 4}}}, Reasons: []api.Reason{api.ReasonLinkBelowPorts}}
	c, b, _ := cableRig(t)
	c.Close()
	c.Drawn(api.LinkListResult{Cables: []api.Cable{slow}}, name)
	down, _ := plugged(3, 80)
	c.Plugged(down, map[string]api.Reason{"negotiated": api.ReasonLinkDown})
	c.Networked(api.Network{}, "ada")
	is.Equal(b.names(), []string{})

	h, board, _ := rig()
	var failed strings.Builder
	c = NewCables(logging(h, slog.New(slog.NewTextHandler(&failed, nil))), nodeA, nativetest.NewClock(time.Unix(0, 0)))
	board.fails = 1
	c.Drawn(api.LinkListResult{Cables: []api.Cable{slow}}, name)
	is.Equal(strings.Count(failed.String(), "\n"), 1)
	is.True(strings.Contains(failed.String(), "code=link_below_ports subject="+string(nodeA)+":1") && strings.Contains(failed.String(), "the disk is full"))

	is.Equal(speedDetail(slow, name), "") // nothing is known
	slow.ForwardBitsPerS = new(int64(40e9))
	is.Equal(speedDetail(slow, name), "")
	slow.ForwardBitsPerS, slow.BackwardBitsPerS = nil, new(int64(20e9))
	is.Equal(speedDetail(slow, name), "")
	slow.ForwardBitsPerS = new(int64(20e9))
	is.Equal(speedDetail(slow, name), name(nodeA)+":1 to "+name(nodeB)+":4, 20 Gb/s")
	slow.Hubs = []string{"a", "b"}
	is.True(strings.HasSuffix(speedDetail(slow, name), " through a, b"))
}

// Whose silence speaks against this Mac's own network.
func TestWhoIsSilent(t *testing.T) {
	view := func(id api.NodeID, l api.Liveness) api.NodeView {
		return api.NodeView{Node: id, ShortName: string(id[:3]), Liveness: l}
	}
	self := view(nodeA, api.LivenessAlive)
	self.Self = true
	gone := view(nodeB, api.LivenessUnreachable)
	const network, check = "No other Mac answers", "Check that it is on"
	for name, c := range map[string]struct {
		others []api.NodeView
		want   string
	}{
		"it alone":                      {nil, check},
		"another too":                   {[]api.NodeView{view(nodeC, api.LivenessUnreachable)}, network},
		"another almost":                {[]api.NodeView{view(nodeC, api.LivenessSuspect)}, network},
		"another is there":              {[]api.NodeView{view(nodeC, api.LivenessAlive)}, check},
		"another sleeps":                {[]api.NodeView{view(nodeC, api.LivenessAsleep)}, check},
		"another was removed":           {[]api.NodeView{view(nodeC, api.LivenessRemoved)}, check},
		"another has left":              {[]api.NodeView{view(nodeC, api.LivenessLeft)}, check},
		"another too, and one has left": {[]api.NodeView{view(nodeC, api.LivenessUnreachable), view("d000000000000000", api.LivenessLeft)}, network},
	} {
		got := Seen{Nodes: append([]api.NodeView{self, gone}, c.others...)}.remedy(gone)
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
	is := is.New(t)
	alone := api.Cable{Ends: []api.CableEnd{{End: api.LinkEnd{Node: nodeB, PortNumber: 1}}}}
	is.True(strings.HasPrefix(Seen{Nodes: []api.NodeView{self, gone}, Cables: []api.Cable{alone}}.remedy(gone), check)) // who is at its other end is not known
	down, up := joined(t, nodeA, nodeB, api.ReasonLinkDown), joined(t, nodeB, nodeC)
	third := view(nodeC, api.LivenessAlive)
	is.True(strings.HasPrefix(Seen{Nodes: []api.NodeView{self, gone, third}, Cables: []api.Cable{down, up}}.remedy(gone), third.ShortName+" sees it"))
	is.True(strings.HasPrefix(Seen{Nodes: []api.NodeView{self, gone, third}, Cables: []api.Cable{joined(t, nodeA, nodeC)}}.remedy(gone), check)) // another's cable
}
