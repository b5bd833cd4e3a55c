package systemprofiler_test

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/systemprofiler"
)

// Each change of one reading is found, and nothing else.
func TestCrossCheck(t *testing.T) {
	for name, c := range map[string]struct {
		change func(ports []native.Port) []native.Port
		want   []string
	}{
		"same": {func(p []native.Port) []native.Port { return p }, nil},
		"domain": {func(p []native.Port) []native.Port { p[0].DomainUUID = "X"; return p },
			[]string{"port 1: domain_uuid: the registry says F0000000-0000-4000-8000-000000000010, system_profiler says X"}},
		"small letters": {func(p []native.Port) []native.Port {
			p[0].DomainUUID = "f0000000-0000-4000-8000-000000000010"
			return p
		}, nil},
		"unknown": {func(p []native.Port) []native.Port {
			p[0].DomainUUID, p[0].Negotiated, p[0].Peers, p[0].Status, p[1].Hubs = "", nil, nil, "", nil
			return p
		}, nil},
		"speed": {func(p []native.Port) []native.Port {
			link, _ := native.LinkFromLanes(20e9, 2, 2)
			p[0].Negotiated = &link
			return p
		}, []string{"port 1: negotiated: the registry says 80 Gb/s, system_profiler says 40 Gb/s"}},
		"lanes are not told": {func(p []native.Port) []native.Port {
			p[0].Negotiated = &native.Link{State: native.LinkUp, TxBitsPerS: 80e9, RxBitsPerS: 80e9}
			return p
		}, nil},
		"down": {func(p []native.Port) []native.Port {
			p[0].Negotiated, p[0].Status, p[0].Peers = &native.Link{State: native.LinkDown}, native.PortEmpty, []native.Peer{}
			return p
		}, []string{
			"port 1: status: the registry says peer, system_profiler says empty",
			"port 1: negotiated: the registry says 80 Gb/s, system_profiler says down",
			"port 1: peers: the registry says F0000000-0000-4000-8000-000000000020, system_profiler says none",
		}},
		"hub gone": {func(p []native.Port) []native.Port { p[1].Hubs = []native.Hub{}; p[1].Peers[0].Hub = ""; return p }, []string{
			"port 2: hubs: the registry says 0x1, system_profiler says none",
			"port 2: peer F0000000-0000-4000-8000-000000000031: hub: the registry says 0x1, system_profiler says none",
		}},
		"hub without a route": {func(p []native.Port) []native.Port { p[1].Hubs[0].Route = "?1"; p[1].Peers[0].Hub = "?1"; return p }, nil},
		"services": {func(p []native.Port) []native.Port { p[0].Peers[0].Services = p[0].Peers[0].Services[:1]; return p },
			[]string{"port 1: peer F0000000-0000-4000-8000-000000000020: services: the registry says 1 64087, system_profiler says 1"}},
		"services not known": {func(p []native.Port) []native.Port { p[0].Peers[0].Services = nil; return p }, nil},
		"port missing":       {func(p []native.Port) []native.Port { return p[:2] }, []string{"port 3: presence: the registry says there, system_profiler says not there"}},
		"port more":          {func(p []native.Port) []native.Port { return append(p, native.Port{PortNumber: 4}) }, []string{"port 4: presence: the registry says not there, system_profiler says there"}},
		"nothing known":      {func([]native.Port) []native.Port { return nil }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			registry := parse(t, "testdata/hub.json").Thunderbolt
			profiler := native.Thunderbolt{Ports: c.change(parse(t, "testdata/hub.json").Thunderbolt.Ports)}
			is.Equal(systemprofiler.CrossCheck(registry, profiler), c.want)
		})
	}
}
