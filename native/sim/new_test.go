package sim_test

import (
	"errors"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/nativetest"
	"fulmen/native/sim"
	"fulmen/native/sim/scenario"
)

// A scenario that was made by a program and not by the parser is checked too.
func TestNoDeskCouldHoldIt(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(*scenario.Scenario)
		want  error
	}{
		"no Mac":          {func(s *scenario.Scenario) { s.Macs = nil }, nil},
		"two of a name":   {func(s *scenario.Scenario) { s.Macs[1].Name = "a" }, native.ErrExists},
		"a hub's name":    {func(s *scenario.Scenario) { s.Macs[1].Name = "hub" }, native.ErrExists},
		"two hubs":        {func(s *scenario.Scenario) { s.Hubs[1].Name = "hub" }, native.ErrExists},
		"two networks":    {func(s *scenario.Scenario) { s.Networks = append(s.Networks, s.Networks[0]) }, native.ErrExists},
		"a receptacle":    {func(s *scenario.Scenario) { s.Macs[0].Ports[1].Receptacle = 1 }, native.ErrExists},
		"an interface":    {func(s *scenario.Scenario) { s.Macs[0].Interfaces[1].Name = "en0" }, native.ErrExists},
		"no such network": {func(s *scenario.Scenario) { s.Macs[0].Interfaces[0].Network = "home" }, native.ErrNotFound},
		"no such member": {func(s *scenario.Scenario) {
			s.Macs[0].Bridges = []scenario.Bridge{{Name: "bridge0", Members: []string{"en9"}}}
		}, native.ErrNotFound},
		"two bridges": {func(s *scenario.Scenario) {
			s.Macs[0].Bridges = []scenario.Bridge{{Name: "bridge0"}, {Name: "bridge0"}}
		}, native.ErrExists},
		"a bridge in itself": {func(s *scenario.Scenario) {
			s.Macs[0].Bridges = []scenario.Bridge{{Name: "bridge0", Members: []string{"bridge0"}}}
		}, native.ErrNotFound},
		"a member of two": {func(s *scenario.Scenario) {
			s.Macs[0].Bridges = []scenario.Bridge{{Name: "bridge0", Members: []string{"en1"}}, {Name: "bridge1", Members: []string{"en1"}}}
		}, native.ErrNotFound},
		"a receptacle used twice": {func(s *scenario.Scenario) { s.Cables = append(s.Cables, s.Cables[0]) }, native.ErrExists},
		"a cable to nobody":       {func(s *scenario.Scenario) { s.Cables[0].Ends[1].Owner = "z" }, native.ErrNotFound},
		"a speed of no cable": {func(s *scenario.Scenario) {
			s.Cables[0].Speed = native.LinkSpeed{TxBitsPerS: 30e9, RxBitsPerS: 30e9}
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			s := desk(2, "a.tb1 b.tb1")
			test.spoil(&s)
			_, err := sim.New(s, &nativetest.Clock{})
			is.True(err != nil)
			is.True(test.want == nil || errors.Is(err, test.want))
		})
	}
}

// Building a world leaves its scenario as it was, and the scenario does not
// change with the world.
func TestScenarioStaysAsItWas(t *testing.T) {
	is := is.New(t)
	s, again := bridged(desk(2, "a.tb1 b.tb1"), "en1"), bridged(desk(2, "a.tb1 b.tb1"), "en1")
	b := newBench(t, s)
	b.do("set a.name other", "set a.rdma off", "set a.en1.bridge none", "set a.en2.address none", "unplug a.tb1")
	is.Equal(b.Scenario(), again)
}
