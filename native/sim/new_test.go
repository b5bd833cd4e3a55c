package sim_test

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/nativetest"
	"fulmen/native/sim"
	"fulmen/native/sim/scenario"
)

// A scenario that was made by a program and not by the parser is checked too.
func TestNoClusterCouldHoldIt(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(*scenario.Scenario)
		want  string
	}{
		"no Mac":          {func(s *scenario.Scenario) { s.Macs = nil }, "there is no Mac"},
		"two of a name":   {func(s *scenario.Scenario) { s.Macs[1].Name = "a" }, "mac a: the name is taken by another mac"},
		"a hub's name":    {func(s *scenario.Scenario) { s.Macs[1].Name = "hub" }, "hub hub: the name is taken by another mac"},
		"two hubs":        {func(s *scenario.Scenario) { s.Hubs[1].Name = "hub" }, "hub hub: the name is taken by another hub"},
		"two networks":    {func(s *scenario.Scenario) { s.Networks = append(s.Networks, s.Networks[0]) }, "network office: the name is taken by another network"},
		"a receptacle":    {func(s *scenario.Scenario) { s.Macs[0].Ports[1].PortNumber = 1 }, "mac a: port 1 is described twice"},
		"an interface":    {func(s *scenario.Scenario) { s.Macs[0].Interfaces[1].Name = "en0" }, "mac a: interface en0 is described twice"},
		"no such network": {func(s *scenario.Scenario) { s.Macs[0].Interfaces[0].Network = "home" }, "interface en0 is on network \"home\", which does not exist"},
		"no such member": {func(s *scenario.Scenario) {
			s.Macs[0].Bridges = []scenario.Bridge{{Name: "bridge0", Members: []string{"en9"}}}
		}, "bridge bridge0 has member \"en9\", which is not an interface"},
		"two bridges": {func(s *scenario.Scenario) {
			s.Macs[0].Bridges = []scenario.Bridge{{Name: "bridge0"}, {Name: "bridge0"}}
		}, "the name of bridge bridge0 is taken"},
		"a bridge in itself": {func(s *scenario.Scenario) {
			s.Macs[0].Bridges = []scenario.Bridge{{Name: "bridge0", Members: []string{"bridge0"}}}
		}, "bridge bridge0 has member \"bridge0\", which is not an interface"},
		"a member of two": {func(s *scenario.Scenario) {
			s.Macs[0].Bridges = []scenario.Bridge{{Name: "bridge0", Members: []string{"en1"}}, {Name: "bridge1", Members: []string{"en1"}}}
		}, "interface en1 is a member of bridge0 and bridge1"},
		"a receptacle used twice": {func(s *scenario.Scenario) { s.Cables = append(s.Cables, s.Cables[0]) }, "port a.tb1 is used by cable 1"},
		"a cable to nobody":       {func(s *scenario.Scenario) { s.Cables[0].Ends[1].Owner = "z" }, "there is no Mac or hub \"z\""},
		"a speed of no cable": {func(s *scenario.Scenario) {
			s.Cables[0].Speed = native.LinkSpeed{TxBitsPerS: 30e9, RxBitsPerS: 30e9}
		}, "speed 30 Gb/s is impossible between tb5 and tb5"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			s := cluster(2, "a.tb1 b.tb1")
			test.spoil(&s)
			_, err := sim.New(s, &nativetest.Clock{})
			is.True(err != nil)
			is.True(strings.Contains(err.Error(), test.want))
		})
	}
}

// Building a world leaves its scenario as it was, and the scenario does not
// change with the world.
func TestScenarioStaysAsItWas(t *testing.T) {
	is := is.New(t)
	s, again := bridged(cluster(2, "a.tb1 b.tb1"), "en1"), bridged(cluster(2, "a.tb1 b.tb1"), "en1")
	b := newBench(t, s)
	b.do("set a.name other", "set a.rdma off", "set a.en1.bridge none", "set a.en2.address none", "unplug a.tb1")
	is.Equal(b.Scenario(), again)
}
