package sim_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/sim"
	"fulmen/native/sim/scenario"
)

// bridged puts ports of every Mac into its bridge0, which gets an address, and
// takes theirs.
func bridged(s scenario.Scenario, members ...string) scenario.Scenario {
	for i := range s.Macs {
		m := &s.Macs[i]
		for k := range m.Interfaces {
			if slices.Contains(members, m.Interfaces[k].Name) {
				m.Interfaces[k].Addresses = nil
			}
		}
		m.Bridges = []scenario.Bridge{{
			Name: "bridge0", Members: members,
			Addresses: []native.InterfaceAddress{
				address(fmt.Sprintf("169.254.50.%d/16", i+1)), address(fmt.Sprintf("fe80::50:%d/64", i+1)),
			},
		}}
	}
	return s
}

func reached(w *sim.World, mac string) []string {
	var all []string
	for _, r := range w.Reach(mac) {
		all = append(all, fmt.Sprintf("%s %s-%s %s-%s", r.Peer, r.Interface, r.PeerInterface, r.Source, r.Address))
	}
	return all
}

func TestReach(t *testing.T) {
	office := []string{
		"b en0-en0 192.168.1.11-192.168.1.12", "b en0-en0 fe80::1:0-fe80::2:0",
		"c en0-en0 192.168.1.11-192.168.1.13", "c en0-en0 fe80::1:0-fe80::3:0",
	}
	bridges := []string{
		"b bridge0-bridge0 169.254.50.1-169.254.50.2", "b bridge0-bridge0 fe80::50:1-fe80::50:2",
		"c bridge0-bridge0 169.254.50.1-169.254.50.3", "c bridge0-bridge0 fe80::50:1-fe80::50:3",
	}
	for _, test := range []struct {
		name     string
		scenario scenario.Scenario
		changes  []string
		want     []string
	}{
		{"a network", cluster(3), nil, office},
		{"isolated", cluster(3), []string{"set office.isolated yes"}, nil},
		{"a network that is down", cluster(3), []string{"set office.link down"}, nil},
		{"a sleeper", cluster(3), []string{"sleep b"}, office[2:]},
		{"from a sleeper", cluster(3), []string{"sleep a"}, nil},
		{"another subnet", cluster(3), []string{"set b.en0.address 192.168.2.12/24 dhcp"}, office[1:]},
		{"an own prefix that is too narrow", cluster(3), []string{"set b.en0.address 192.168.1.12/30 dhcp"}, office[1:]},
		{"a cable", cluster(2, "a.tb1 b.tb2"), []string{"set office.isolated yes"}, []string{
			"b en1-en2 169.254.100.1-169.254.101.2", "b en1-en2 fe80::1:1-fe80::2:2"}},
		{"a cable whose network is pulled", cluster(2, "a.tb1 b.tb2"), []string{"set office.isolated yes", "set b.en2.link down"}, nil},
		{"through a hub, and not from one side of it to the other", cluster(3, "hub.up b.tb1", "hub.1 a.tb1", "hub.2 c.tb1"),
			[]string{"set office.isolated yes"}, []string{
				"b en1-en1 169.254.100.1-169.254.100.2", "b en1-en1 fe80::1:1-fe80::2:1"}},
		{"a chain of bridges forwards", bridged(cluster(3, "a.tb1 b.tb1", "b.tb2 c.tb2"), "en1", "en2"),
			[]string{"set office.isolated yes"}, bridges},
		{"a ring of bridges ends", bridged(cluster(3, "a.tb1 b.tb1", "b.tb2 c.tb2", "c.tb1 a.tb2"), "en1", "en2"),
			[]string{"set office.isolated yes"}, bridges},
		{"a sleeper in the chain", bridged(cluster(3, "a.tb1 b.tb1", "b.tb2 c.tb2"), "en1", "en2"),
			[]string{"set office.isolated yes", "sleep b"}, nil},
		{"a bridge that is down", bridged(cluster(3, "a.tb1 b.tb1", "b.tb2 c.tb2"), "en1", "en2"),
			[]string{"set office.isolated yes", "set b.bridge0.link down"}, nil},
		{"from a bridge that is down", bridged(cluster(2, "a.tb1 b.tb1"), "en1", "en2"),
			[]string{"set office.isolated yes", "set a.bridge0.address 169.254.50.1/16 manual", "set a.bridge0.link down"}, nil},
		{"out of the bridge", bridged(cluster(3, "a.tb1 b.tb1", "b.tb2 c.tb2"), "en1", "en2"),
			[]string{"set office.isolated yes", "set b.en1.bridge none", "set b.en1.address 169.254.9.9/16"}, []string{
				"b bridge0-en1 169.254.50.1-169.254.9.9"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			b := newBench(t, test.scenario)
			b.do(test.changes...)
			got := reached(b.World, "a")
			slices.Sort(got)
			is.Equal(got, test.want)
			for _, mac := range b.Macs() { // what answers is answered
				for _, r := range b.Reach(mac) {
					back := sim.Reach{Peer: mac, PeerInterface: r.Interface, Interface: r.PeerInterface, Source: r.Address, Address: r.Source}
					is.True(slices.Contains(b.Reach(r.Peer), back))
				}
			}
		})
	}
}

// A self-assigned address answers once it is there.
func TestReachWaitsForAddresses(t *testing.T) {
	is := is.New(t)
	b := newBench(t, cluster(2))
	b.do("set office.isolated yes", "plug a.tb1 b.tb1")
	is.Equal(b.Reach("a"), nil)
	b.clock.Advance(sim.DelaySelfAssigned)
	is.Equal(len(b.Reach("a")), 2)
}
