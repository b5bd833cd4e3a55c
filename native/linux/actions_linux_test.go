package linux

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/matryer/is"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"fulmen/native"
)

// The three changes, for real, in a network of their own: each is refused where it
// would not be what was asked for, and all of it can be put back.
func TestActions(t *testing.T) {
	is := is.New(t)
	unshare(t, unix.CLONE_NEWNET)
	p, err := New(Options{})
	is.NoErr(err)
	defer p.Close()
	caps, err := p.Facts.Capabilities(t.Context())
	is.NoErr(err)
	is.NoErr(caps.Need(native.FeatureNetworkService))
	is.NoErr(caps.Need(native.FeatureBridgeMembership))

	bridge, other := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "fbr0"}}, &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "fbr1"}}
	is.NoErr(errors.Join(netlink.LinkAdd(veth("fa0", "fb0")), netlink.LinkAdd(bridge), netlink.LinkAdd(other)))
	is.NoErr(errors.Join(netlink.LinkSetMaster(named(t, "fa0"), bridge), netlink.LinkSetUp(named(t, "fa0")), netlink.LinkSetUp(named(t, "fb0"))))
	now := func() native.Snapshot {
		s, err := p.Facts.Snapshot(t.Context(), native.AreaNetwork)
		is.NoErr(err)
		return s
	}
	spec := native.ServiceSpec{Interface: "fa0", Name: "Fulmen Thunderbolt 2", Address: netip.MustParsePrefix("169.254.1.1/30")}
	create := func(change func(*native.ServiceSpec)) error {
		other := spec
		change(&other)
		_, err := p.Network.CreateService(t.Context(), other)
		return err
	}
	asIs := func(*native.ServiceSpec) {}

	is.True(errors.Is(create(asIs), native.ErrStale)) // the bridge has it
	is.NoErr(p.Network.SetBridgeMember(t.Context(), "fbr0", "fa0", false))
	is.NoErr(p.Network.SetBridgeMember(t.Context(), "fbr0", "fa0", false)) // it is so already
	_, inBridge := now().Network.BridgeOf("fa0")
	is.True(!inBridge)
	is.True(errors.Is(create(func(s *native.ServiceSpec) { s.Interface = "fa1" }), native.ErrNotFound))
	is.True(create(func(s *native.ServiceSpec) { s.Name = "Somebody's" }) != nil) // no label could tell it
	is.True(create(func(s *native.ServiceSpec) { s.Address = netip.MustParsePrefix("10.0.0.1/30") }) != nil)

	made, err := p.Network.CreateService(t.Context(), spec)
	is.NoErr(err)
	is.Equal(now().Network.Services, []native.NetworkService{made})
	is.Equal(made.Name, spec.Name)
	is.True(hasAddress(now(), "fa0", "169.254.1.1/30"))
	is.True(errors.Is(create(asIs), native.ErrExists))
	is.True(errors.Is(p.Network.SetBridgeMember(t.Context(), "fbr0", "fa0", true), native.ErrStale)) // it has an address

	changed := made
	changed.Addresses = []netip.Prefix{netip.MustParsePrefix("169.254.1.5/30")}
	is.True(errors.Is(p.Network.DeleteService(t.Context(), changed), native.ErrStale))
	is.True(hasAddress(now(), "fa0", "169.254.1.1/30"))
	is.NoErr(p.Network.DeleteService(t.Context(), made))
	is.True(!hasAddress(now(), "fa0", "169.254.1.1/30"))
	is.Equal(len(now().Network.Services), 0)
	is.True(errors.Is(p.Network.DeleteService(t.Context(), made), native.ErrNotFound))

	is.NoErr(p.Network.SetBridgeMember(t.Context(), "fbr0", "fa0", true))
	back, _ := now().Network.BridgeOf("fa0")
	is.Equal(back.Name, "fbr0")
	is.True(errors.Is(p.Network.SetBridgeMember(t.Context(), "fbr1", "fa0", true), native.ErrExists))
	is.True(errors.Is(p.Network.SetBridgeMember(t.Context(), "fa0", "fb0", true), native.ErrNotFound)) // no bridge
}

// A change in a network comes with the hint by which it is read again.
func TestActionsAreAnnounced(t *testing.T) {
	is := is.New(t)
	unshare(t, unix.CLONE_NEWNET)
	p, err := New(Options{})
	is.NoErr(err)
	defer p.Close()
	is.NoErr(netlink.LinkAdd(veth("fa0", "fb0")))
	e := listen(t, p)
	spec := native.ServiceSpec{Interface: "fa0", Name: "Fulmen Thunderbolt 1", Address: netip.MustParsePrefix("169.254.1.1/30")}
	var made native.NetworkService
	e.after("a service comes", func() error {
		var err error
		made, err = p.Network.CreateService(t.Context(), spec)
		return err
	}, native.AreaNetwork, "rtnetlink.address", "fa0", func(s native.Snapshot) bool { return len(s.Network.Services) == 1 })
	e.after("and goes", func() error { return p.Network.DeleteService(t.Context(), made) }, native.AreaNetwork, "rtnetlink.address", "fa0",
		func(s native.Snapshot) bool { return len(s.Network.Services) == 0 })
}

// Labels carry the names of Fulmen's services and of nothing else.
func TestServiceLabels(t *testing.T) {
	is := is.New(t)
	label, err := serviceLabel("thunderbolt0", "Fulmen Thunderbolt 2")
	is.NoErr(err)
	is.Equal(label, "thunderbolt0:f2")
	name, isOurs := nameOfLabel("thunderbolt0", label)
	is.True(isOurs)
	is.Equal(name, "Fulmen Thunderbolt 2")
	for _, bad := range []string{"", "Fulmen Thunderbolt ", "Fulmen Thunderbolt 02", "Fulmen Thunderbolt 300", "Thunderbolt 2", "Fulmen Thunderbolt 2 "} {
		_, err := serviceLabel("en1", bad)
		is.True(err != nil)
	}
	_, err = serviceLabel("averylongname0", "Fulmen Thunderbolt 2")
	is.True(err != nil)
	for _, label := range []string{"en1", "en1:0", "en1:f", "en1:f02", "en2:f1", ""} {
		_, isOurs := nameOfLabel("en1", label)
		is.True(!isOurs)
	}
}
