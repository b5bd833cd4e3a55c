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

const (
	nodeA = api.NodeID("cpv0cwypxp44qw0p")
	nodeB = api.NodeID("71532pmrr5f6wz0c")
)

// cableRig is the cables of a node, with a board and a clock moved by hand.
func cableRig(t *testing.T) (*Cables, *board, *nativetest.Clock) {
	h, b, _ := rig()
	clock := nativetest.NewClock(time.Unix(0, 0))
	return NewCables(logging(h, loud(t)), nodeA, clock), b, clock
}

// loud fails the test for what is logged.
func loud(t *testing.T) *slog.Logger { return slog.New(slog.NewTextHandler(failing{t}, nil)) }

type failing struct{ t *testing.T }

func (f failing) Write(text []byte) (int, error) {
	f.t.Error(string(text))
	return len(text), nil
}

// plugged is a receptacle with something in it, or nothing.
func plugged(number api.PortNumber, gigabits int64) (p api.Thunderbolt, unknown map[string]api.Reason) {
	p = api.Thunderbolt{PortNumber: number, Connected: new(gigabits > 0)}
	if gigabits > 0 {
		p.Negotiated = &api.ThunderboltSpeed{TxBitsPerS: gigabits * 1e9, RxBitsPerS: gigabits * 1e9}
	}
	return p, nil
}

func TestFlapping(t *testing.T) {
	is := is.New(t)
	c, b, clock := cableRig(t)
	flapping := "link_flapping/" + string(nodeA) + ":2"
	c.Plugged(plugged(2, 80)) // as it was found: no change
	replug := func() {
		c.Plugged(plugged(2, 0))
		c.Plugged(plugged(2, 0)) // the same again is no change
		c.Plugged(plugged(1, 80))
		is.Equal(b.names(), []string{})
		clock.Advance(time.Second)
		c.Plugged(plugged(2, 80))
	}
	replug()
	clock.Advance(29 * time.Second)
	is.Equal(b.names(), []string{})
	replug()
	is.Equal(b.names(), []string{flapping}) // four changes in 31 s
	clock.Advance(29*time.Second - time.Millisecond)
	is.Equal(b.names(), []string{flapping})
	clock.Advance(time.Millisecond)
	is.Equal(b.names(), []string{}) // by itself, on the clock
	is.Equal(clock.Pending(), 0)

	c.Plugged(api.Thunderbolt{PortNumber: 2}, map[string]api.Reason{"connected": api.ReasonReadFailed})
	c.Plugged(plugged(2, 80))
	is.Equal(b.names(), []string{}) // what could not be read is no change
}

func TestFlappingEndsWithThePort(t *testing.T) {
	is := is.New(t)
	c, b, clock := cableRig(t)
	for n := range 10 {
		c.Plugged(plugged(2, int64(n%2)*40))
	}
	is.Equal(len(b.names()), 1)
	c.Removed(2)
	is.Equal(b.names(), []string{})
	is.Equal(clock.Pending(), 0)
	c.Plugged(plugged(2, 0))
	is.Equal(b.names(), []string{}) // as it is found again
	for n := range 10 {
		c.Plugged(plugged(2, int64(n%2)*40))
	}
	is.Equal(clock.Pending(), 1)
	c.Close()
	is.Equal(clock.Pending(), 0)
}

func TestLinkDown(t *testing.T) {
	is := is.New(t)
	c, b, _ := cableRig(t)
	down, _ := plugged(3, 80)
	down.Negotiated = nil
	c.Plugged(down, map[string]api.Reason{"negotiated": api.ReasonLinkDown})
	is.Equal(b.names(), []string{"link_down/" + string(nodeA) + ":3"})
	c.Plugged(plugged(3, 0)) // pulled: nothing is wrong any more
	is.Equal(b.names(), []string{})
}

func TestDrawn(t *testing.T) {
	is := is.New(t)
	c, b, _ := cableRig(t)
	name := func(id api.NodeID) string { return map[api.NodeID]string{nodeA: "ada", nodeB: "bob"}[id] }
	cable := api.Cable{
		Ends:            []api.CableEnd{{End: api.LinkEnd{Node: nodeA, PortNumber: 1}, Place: "back, left"}, {End: api.LinkEnd{Node: nodeB, PortNumber: 4}}},
		ForwardBitsPerS: new(int64(40e9)), BackwardBitsPerS: new(int64(40e9)), Hubs: []string{"Dock"},
		Verdict: api.VerdictSlow, Reasons: []api.Reason{api.ReasonHubBetween, api.ReasonLinkBelowPorts},
	}
	elsewhere := api.Cable{Ends: []api.CableEnd{{End: api.LinkEnd{Node: nodeB, PortNumber: 2}}}, Reasons: cable.Reasons}
	below := "link_below_ports/" + string(nodeA) + ":1"
	c.Drawn(api.LinkListResult{Cables: []api.Cable{cable, elsewhere}, Loops: [][]api.NodeID{{nodeB, nodeA}}}, name)
	is.Equal(b.names(), []string{"bridge_loop", below}) // one's own ends only
	is.True(strings.HasSuffix(b.docs[below].Text, ": ada:1 (back, left) to bob:4, 40 Gb/s through Dock."))
	is.True(strings.HasSuffix(b.docs["bridge_loop"].Text, ": bob - ada."))
	is.Equal(b.docs[below].Subject, string(nodeA)+":1")

	c.Drawn(api.LinkListResult{Cables: []api.Cable{cable}, Loops: [][]api.NodeID{{nodeB}}}, name)
	is.Equal(b.names(), []string{below})
	cable.Muted = true
	c.Drawn(api.LinkListResult{Cables: []api.Cable{cable}}, name)
	is.Equal(b.names(), []string{})
	flapping := func(r api.PortNumber) string {
		for n := range 10 {
			c.Plugged(plugged(r, int64(n%2)*40))
		}
		return b.docs["link_flapping/"+api.LinkEnd{Node: nodeA, PortNumber: r}.String()].Text
	}
	is.True(strings.HasSuffix(flapping(1), ": ada:1 (back, left) to bob:4."))
	is.True(!strings.Contains(flapping(4), "bob")) // which is the receptacle of the other Mac
}
