package node

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/transport"
)

func TestAddressesThatAreLost(t *testing.T) {
	is := is.New(t)
	on := func(name string, up bool, link *bool, addresses ...string) api.Interface {
		i := api.Interface{Name: name, Up: up, Link: link}
		for _, a := range addresses {
			i.Addresses = append(i.Addresses, api.InterfaceAddress{Address: netip.MustParsePrefix(a)})
		}
		return i
	}
	no := false
	held := reachable{}
	node := api.NodeID("n")
	lost := func(interfaces ...api.Interface) []string {
		var all []string
		held.take(node, api.Network{Interfaces: interfaces}, func(of api.NodeID, addresses []netip.Addr) {
			is.Equal(of, node)
			for _, a := range addresses {
				all = append(all, a.String())
			}
		})
		slices.Sort(all)
		return all
	}
	en0, en5 := on("en0", true, nil, "10.0.0.1/24", "fe80::1/64"), on("en5", true, nil, "169.254.1.2/16")
	is.Equal(lost(en0, en5), nil)
	is.Equal(lost(en0, en5), nil)
	is.Equal(lost(en0), []string{"169.254.1.2"})
	is.Equal(lost(en0, en5), nil)
	is.Equal(lost(on("en0", true, nil, "10.0.0.9/24", "fe80::1/64"), en5), []string{"10.0.0.1"})
	is.Equal(lost(on("en0", true, &no, "10.0.0.9/24", "fe80::1/64"), en5), []string{"10.0.0.9", "fe80::1"}) // no cable in it
	is.Equal(lost(on("en5", false, nil, "169.254.1.2/16")), nil)                                            // it could not tell
	is.Equal(lost(en0), nil)                                                                                // starts over
}

// The documents of a member whose identity two machines have are of either by turns:
// what one of them does not have is not lost.
func TestTwinsLoseNoAddresses(t *testing.T) {
	in(t, 2, func(d *desk) {
		is := is.New(d.t)
		a, b := d.macs[0], d.macs[1]
		ended := 0
		stop := a.transport.Watch(func(e transport.PathEvent) {
			a.mu.Lock()
			defer a.mu.Unlock()
			if e.Path.Reason == api.ReasonAddressLost {
				ended++
			}
		})
		defer stop()
		lose := func() int {
			a.addressesLost(b.identity.Node, []netip.Addr{b.office().Addr()})
			d.pass(time.Second)
			a.mu.Lock()
			defer a.mu.Unlock()
			return ended
		}
		a.Node.twins.seen(b.identity.Node, transport.Path{})
		is.Equal(lose(), 0)
		d.pass(twinForgotten)
		is.Equal(lose(), 1) // there is one again
	})
}
