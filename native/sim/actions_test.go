package sim_test

import (
	"errors"
	"net/netip"
	"slices"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/sim"
)

func service(iface string) native.ServiceSpec {
	return native.ServiceSpec{Interface: iface, Name: "Fulmen Thunderbolt", Address: netip.MustParsePrefix("169.254.7.1/30")}
}

// The whole way of a port out of its bridge and back, in the order that macOS
// demands.
func TestPortOutOfItsBridgeAndBack(t *testing.T) {
	is := is.New(t)
	b := newBench(t, bridged(cluster(2, "a.tb1 b.tb1"), "en1", "en2"))
	actions, ctx := b.platforms["a"].Network, t.Context()

	_, err := actions.CreateService(ctx, service("en1"))
	is.True(errors.Is(err, native.ErrStale)) // still in the stored bridge

	is.NoErr(actions.SetBridgeMember(ctx, "bridge0", "en1", false))
	is.Equal(b.hints(), []string{"a network sim.bridge bridge0"})
	is.NoErr(actions.SetBridgeMember(ctx, "bridge0", "en1", false)) // being so already
	is.Equal(b.hints(), nil)
	bridge := b.snapshot("a").Network.Bridges[0]
	is.Equal(bridge.KernelMembers, []string{"en2"})
	is.Equal(bridge.StoredMembers, []string{"en2"})

	made, err := actions.CreateService(ctx, service("en1"))
	is.NoErr(err)
	is.Equal(b.hints(), []string{"a network sim.service en1", "a rdma sim.service rdma_en1"})
	n := b.snapshot("a").Network
	is.Equal(n.Services[len(n.Services)-1], made)
	is.Equal(b.addresses("a", "en1"), []string{"169.254.7.1/30"})
	gids := b.snapshot("a").RDMA.Devices[0].GIDs
	v4, _ := gids[1].IPv4()
	is.Equal(v4.String(), "169.254.7.1")
	_, err = actions.CreateService(ctx, service("en1"))
	is.True(errors.Is(err, native.ErrExists))
	is.True(errors.Is(actions.SetBridgeMember(ctx, "bridge0", "en1", true), native.ErrStale)) // it has an address

	changed := made
	changed.Name = "renamed by the user"
	is.True(errors.Is(actions.DeleteService(ctx, changed), native.ErrStale))
	is.NoErr(actions.DeleteService(ctx, made))
	is.True(errors.Is(actions.DeleteService(ctx, made), native.ErrNotFound))
	is.True(errors.Is(actions.SetBridgeMember(ctx, "bridge0", "en1", true), native.ErrStale)) // not gone yet
	b.hints()
	b.clock.Advance(sim.AddressLingers - 1)
	is.Equal(b.addresses("a", "en1"), []string{"169.254.7.1/30"})
	b.clock.Advance(1)
	is.Equal(b.hints(), []string{"a network sim.address en1", "a rdma sim.address rdma_en1"})
	is.NoErr(actions.SetBridgeMember(ctx, "bridge0", "en1", true))
	is.Equal(b.snapshot("a").Network.Bridges[0].KernelMembers, []string{"en1", "en2"})
}

func TestActionsRefuse(t *testing.T) {
	b := newBench(t, bridged(cluster(1), "en1"))
	a, ctx := b.platforms["a"].Network, t.Context()
	for name, test := range map[string]struct {
		err  error
		want error
	}{
		"a service of no interface":    {second(a.CreateService(ctx, service("en9"))), native.ErrNotFound},
		"a second service":             {second(a.CreateService(ctx, service("en0"))), native.ErrExists},
		"a member of no bridge":        {a.SetBridgeMember(ctx, "bridge9", "en2", true), native.ErrNotFound},
		"a member that is not there":   {a.SetBridgeMember(ctx, "bridge0", "en9", true), native.ErrNotFound},
		"a bridge in itself":           {a.SetBridgeMember(ctx, "bridge0", "bridge0", true), native.ErrExists},
		"a service that was never":     {a.DeleteService(ctx, native.NetworkService{ID: "none"}), native.ErrNotFound},
		"an address that is no link's": {second(a.CreateService(ctx, native.ServiceSpec{Interface: "en2", Name: "x", Address: netip.MustParsePrefix("10.0.0.1/30")})), nil},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			var failed *native.ActionError
			is.True(errors.As(test.err, &failed))
			is.True(test.want == nil || errors.Is(test.err, test.want))
		})
	}
	is := is.New(t)
	is.Equal(b.hints(), nil)
}

func second[T any](_ T, err error) error { return err }

// A service that the scenario has can be deleted and its DHCP address goes.
func TestDeleteTheUsersService(t *testing.T) {
	is := is.New(t)
	b := newBench(t, cluster(1))
	found := b.snapshot("a").Network.Services[0]
	is.Equal(found.Name, "Ethernet")
	is.Equal(found.IPv4, native.OriginDHCP)
	is.NoErr(b.platforms["a"].Network.DeleteService(t.Context(), found))
	is.Equal(b.addresses("a", "en0"), []string{"192.168.1.11/24", "fe80::1:0/64"})
	b.clock.Advance(sim.AddressLingers)
	is.Equal(b.addresses("a", "en0"), []string{"fe80::1:0/64"}) // it has no service of its own
}

// Somebody else who holds the configuration, or a system that refuses, changes
// nothing; what a person does to a service is seen.
func TestActionsFail(t *testing.T) {
	is := is.New(t)
	b := newBench(t, cluster(2, "a.tb1 b.tb1"))
	actions, ctx := b.platforms["a"].Network, t.Context()
	for value, want := range map[string]error{"locked": native.ErrStale, "refused": native.ErrPermission} {
		b.do("set a.configuration " + value)
		_, err := actions.CreateService(ctx, service("en1"))
		is.True(errors.Is(err, want))
	}
	before := b.addresses("a", "en1")
	b.do("set a.configuration free")
	made, err := actions.CreateService(ctx, service("en1"))
	is.NoErr(err)
	b.hints()
	is.Equal(b.do(`set a.en1.service "My cable"`), []string{"a network sim.set "})
	is.True(errors.Is(actions.DeleteService(ctx, made), native.ErrStale))
	is.Equal(len(b.addresses("a", "en1")), len(before)+1)
	b.do("set a.en1.service none")
	is.True(errors.Is(actions.DeleteService(ctx, made), native.ErrNotFound))
	is.True(!slices.Contains(b.addresses("a", "en1"), "169.254.7.1/30"))
}
