package show

import (
	"strconv"
	"testing"

	"fulmen/daemon/api"
)

// FuzzPlugs hangs hubs and machines on each other in any way, rings and gaps
// included: every machine is shown once, and every hub of a route.
func FuzzPlugs(f *testing.F) {
	f.Add([]byte{0, 1, 2}, []byte{0, 3, 9})
	f.Add([]byte{1, 0}, []byte{1, 1})
	f.Fuzz(func(t *testing.T, parents, at []byte) {
		if len(parents) > 60 || len(at) > 60 {
		}
		route := func(b byte) string {
			if b == 0 {
				return ""
			}
			return strconv.Itoa(int(b))
		}
		p := port{doc: api.Document{Node: studio}, value: api.Thunderbolt{PortNumber: 1}}
		for i, parent := range parents {
			p.value.Hubs = append(p.value.Hubs, api.ThunderboltHub{Route: strconv.Itoa(i + 1), Parent: route(parent)})
		}
		for _, hub := range at {
			p.value.Peers = append(p.value.Peers, api.ThunderboltPeer{Hub: route(hub)})
		}
		lines := newWiring(nil, nil, nil).plugs(p)
		if len(lines) != len(parents)+len(at) {
			t.Fatalf("%d lines for %d hubs and %d machines", len(lines), len(parents), len(at))
		}
		for _, r := range at {
			depth(p.value.Hubs, route(r)) // ends
		}
	})
}
