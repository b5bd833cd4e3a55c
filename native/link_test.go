package native_test

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
)

func TestNegotiatedLink(t *testing.T) {
	for name, c := range map[string]struct {
		speed, width uint32
		want         string // "" for an error
		gen          native.Generation
	}{
		"tb3 one lane":      {8, 1, "10 Gb/s", native.Gen2},
		"tb3 two lanes":     {8, 2, "20 Gb/s", native.Gen2},
		"tb4":               {4, 2, "40 Gb/s", native.Gen3},
		"one lane trained":  {4, 1, "20 Gb/s", native.Gen3},
		"tb5":               {2, 2, "80 Gb/s", native.Gen4},
		"tb5 one lane":      {2, 1, "40 Gb/s", native.Gen4},
		"tb5 three out":     {2, 4, "120/40 Gb/s", native.Gen4},
		"tb5 three in":      {2, 8, "40/120 Gb/s", native.Gen4},
		"three out at 20":   {4, 4, "", ""},
		"three in at 10":    {8, 8, "", ""},
		"two speeds at one": {6, 2, "", ""},
		"unknown speed":     {1, 2, "", ""},
		"unknown width":     {2, 3, "", ""},
		"wide garbage":      {2, 1 << 31, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			link, err := native.NegotiatedLink(c.speed, c.width)
			if c.want == "" {
				is.True(err != nil)
				is.Equal(link, native.Link{})
				return
			}
			is.NoErr(err)
			is.Equal(link.State, native.LinkUp)
			is.Equal(link.Generation, c.gen)
			is.Equal(link.Speed().String(), c.want)
		})
	}
	t.Run("nothing trained is down, not unknown", func(t *testing.T) {
		is := is.New(t)
		for _, codes := range [][2]uint32{{0, 2}, {2, 0}, {0, 0}} {
			link, err := native.NegotiatedLink(codes[0], codes[1])
			is.NoErr(err)
			is.Equal(link, native.Link{State: native.LinkDown})
		}
	})
}

func TestPortCapability(t *testing.T) {
	for name, c := range map[string]struct {
		mask, router uint32
		want         native.ThunderboltVersion
	}{
		"tb5":                               {14, native.RouterUSB4v2, native.TB5},
		"tb5, router not told":              {14, 0, native.TB5},
		"tb4":                               {12, native.RouterUSB4v1, native.TB4},
		"newer router, slower lanes":        {12, native.RouterUSB4v2, native.TB4},
		"tb3":                               {12, native.RouterTB3, native.TB3},
		"tb3 or tb4":                        {12, 0, ""},
		"no speed":                          {0, native.RouterUSB4v2, ""},
		"a bit nobody knows, and no others": {16, native.RouterUSB4v2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			got, err := native.PortCapability(c.mask, c.router)
			is.Equal(got, c.want)
			is.Equal(err != nil, c.want == "")
		})
	}
}

func TestChain(t *testing.T) {
	is := is.New(t)
	port, ok := studio().Thunderbolt.Port(2)
	is.True(ok)
	peer := port.Peers[0]

	hubs, err := port.Chain(peer)
	is.NoErr(err)
	is.Equal(len(hubs), 2)
	is.Equal(hubs[0].Route, "0x1") // nearest the port first
	port.Hubs[0].Parent = "0x301"
	_, err = port.Chain(peer)
	is.True(err != nil) // a circle ends
	peer.Hub = "0x9"
	_, err = port.Chain(peer)
	is.True(err != nil) // a hub that is not there
}

func TestOffers(t *testing.T) {
	is := is.New(t)
	direct, _ := studio().Thunderbolt.Port(1)
	behind, _ := studio().Thunderbolt.Port(2)
	for _, c := range []struct {
		peer           native.Peer
		offered, known bool
	}{
		{direct.Peers[0], true, true},
		{behind.Peers[0], false, true}, // an empty list is a no
		{native.Peer{}, false, false},  // no list is no answer
	} {
		offered, known := c.peer.Offers(native.ProtocolRDMA)
		is.Equal([2]bool{offered, known}, [2]bool{c.offered, c.known})
	}
}

func TestIPv4GID(t *testing.T) {
	is := is.New(t)
	gids := studio().RDMA.Devices[0].GIDs
	_, ok := gids[0].IPv4()
	is.True(!ok)
	v4, ok := gids[1].IPv4()
	is.True(ok)
	is.Equal(v4.String(), "169.254.1.1")
}

func TestParseLinkSpeed(t *testing.T) {
	for text, want := range map[string]native.LinkSpeed{
		"80 Gb/s":         {TxBitsPerS: 80e9, RxBitsPerS: 80e9},
		"Up to 120 Gb/s":  {TxBitsPerS: 120e9, RxBitsPerS: 120e9, UpTo: true},
		"40.0 Gb/s":       {TxBitsPerS: 40e9, RxBitsPerS: 40e9},
		"120/40G":         {TxBitsPerS: 120e9, RxBitsPerS: 40e9},
		"80G":             {TxBitsPerS: 80e9, RxBitsPerS: 80e9},
		"2.5 Gbit/s":      {TxBitsPerS: 2500e6, RxBitsPerS: 2500e6},
		"100Mbps":         {TxBitsPerS: 100e6, RxBitsPerS: 100e6},
		" 10000 Gb/s ":    {TxBitsPerS: 10e12, RxBitsPerS: 10e12},
		"0.001 Mb/s":      {TxBitsPerS: 1000, RxBitsPerS: 1000},
		"Up to 120/40 Gb": {}, "10001 Gb/s": {}, "": {}, "Gb/s": {}, "0 Gb/s": {}, "-1 Gb/s": {}, "+1 Gb/s": {}, "1e3 Gb/s": {},
		"NaN Gb/s": {}, "80": {}, "80 GB/s": {}, "80 gb/s": {}, "1.2345 Gb/s": {}, "1. Gb/s": {}, ".5 Gb/s": {}, "80/ Gb/s": {},
		"80/80/80 Gb/s": {}, "999999999999999999999 Gb/s": {}, "Up to Up to 80 Gb/s": {}, "８０ Gb/s": {},
	} {
		t.Run(text, func(t *testing.T) {
			is := is.New(t)
			got, err := native.ParseLinkSpeed(text)
			is.Equal(got, want)
			is.Equal(err != nil, want == native.LinkSpeed{})
		})
	}
}

func FuzzParseLinkSpeed(f *testing.F) {
	for _, seed := range []string{"80 Gb/s", "Up to 120 Gb/s", "120/40G", "40.0 Gb/s", "2.5Mbps", "99999999.999 G", "/", "."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		speed, err := native.ParseLinkSpeed(text)
		if err != nil {
			if (speed != native.LinkSpeed{}) {
				t.Errorf("%q: an error and a speed", text)
			}
			return
		}
		if speed.TxBitsPerS <= 0 || speed.RxBitsPerS <= 0 || speed.TxBitsPerS > 10e12 || speed.RxBitsPerS > 10e12 {
			t.Errorf("%q: %+v is out of range", text, speed)
		}
		again, err := native.ParseLinkSpeed(speed.String())
		if err != nil || again != speed {
			t.Errorf("%q: %+v is written %q and reads back %+v, %v", text, speed, speed, again, err)
		}
	})
}
