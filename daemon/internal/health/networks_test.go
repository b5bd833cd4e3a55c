package health

import (
	"net/netip"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest"
)

// A network that a Mac had and has no more is a condition, until it has one there
// again, or a person has switched the interface off or taken it out.
func TestALostNetworkIsACondition(t *testing.T) {
	lan := api.Interface{Name: "en0", DisplayName: "Ethernet", Type: api.InterfaceEthernet, Up: true, Link: new(true),
		Addresses: []api.InterfaceAddress{{Address: netip.MustParsePrefix("192.168.1.3/24")}}}
	with := func(change func(*api.Interface)) api.Interface { i := lan; change(&i); return i }
	unplugged := with(func(i *api.Interface) { i.Link = new(false) })
	unleased := with(func(i *api.Interface) {
		i.Addresses = []api.InterfaceAddress{{Address: netip.MustParsePrefix("169.254.7.7/16")}, {Address: netip.MustParsePrefix("fe80::1/64")}}
	})
	off := with(func(i *api.Interface) { i.Up = false })
	cable := with(func(i *api.Interface) { i.Type = api.InterfaceThunderbolt })
	unpluggedCable := cable
	unpluggedCable.Link = new(false)
	for name, test := range map[string]struct {
		reported []api.Interface // one after the other; of no name: none is there
		isSet    bool
	}{
		"it has one":             {[]api.Interface{lan}, false},
		"it never had one":       {[]api.Interface{unplugged}, false},
		"unplugged":              {[]api.Interface{lan, unplugged}, true},
		"no lease":               {[]api.Interface{lan, unleased}, true},
		"unplugged, then more":   {[]api.Interface{lan, unplugged, unleased}, true},
		"back":                   {[]api.Interface{lan, unplugged, lan}, false},
		"switched off":           {[]api.Interface{lan, off}, false},
		"unplugged, then off":    {[]api.Interface{lan, unplugged, off}, false},
		"off, on without one":    {[]api.Interface{lan, off, unplugged}, false},
		"taken out":              {[]api.Interface{lan, {}}, false},
		"unplugged, then out":    {[]api.Interface{lan, unplugged, {}}, false},
		"a cable to another Mac": {[]api.Interface{cable, unpluggedCable}, false},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			h, _, _ := rig()
			c := NewCables(logging(h, loud(t)), nodeA, nativetest.NewClock(time.Unix(0, 0)))
			for _, i := range test.reported {
				now := api.Network{Interfaces: []api.Interface{i}}
				if i.Name == "" {
					now.Interfaces = nil
				}
				c.Networked(now, "ada")
			}
			shown := h.Shown()
			is.Equal(len(shown) == 1, test.isSet)
			if test.isSet {
				is.Equal(shown[0].Code, api.ReasonNetworkLost)
				is.Equal(shown[0].Text, "The Mac lost its network: ada on Ethernet (en0).")
			}
		})
	}
}
