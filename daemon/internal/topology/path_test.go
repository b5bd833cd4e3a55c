package topology

import (
	"net/netip"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestPathKind(t *testing.T) {
	plain := func(kind api.InterfaceType, address string) []api.Interface {
		return []api.Interface{{Name: "x0", Type: kind, Up: true, Addresses: addresses(address)}}
	}
	bridge := func(address string, members ...api.InterfaceType) []api.Interface {
		all := []api.Interface{{Name: "x0", Type: api.InterfaceBridge, Up: true, Addresses: addresses(address)}}
		for i, m := range members {
			all = append(all, api.Interface{Name: []string{"en3", "en4"}[i], Type: m, Up: true, Bridge: "x0"})
		}
		return all
	}
	tb := func(address string) []api.Interface {
		return []api.Interface{{Name: "x0", Type: api.InterfaceThunderbolt, Up: true, Addresses: addresses(address)}}
	}
	const near, far = "10.1.0.1", "10.1.0.2"
	tests := map[string]struct {
		near, far []api.Interface
		kept      api.LinkKind
		cables    int // parallel cables between en3, en4 of both; with one, x0 is its interface
		onX0      bool
		slow      bool // the second cable is slow
		want, now api.LinkKind
		link      bool
	}{
		"ethernet":                       {near: plain(api.InterfaceEthernet, near), far: plain(api.InterfaceEthernet, far), want: api.LinkEthernet, now: api.LinkEthernet},
		"wifi at the far end wins":       {near: plain(api.InterfaceEthernet, near), far: plain(api.InterfaceWiFi, far), want: api.LinkWiFi, now: api.LinkWiFi},
		"wifi at the near end wins":      {near: plain(api.InterfaceWiFi, near), far: plain(api.InterfaceEthernet, far), want: api.LinkWiFi, now: api.LinkWiFi},
		"a tunnel at one end":            {near: plain(api.InterfaceVPN, "100.64.0.1"), far: plain(api.InterfaceUnknown, far), want: api.LinkVPN, now: api.LinkVPN},
		"a carrier's range is no tunnel": {near: plain(api.InterfaceUnknown, "100.64.0.1"), far: plain(api.InterfaceUnknown, far), want: api.LinkUnknown, now: api.LinkUnknown},
		"unknown at one end":             {near: plain(api.InterfaceEthernet, near), far: plain(api.InterfaceUnknown, far), want: api.LinkUnknown, now: api.LinkUnknown},
		"unknown now, known before":      {near: plain(api.InterfaceUnknown, near), far: plain(api.InterfaceUnknown, far), kept: api.LinkEthernet, want: api.LinkEthernet, now: api.LinkUnknown},
		"known now, other before":        {near: plain(api.InterfaceEthernet, near), far: plain(api.InterfaceEthernet, far), kept: api.LinkTB5, want: api.LinkEthernet, now: api.LinkEthernet},
		"thunderbolt":                    {near: tb(near), far: tb(far), cables: 1, onX0: true, want: api.LinkTB5, now: api.LinkTB5, link: true},
		"thunderbolt without a cable":    {near: tb(near), far: tb(far), want: api.LinkUnknown, now: api.LinkUnknown},
		"thunderbolt at one end":         {near: tb(near), far: plain(api.InterfaceEthernet, far), cables: 1, onX0: true, want: api.LinkUnknown, now: api.LinkUnknown},
		"bridge over one cable":          {near: bridge(near, api.InterfaceThunderbolt), far: bridge(far, api.InterfaceThunderbolt), cables: 1, want: api.LinkTB5, now: api.LinkTB5, link: true},
		"bridge over two alike":          {near: bridge(near, api.InterfaceThunderbolt, api.InterfaceThunderbolt), far: bridge(far, api.InterfaceThunderbolt, api.InterfaceThunderbolt), cables: 2, want: api.LinkTB5, now: api.LinkTB5},
		"bridge over two different":      {near: bridge(near, api.InterfaceThunderbolt, api.InterfaceThunderbolt), far: bridge(far, api.InterfaceThunderbolt, api.InterfaceThunderbolt), cables: 2, slow: true, want: api.LinkUnknown, now: api.LinkUnknown},
		"bridge of ethernet":             {near: bridge(near, api.InterfaceEthernet), far: plain(api.InterfaceEthernet, far), want: api.LinkEthernet, now: api.LinkEthernet},
		"bridge of both":                 {near: bridge(near, api.InterfaceEthernet, api.InterfaceThunderbolt), far: bridge(far, api.InterfaceThunderbolt), cables: 1, want: api.LinkUnknown, now: api.LinkUnknown},
		"loopback at both ends":          {near: plain(api.InterfaceLoopback, near), far: plain(api.InterfaceLoopback, far), want: api.LinkLoopback, now: api.LinkLoopback},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			nodes := []Node{testNode(0), testNode(1)}
			nodes[0].Network.Interfaces, nodes[1].Network.Interfaces = tt.near, tt.far
			for r := 1; r <= tt.cables; r++ {
				speed := both(80)
				if r == 2 && tt.slow {
					speed = both(40)
				}
				a, b := testPort(0, r, speed, testPeer(1, r)), testPort(1, r, speed, testPeer(0, r))
				if tt.onX0 {
					a.Interface, b.Interface = "x0", "x0"
				}
				nodes[0].Thunderbolt, nodes[1].Thunderbolt = append(nodes[0].Thunderbolt, a), append(nodes[1].Thunderbolt, b)
			}
			reach := testReach(1, far, "x0")
			if tt.kept != "" {
				reach.Kind = tt.kept
			}
			nodes[0].Reach = []api.Reach{reach}
			g := Build(Input{Nodes: nodes})
			is.Equal(len(g.Paths), 1)
			p := g.Paths[0]
			is.Equal(p.Kind, tt.want)
			is.Equal(p.KindNow, tt.now)
			is.Equal(p.Link.Valid(), tt.link)
			is.Equal(p.PeerInterface, "x0")
		})
	}
}

