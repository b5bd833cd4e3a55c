package native_test

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
)

func TestErrors(t *testing.T) {
	is := is.New(t)
	var err error = &native.ActionError{Action: native.FeatureBridgeMembership, Subject: "en2", Err: native.Unsupported(native.FeatureBridgeMembership, "")}
	is.True(errors.Is(err, native.ErrUnsupported))
	is.True(!errors.Is(err, native.ErrStale))
	var why *native.UnsupportedError
	is.True(errors.As(err, &why))
	is.Equal(why.Reason, native.ReasonNoPlatform) // a refusal always says something
	is.Equal(err.Error(), "bridge membership of en2: bridge membership is not supported here (not_supported_by_platform)")
}

func TestCapabilities(t *testing.T) {
	is := is.New(t)
	full := func() native.Capabilities {
		c := native.Capabilities{}
		c.Yes(native.AllFeatures()...)
		return c
	}
	is.Equal(full().Check(), nil)

	c := full()
	delete(c, native.FeatureClock)
	c[native.FeatureDiscovery] = native.Capability{}
	c[native.FeatureSupervisor] = native.Capability{Supported: true, Reason: native.ReasonNoOS}
	c["facts.weather"] = native.Capability{Supported: true}
	is.Equal(c.Check(), []string{
		"clock: not answered", "discovery: not supported, but without a reason",
		"supervisor: supported, but with a reason why not", "facts.weather: no such feature"})

	c = full()
	c.No(native.ReasonNeedsRoot, native.FeatureNetworkService)
	is.NoErr(c.Need(native.FeatureClock))
	var why *native.UnsupportedError
	is.True(errors.As(c.Need(native.FeatureNetworkService), &why))
	is.Equal(why.Reason, native.ReasonNeedsRoot)
	is.True(errors.Is(c.Need("nothing"), native.ErrUnsupported))
}

func TestAreas(t *testing.T) {
	is := is.New(t)
	for _, area := range native.AllAreas() {
		got, err := native.ParseArea(string(area))
		is.NoErr(err)
		is.Equal(got, area)
		is.True(studio().Has(area))
		is.True(!(native.Snapshot{}).Has(area))
	}
	_, err := native.ParseArea("weather")
	is.True(err != nil)
	is.True(!studio().Has("weather"))
}

func TestServiceSpecCheck(t *testing.T) {
	for address, ok := range map[string]bool{
		"169.254.1.1/30": true, "169.254.1.2/30": true, "169.254.254.254/30": true,
		"169.254.1.0/30": false, "169.254.1.3/30": false, // network, broadcast
		"169.254.0.1/30": false, "169.254.255.1/30": false, // reserved by RFC 3927
		"169.254.1.1/24": false, "192.168.1.1/30": false, "fe80::1/30": false,
	} {
		t.Run(address, func(t *testing.T) {
			is := is.New(t)
			spec := native.ServiceSpec{Interface: "en2", Name: "Fulmen Thunderbolt 1", Address: netip.MustParsePrefix(address)}
			is.Equal(spec.Check() == nil, ok)
		})
	}
	is := is.New(t)
	is.Equal(native.ServiceSpec{Name: "n"}.Check().Error(), "interface: missing")
	is.Equal(native.ServiceSpec{Interface: "en2"}.Check().Error(), "name: missing")
	is.True(native.ServiceSpec{Interface: "en2", Name: "n"}.Check() != nil)
}

func TestBridge(t *testing.T) {
	is := is.New(t)
	network := *studio().Network
	bridge, ok := network.BridgeOf("en2")
	is.True(ok)
	is.Equal(bridge.Name, "bridge0")
	_, ok = network.BridgeOf("en0")
	is.True(!ok)
}

func TestPlatformComplete(t *testing.T) {
	is := is.New(t)
	_, err := native.Platform{}.Complete()
	is.True(err != nil)
	clock, err := native.SystemClock()
	is.NoErr(err)
	_, err = native.Platform{Clock: clock}.Complete()
	is.True(err != nil)

	var order []int
	p := native.Platform{Closers: []func() error{
		func() error { order = append(order, 1); return native.ErrStale },
		func() error { order = append(order, 2); return nil },
	}}
	is.True(errors.Is(p.Close(), native.ErrStale))
	is.Equal(order, []int{1, 2}) // the second ran though the first failed
}
