package node

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/transport"
	"fulmen/daemon/internal/ledger"
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
	in(t, 2, func(d *scenario) {
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

// A path to a member of which nothing is known yet is told once it has said what interfaces
// it has; one that was told stays so.
func TestPathToASilentMember(t *testing.T) {
	in(t, 2, func(d *scenario) {
		is := is.New(t)
		one, other := d.macs[0], d.macs[1].identity.Node
		publish := func() int {
			one.publishReach(one.reached(), one.graph(one.reached()))
			return len(one.ledger.List(ledger.Filter{Nodes: []api.NodeID{one.identity.Node}, Kinds: []api.Kind{api.KindReach}}))
		}
		paths := publish()
		is.True(paths > 0)
		network, _ := one.ledger.Get(api.Key{Node: other, Kind: api.KindNetwork})
		is.NoErr(one.ledger.Forget(other))
		is.Equal(publish(), paths)
		for name := range one.reached() {
			is.NoErr(one.writer.Delete(api.KindReach, name))
		}
		is.Equal(publish(), 0)
		_, err := one.ledger.PutForeign(network.Document())
		is.NoErr(err)
		is.Equal(publish(), paths)
	})
}

// Discovery is told of a member's network when it has changed, and nothing of who was
// removed is kept: who comes back is told of anew.
func TestDiscoveryIsToldWhatHasChanged(t *testing.T) {
	in(t, 3, func(d *scenario) {
		is := is.New(t)
		one, other, gone := d.macs[0], d.macs[1], d.macs[2]
		at := netip.MustParsePrefix("10.0.9.9/16")
		isKnown := func() bool {
			return slices.ContainsFunc(one.finder.Load().Candidates(other.identity.Node), func(c transport.Candidate) bool { return c.Address.Addr() == at.Addr() })
		}
		is.True(!isKnown())
		other.put(api.KindNetwork, "", api.Network{PrimaryInterface: "en0", Interfaces: []api.Interface{
			{Name: "en0", Type: api.InterfaceEthernet, Up: true, Addresses: []api.InterfaceAddress{{Address: other.office()}, {Address: at}}},
		}})
		d.pass(time.Second)
		is.True(isKnown())
		is.True(one.reported.networks[gone.identity.Node] != nil)
		is.NoErr(one.remove(gone))
		d.pass(time.Second)
		_, isKept := one.reported.networks[gone.identity.Node]
		is.True(!isKept)
	})
}
