package nativetest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
)

// Conform runs the checks that hold for every platform on every machine,
// whatever is plugged into it. open is called for each check and its platform
// is closed.
func Conform(t *testing.T, open func(*testing.T) native.Platform) {
	t.Run("every area is there or explained", func(t *testing.T) {
		is := is.New(t)
		p := open(t)
		defer p.Close()
		s, err := p.Facts.Snapshot(t.Context(), native.AllAreas()...)
		is.NoErr(err)
		is.Equal(s.Check(native.AllAreas()), nil)
		is.Equal(s.Platform, p.Name)
		is.Equal(s.Simulated, p.Simulated)
	})
	t.Run("an area that was not asked for is not read", func(t *testing.T) {
		is := is.New(t)
		p := open(t)
		defer p.Close()
		for _, asked := range native.AllAreas() {
			s, err := p.Facts.Snapshot(t.Context(), asked)
			is.NoErr(err)
			for _, area := range native.AllAreas() {
				is.True(area == asked || !s.Has(area)) // only what was asked for
			}
		}
	})
	t.Run("capabilities are complete and true", func(t *testing.T) { conformCapabilities(t, open(t)) })
	t.Run("an ended context is an error", func(t *testing.T) {
		is := is.New(t)
		p := open(t)
		defer p.Close()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := p.Facts.Snapshot(ctx, native.AreaIdentity)
		is.True(errors.Is(err, context.Canceled))
	})
	t.Run("closed is closed", func(t *testing.T) {
		is := is.New(t)
		p := open(t)
		is.NoErr(p.Close())
		_, err := p.Facts.Snapshot(t.Context(), native.AreaIdentity)
		is.True(errors.Is(err, native.ErrClosed))
	})
	t.Run("the boot clock does not go back", func(t *testing.T) {
		is := is.New(t)
		p := open(t)
		defer p.Close()
		last := p.Clock.Boot()
		is.True(last > 0)
		for range 1000 {
			now := p.Clock.Boot()
			is.True(now >= last)
			last = now
		}
	})
}

// conformCapabilities holds each answer against what happens when it is used.
func conformCapabilities(t *testing.T, p native.Platform) {
	is := is.New(t)
	defer p.Close()
	caps, err := p.Facts.Capabilities(t.Context())
	is.NoErr(err)
	is.Equal(caps.Check(), nil)

	// A no must be a typed refusal with a reason when it is tried all the same.
	refused := func(feature native.Feature, err error) {
		t.Helper()
		if caps[feature].Supported {
			return
		}
		var why *native.UnsupportedError
		if !errors.As(err, &why) || why.Reason == "" {
			t.Errorf("%s is not supported and yet answered %v", feature, err)
		}
	}
	if !caps[native.FeatureDiscovery].Supported {
		_, err := p.Discovery.Announce(t.Context(), native.Announcement{Type: "_fulmen._tcp", Instance: "conformance", Port: 1, Interfaces: []string{"lo0"}})
		refused(native.FeatureDiscovery, err)
		_, err = p.Discovery.Browse(t.Context(), "_fulmen._tcp", nil, func(native.Sighting) {})
		refused(native.FeatureDiscovery, err)
	}
	if !caps[native.FeatureSupervisor].Supported {
		_, err := p.Supervisor.List(t.Context(), "org.fulmen.")
		refused(native.FeatureSupervisor, err)
		_, err = p.Supervisor.Attach(t.Context(), "org.fulmen.none")
		refused(native.FeatureSupervisor, err)
		refused(native.FeatureSupervisor, p.Supervisor.Remove(t.Context(), "org.fulmen.none"))
	}
	if !caps[native.FeaturePowerNotices].Supported {
		_, err := p.Power.Notices(func(native.PowerNotice) {})
		refused(native.FeaturePowerNotices, err)
	}
	if !caps[native.FeatureKeepAwake].Supported {
		_, err := p.Power.KeepAwake(t.Context(), "conformance")
		refused(native.FeatureKeepAwake, err)
	}
	if !caps[native.FeatureBridgeMembership].Supported {
		refused(native.FeatureBridgeMembership, p.Network.SetBridgeMember(t.Context(), "none", "none", false))
	}

	var after atomic.Bool
	stop, err := p.Facts.Watch(func(native.Hint) {
		if after.Load() {
			t.Error("a hint came after stop had returned")
		}
	})
	if errors.Is(err, native.ErrUnsupported) {
		return
	}
	is.NoErr(err)
	is.NoErr(stop())
	after.Store(true)
}