func TestOnlyVerifiedAddressesArePaths(t *testing.T) {
	nodes := func() []Node {
		all := []Node{testNode(0), testNode(1)}
		for n := range all {
			addInterface(&all[n], api.Interface{Name: "en0", Type: api.InterfaceEthernet, Up: true, Addresses: addresses([]string{"10.0.0.1", "10.0.0.2"}[n], "fe80::1")})
		}
		addInterface(&all[1], api.Interface{Name: "en1", Type: api.InterfaceWiFi, Up: true, Addresses: addresses("fe80::1")})
		return all
	}
	tests := map[string]struct {
		change func(n []Node, r *api.Reach)
		paths  int
		note   api.Reason
		kind   api.LinkKind
	}{
		"the peer has it":              {func([]Node, *api.Reach) {}, 1, "", api.LinkEthernet},
		"the peer does not have it":    {func(_ []Node, r *api.Reach) { r.Address = netip.MustParseAddr("10.0.0.3") }, 0, api.ReasonSourcesDisagree, ""},
		"the peer's network not known": {func(n []Node, _ *api.Reach) { n[1].Network = nil }, 0, api.ReasonNotYetRead, ""},
		"the peer not known":           {func(_ []Node, r *api.Reach) { r.Peer = testID(5) }, 0, api.ReasonNoSuchNode, ""},
		"no address":                   {func(_ []Node, r *api.Reach) { r.Address = netip.Addr{} }, 0, api.ReasonMalformedDocument, ""},
		"described twice":              {func(n []Node, r *api.Reach) { n[0].Reach = append(n[0].Reach, *r) }, 0, api.ReasonSourcesDisagree, ""},
		"zone of the writer, two interfaces": {func(_ []Node, r *api.Reach) {
			r.Address = netip.MustParseAddr("fe80::1%en0")
		}, 1, "", api.LinkUnknown},
		"the same, the peer says which": {func(_ []Node, r *api.Reach) {
			r.Address, r.PeerInterface = netip.MustParseAddr("fe80::1%en0"), "en0"
		}, 1, "", api.LinkEthernet},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			all := nodes()
			reach := testReach(1, "10.0.0.2", "en0")
			tt.change(all, &reach)
			all[0].Reach = append(all[0].Reach, reach)
			g := Build(Input{Nodes: all})
			is.Equal(len(g.Paths), tt.paths)
			is.Equal(len(g.List().Rows), tt.paths)
			if tt.note != "" {
				is.Equal(len(g.Notes), 1)
				is.Equal(g.Notes[0].Reason, tt.note)
				return
			}
			is.Equal(len(g.Notes), 0)
			is.Equal(g.Paths[0].Kind, tt.kind)
		})
	}
}

