package readiness

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

// What is said of cables with any documents, a line for each check, cause and concern.
func TestByChance(t *testing.T) {
	var b strings.Builder
	for seed := range testkit.Seed(25) { // those of the golden file
		c := random(seed.Source(3))
		report := Of(c)
		fmt.Fprintf(&b, "%d: %s: %s\n", seed, report.Verdict, report.Text)
		for _, k := range report.Checks {
			mark := map[bool]string{true: " advice"}[k.Advice]
			fmt.Fprintf(&b, "  %s %s%s %s: %s %s\n", k.Check, k.Answer, mark, k.Reason, k.Text, k.Remedy)
		}
		for _, cause := range report.Causes {
			fmt.Fprintf(&b, "  cause %s: %s\n", cause.Reason, cause.Message)
		}
		for _, e := range c.ends() {
			for _, concern := range Concerns(e.End.Node, []Cable{c}, []Report{report}) {
				fmt.Fprintf(&b, "  concern of %s, %s: %s\n", e.Name, concern.Reason, concern.Message)
			}
		}
		for _, e := range UserActions([]Cable{c}, nil) {
			fmt.Fprintf(&b, "  errand %s %.0f s, %d cables, %d steps %s\n", e.Kind, e.EstimateS, len(e.Links), len(e.Steps), e.Note)
		}
	}
	golden(t, "by-chance", b.String())
}

// What people are told of systems, speeds and names at the edges of what is known.
func TestWords(t *testing.T) {
	is := is.New(t)
	for want, of := range map[string]*api.Identity{
		"an unknown system": nil, "macOS": {}, "Linux": {Platform: api.PlatformLinux}, "macOS 26.2": {OSVersion: "26.2"},
		"Debian 12": {Platform: api.PlatformLinux, OSName: "Debian", OSVersion: "12"}, "macOS 27.0 (26A1)": {OSVersion: "27.0", OSBuild: "26A1"},
	} {
		is.Equal(withBuild(&End{Identity: of}), want)
	}
	is.Equal(gigabits(40_000_000_000), "40 Gb/s")
	is.Equal(gigabits(39_990_000_000), "39.9 Gb/s")
	is.Equal([]string{listed(nil), listed([]string{"a"}), listed([]string{"a", "b"}), listed([]string{"a", "b", "c"})}, []string{"", "a", "a and b", "a, b and c"})
}

// RDMA needs more than 40 Gb/s one way, and a speed in both.
func TestSpeedToTheBit(t *testing.T) {
	for _, c := range []struct {
		there, back int64
		want        api.Answer
	}{
		{api.MinRDMABitsPerS, api.MinRDMABitsPerS, api.AnswerNo}, {api.MinRDMABitsPerS + 1, 1, api.AnswerYes}, {1, api.MinRDMABitsPerS + 1, api.AnswerYes},
		{80e9, 0, api.AnswerUnknown}, {0, 80e9, api.AnswerUnknown}, {80e9, -1, api.AnswerUnknown}, {-1, 80e9, api.AnswerUnknown},
	} {
		p := pair()
		p.ForwardBitsPerS, p.BackwardBitsPerS = c.there, c.back
		is.New(t).Equal(checkSpeed(&p).Answer, c.want)
	}
}

// The bridge of an interface is the one that it names, or else the one that names it.
func TestBridgeOfAnEnd(t *testing.T) {
	for _, c := range []struct {
		own     string
		members []string
		kind    api.InterfaceType
		want    string
	}{
		{"", nil, api.InterfaceBridge, ""}, {"", []string{"en9", "en1"}, api.InterfaceBridge, "b"}, {"", []string{"en9"}, api.InterfaceBridge, ""},
		{"", []string{"en1"}, api.InterfaceEthernet, ""}, {"own", []string{"en1"}, api.InterfaceBridge, "own"},
	} {
		is := is.New(t)
		e := End{Network: &api.Network{Interfaces: []api.Interface{{Name: "en1", Bridge: c.own, BridgeConfigured: "stored"}, {Name: "b", Type: c.kind, Members: c.members}, {Name: "c", Type: c.kind, Members: c.members}}}}
		now, stored := e.bridges(&e.Network.Interfaces[0])
		is.Equal(now, c.want)
		is.Equal(stored, "stored")
	}
}

// Two ends meet where each is in the network of the other, of any of their addresses.
func TestEndsThatMeet(t *testing.T) {
	of := func(address string) *End { return end(studio1, "studio-1", 1, "", address) }
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"169.254.1.1/30", "169.254.1.2/30", true}, {"169.254.1.1/30", "169.254.1.5/30", false},
		{"169.254.1.1/16", "169.254.9.9/16", true}, {"169.254.1.1/16", "169.254.9.9/24", false}, {"169.254.1.1/24", "169.254.9.9/16", false},
		{"169.254.1.1/32", "169.254.1.1/32", true},
	} {
		is := is.New(t)
		is.Equal(meets(of(c.a), of(c.b)), c.want)
		none := of(c.b)
		none.RDMA.Device.GIDs = nil
		is.True(meets(of(c.a), none)) // as far as is told
		is.True(meets(none, of(c.a)))
	}
}

// A report says whether an end is away, and the more tests of the two.
func TestSumsOfAReport(t *testing.T) {
	is := is.New(t)
	c := pair()
	c.Low.RDMA.ProbesSinceBoot, c.High.RDMA.ProbesSinceBoot = 3, 2
	r := Of(c)
	is.Equal(r.ProbesSinceBoot, 3)
	is.True(!r.Stale)
	for _, e := range c.ends() {
		e.Stale = true
		is.True(Of(c).Stale)
		e.Stale = false
	}
}

// Trips that are made come after those that are not, each by the names of the Macs; one
// that is needed again begins anew.
func TestUserActionsInOrder(t *testing.T) {
	is := is.New(t)
	c := pair()
	off(&c, c.Low)
	off(&c, c.High)
	done := func(name string) ActionProgress {
		return ActionProgress{Kind: api.UserActionSettings, Name: name, Done: true, Left: true, Returns: 2, DoneAt: time.Minute}
	}
	progress := ActionsProgress{"a": done("studio-0"), "b": done("studio-9"), c.Low.End.Node: done("studio-1"), "c": {Kind: api.UserActionRecovery, Name: "studio-4"}}
	all := UserActions([]Cable{c}, progress)
	var got []api.NodeID
	for _, e := range all {
		got = append(got, e.Node)
		is.Equal(e.Done, e.Node == "a" || e.Node == "b")
		for _, s := range e.Steps {
			is.Equal(s.Done, e.Done)
		}
		is.Equal(e.Note != "", e.Done)
	}
	is.Equal(got, []api.NodeID{studio1, studio2, "a", "b"})
	is.Equal(Price(all), "2 Macs need one trip to Recovery, about 4 minutes each.")
	is.Equal(Price(all[1:]), "1 Mac needs one trip to Recovery, about 4 minutes.")
	is.Equal(Price(all[2:]), "")
	is.Equal(Price([]api.RDMAUserAction{{Kind: api.UserActionRestart, EstimateS: 60}, {Kind: api.UserActionSettings, EstimateS: 61}}), "1 Mac needs a switch in System Settings and a restart, about 2 minutes. 1 Mac needs a restart, about a minute.")
}
