//go:build cgo && linux && darwinsim

package simmac_test

import (
	"errors"
	"net/netip"
	"slices"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/darwin/simfw"
	"fulmen/native/sim"
)

// network is what A tells of its network once its Mac has followed.
func (d *machines) network(t *testing.T) native.Network {
	t.Helper()
	is.New(t).NoErr(d.macs["A"].Project())
	return *d.snapshot(t, "A", native.AreaNetwork).Network
}

var spec = native.ServiceSpec{Interface: "en3", Name: "Fulmen Thunderbolt 2", Address: netip.MustParsePrefix("169.254.9.1/30")}

// TestAPortOutOfTheBridgeAndBack is the whole of what Fulmen does to a port, in
// the order that the kernel demands.
func TestAPortOutOfTheBridgeAndBack(t *testing.T) {
	is := is.New(t)
	clean(t)
	d := newMachines(t, pair(t))
	ctx, act := t.Context(), d.platforms["A"].Network
	before := d.network(t)
	bridge, ok := before.BridgeOf("en3")
	is.True(ok)
	_, err := act.CreateService(ctx, spec)
	is.True(errors.Is(err, native.ErrStale)) // the stored bridge has it
	is.NoErr(act.SetBridgeMember(ctx, bridge.Name, "en3", false))
	is.NoErr(act.SetBridgeMember(ctx, bridge.Name, "en3", false)) // being so already is success
	_, ok = d.network(t).BridgeOf("en3")
	is.True(!ok)

	service, err := act.CreateService(ctx, spec)
	is.NoErr(err)
	now := d.network(t)
	is.True(slices.ContainsFunc(now.Services, func(s native.NetworkService) bool { return s.ID == service.ID && s.Name == spec.Name }))
	own, _ := now.Interface("en3")
	is.True(slices.ContainsFunc(own.Addresses, func(a native.InterfaceAddress) bool {
		return a.Address == spec.Address && a.Origin == native.OriginManual
	}))
	_, err = act.CreateService(ctx, spec)
	is.True(errors.Is(err, native.ErrExists))
	is.True(errors.Is(act.SetBridgeMember(ctx, bridge.Name, "en3", true), native.ErrStale)) // it has an address

	changed := service
	changed.Name = "renamed by its owner"
	is.True(errors.Is(act.DeleteService(ctx, changed), native.ErrStale))
	is.NoErr(act.DeleteService(ctx, service))
	is.True(errors.Is(act.DeleteService(ctx, service), native.ErrNotFound))
	d.time.Advance(sim.AddressLingers)
	d.network(t)
	is.NoErr(act.SetBridgeMember(ctx, bridge.Name, "en3", true))
	after := d.network(t)
	_, ok = after.BridgeOf("en3")
	is.True(ok)
	is.Equal(after.Services, before.Services)
}

func TestActionsThatFail(t *testing.T) {
	is := is.New(t)
	clean(t)
	d := newMachines(t, pair(t))
	ctx, act, machine := t.Context(), d.platforms["A"].Network, d.macs["A"].Machine
	is.True(errors.Is(act.SetBridgeMember(ctx, "bridge9", "en3", false), native.ErrNotFound))
	is.True(errors.Is(act.SetBridgeMember(ctx, "bridge0", "en99", true), native.ErrNotFound))
	machine.Arm(simfw.FaultCommit, 1)
	is.True(errors.Is(act.SetBridgeMember(ctx, "bridge0", "en3", false), native.ErrStale)) // somebody was quicker
	machine.Arm(simfw.FaultStore, 1)
	is.True(act.SetBridgeMember(ctx, "bridge0", "en3", false) != nil)
	_, ok := d.network(t).BridgeOf("en3")
	is.True(ok) // nothing was changed

	for _, symbol := range []string{
		"SCBridgeInterfaceCopyAll", "SCBridgeInterfaceGetMemberInterfaces", "SCBridgeInterfaceSetMemberInterfaces",
	} {
		machine.SetMissing(symbol, true)
		is.True(errors.Is(act.SetBridgeMember(ctx, "bridge0", "en3", false), native.ErrUnsupported))
		caps, err := d.platforms["A"].Facts.Capabilities(ctx)
		is.NoErr(err)
		is.True(!caps[native.FeatureBridgeMembership].Supported)
		is.True(caps[native.FeatureNetworkService].Supported)
		machine.SetMissing(symbol, false)
	}
	is.NoErr(act.SetBridgeMember(ctx, "bridge0", "en3", false))
}

// TestTheKernelAndTheStoredBridgeDisagree: both are told, and the action mends
// the kernel's.
func TestTheKernelAndTheStoredBridgeDisagree(t *testing.T) {
	is := is.New(t)
	clean(t)
	d := newMachines(t, pair(t))
	is.NoErr(d.platforms["A"].Network.SetBridgeMember(t.Context(), "bridge0", "en3", false))
	d.network(t)
	defer d.macs["A"].Still()() // a hint may still come, and would put the bridge right
	d.macs["A"].Machine.SetBridge("bridge0", []any{"en2", "en3"})
	b, _ := d.snapshot(t, "A", native.AreaNetwork).Network.BridgeOf("en3")
	is.True(len(b.KernelMembers) != len(b.StoredMembers))
	is.NoErr(d.platforms["A"].Network.SetBridgeMember(t.Context(), "bridge0", "en3", false))
	_, ok := d.snapshot(t, "A", native.AreaNetwork).Network.BridgeOf("en3")
	is.True(!ok)
}

func TestIdleSleepIsHeldOff(t *testing.T) {
	is := is.New(t)
	clean(t)
	d := newMachines(t, pair(t))
	held := map[int64]bool{}
	d.macs["A"].Machine.SetHooks(simfw.Hooks{Assertion: func(id int64) {
		if id > 0 {
			held[id] = true
		} else {
			delete(held, -id)
		}
	}})
	release, err := d.platforms["A"].Power.KeepAwake(t.Context(), "a job runs")
	is.NoErr(err)
	_, err = d.platforms["A"].Power.KeepAwake(t.Context(), "another, which nobody releases")
	is.NoErr(err)
	is.Equal(len(held), 2)
	is.NoErr(release())
	is.NoErr(release()) // twice is once
	is.Equal(len(held), 1)
	is.NoErr(d.platforms["A"].Close())
	is.Equal(len(held), 0)
}