func TestKeepKind(t *testing.T) {
	early, late := api.TimeOf(time.Unix(1000, 0)), api.TimeOf(time.Unix(2000, 0))
	known := KeptKind{api.LinkTB5, early}
	tests := map[string]struct {
		previous KeptKind
		current  api.LinkKind
		want     KeptKind
	}{
		"first known":                 {KeptKind{}, api.LinkTB5, KeptKind{api.LinkTB5, late}},
		"never known":                 {KeptKind{}, api.LinkUnknown, KeptKind{Kind: api.LinkUnknown}},
		"source blinks":               {known, api.LinkUnknown, known},
		"source gone":                 {known, "", known},
		"confirmed":                   {known, api.LinkTB5, KeptKind{api.LinkTB5, late}},
		"replaced":                    {known, api.LinkWiFi, KeptKind{api.LinkWiFi, late}},
		"a word that nobody knows":    {known, "carrier_pigeon", known},
		"unknown has no age":          {KeptKind{api.LinkUnknown, early}, api.LinkUnknown, KeptKind{Kind: api.LinkUnknown}},
		"unknown before, known again": {KeptKind{Kind: api.LinkUnknown}, api.LinkTB4, KeptKind{api.LinkTB4, late}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			is.New(t).Equal(KeepKind(tt.previous, tt.current, late), tt.want)
		})
	}
}

// TestOnlySlowPaths: one that is a cable, or of which nothing is known, is enough.
func TestOnlySlowPaths(t *testing.T) {
	path := func(kind api.LinkKind, change func(p *Path)) Path {
		p := Path{From: "a", To: "b", Kind: kind, State: api.PathActive}
		if change != nil {
			change(&p)
		}
		return p
	}
	wifi, vpn := path(api.LinkWiFi, nil), path(api.LinkVPN, nil)
	costly := path(api.LinkEthernet, func(p *Path) { p.Expensive = true })
	for name, test := range map[string]struct {
		paths []Path
		want  bool
	}{
		"nothing":    {nil, false},
		"Wi-Fi":      {[]Path{wifi}, true},
		"all slow":   {[]Path{wifi, vpn, costly}, true},
		"unknown":    {[]Path{path(api.LinkUnknown, nil), wifi}, false},
		"a cable":    {[]Path{wifi, path(api.LinkTB4, nil), vpn}, false},
		"standby":    {[]Path{wifi, path(api.LinkEthernet, func(p *Path) { p.State = api.PathStandby })}, true},
		"failed":     {[]Path{wifi, path(api.LinkTB4, func(p *Path) { p.State = api.PathFailed })}, true},
		"stale":      {[]Path{wifi, path(api.LinkTB4, func(p *Path) { p.Stale = true })}, true},
		"of others":  {[]Path{wifi, path(api.LinkTB4, func(p *Path) { p.To = "c" })}, true},
		"other ways": {[]Path{path(api.LinkWiFi, func(p *Path) { p.From = "b" })}, false},
	} {
		if got := (Graph{Paths: test.paths}).IsSlow("a", "b"); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
