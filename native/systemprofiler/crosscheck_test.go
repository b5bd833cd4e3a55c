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
			[]string{"receptacle 1: domain_uuid: F0000000-0000-4000-8000-000000000010 by the registry, X by system_profiler"}},
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
		}, []string{"receptacle 1: negotiated: 80 Gb/s by the registry, 40 Gb/s by system_profiler"}},
		"lanes are not told": {func(p []native.Port) []native.Port {
			p[0].Negotiated = &native.Link{State: native.LinkUp, TxBitsPerS: 80e9, RxBitsPerS: 80e9}
			return p
		}, nil},
		"down": {func(p []native.Port) []native.Port {
			p[0].Negotiated, p[0].Status, p[0].Peers = &native.Link{State: native.LinkDown}, native.PortEmpty, []native.Peer{}
			return p
		}, []string{
			"receptacle 1: status: peer by the registry, empty by system_profiler",
			"receptacle 1: negotiated: 80 Gb/s by the registry, down by system_profiler",
			"receptacle 1: peers: F0000000-0000-4000-8000-000000000020 by the registry, none by system_profiler",
		}},
		"hub gone": {func(p []native.Port) []native.Port { p[1].Hubs = []native.Hub{}; p[1].Peers[0].Hub = ""; return p }, []string{
			"receptacle 2: hubs: 0x1 by the registry, none by system_profiler",
			"receptacle 2: peer F0000000-0000-4000-8000-000000000031: hub: 0x1 by the registry, none by system_profiler",
		}},
		"hub without a route": {func(p []native.Port) []native.Port { p[1].Hubs[0].Route = "?1"; p[1].Peers[0].Hub = "?1"; return p }, nil},
		"services": {func(p []native.Port) []native.Port { p[0].Peers[0].Services = p[0].Peers[0].Services[:1]; return p },
			[]string{"receptacle 1: peer F0000000-0000-4000-8000-000000000020: services: 1 64087 by the registry, 1 by system_profiler"}},
		"services not known": {func(p []native.Port) []native.Port { p[0].Peers[0].Services = nil; return p }, nil},
		"port missing":       {func(p []native.Port) []native.Port { return p[:2] }, []string{"receptacle 3: receptacle: there by the registry, not there by system_profiler"}},
		"port more":          {func(p []native.Port) []native.Port { return append(p, native.Port{Receptacle: 4}) }, []string{"receptacle 4: receptacle: not there by the registry, there by system_profiler"}},
		"nothing known":      {func([]native.Port) []native.Port { return nil }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			registry := parse(t, "testdata/hub.json").Thunderbolt
			profiler := native.Thunderbolt{Ports: c.change(parse(t, "testdata/hub.json").Thunderbolt.Ports)}
			var got []string
			for _, d := range systemprofiler.CrossCheck(registry, profiler) {
				got = append(got, d.String())
			}
			is.Equal(got, c.want)
		})
	}
}
