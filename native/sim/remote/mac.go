package remote

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"fulmen/native"
	"fulmen/native/sim/loopback"
)

// mac is a Mac of a world in another process: the interfaces of package native.
type mac struct {
	link    *link
	clock   native.Clock
	sockets *loopback.Sockets

	mu      sync.Mutex
	watches []*subscription
}

// subscribed makes a subscription of a callback.
func subscribed[T any](call func(T)) *subscription {
	return &subscription{event: func(raw json.RawMessage) error {
		var value T
		if err := strictly(raw, &value); err != nil {
			return err
		}
		call(value)
		return nil
	}}
}

// silent is a subscription to what has no news.
func silent() *subscription { return subscribed(func(empty) {}) }

// Snapshot implements [native.Facts].
func (m *mac) Snapshot(ctx context.Context, areas ...native.Area) (native.Snapshot, error) {
	var s native.Snapshot
	if areas == nil {
		areas = []native.Area{}
	}
	if err := m.link.call(ctx, methodSnapshot, snapshotParams{areas}, &s); err != nil {
		return native.Snapshot{}, err
	}
	return s, nil
}

// Capabilities implements [native.Facts].
func (m *mac) Capabilities(ctx context.Context) (native.Capabilities, error) {
	var c native.Capabilities
	err := m.link.call(ctx, methodCapabilities, empty{}, &c)
	return c, err
}

// Watch implements [native.Facts]. stop must not be called by the callback.
func (m *mac) Watch(hint func(native.Hint)) (stop func() error, err error) {
	s := subscribed(hint)
	end, err := m.link.subscribe(context.Background(), methodWatch, empty{}, nil, s)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	m.watches = append(m.watches, s)
	m.mu.Unlock()
	return func() error {
		m.mu.Lock()
		m.watches = slices.DeleteFunc(m.watches, func(other *subscription) bool { return other == s })
		m.mu.Unlock()
		return end()
	}, nil
}

// Notices implements [native.Power]. stop must not be called by the callback.
func (m *mac) Notices(notice func(native.PowerNotice)) (stop func() error, err error) {
	return m.link.subscribe(context.Background(), methodNotices, empty{}, nil, subscribed(notice))
}

// Acknowledge implements [native.Power].
func (m *mac) Acknowledge(ctx context.Context, id string) error {
	return m.link.call(ctx, methodAcknowledge, noticeParams{id}, nil)
}

// KeepAwake implements [native.Power].
func (m *mac) KeepAwake(ctx context.Context, reason string) (release func() error, err error) {
	return m.link.subscribe(ctx, methodKeepAwake, awakeParams{reason}, nil, silent())
}

// Announce implements [native.Discovery].
func (m *mac) Announce(ctx context.Context, a native.Announcement) (withdraw func() error, err error) {
	return m.link.subscribe(ctx, methodAnnounce, a, nil, silent())
}

// Browse implements [native.Discovery]. stop must not be called by the callback.
func (m *mac) Browse(ctx context.Context, serviceType string, interfaces []string, found func(native.Sighting)) (stop func() error, err error) {
	return m.link.subscribe(ctx, methodBrowse, browseParams{serviceType, interfaces}, nil, subscribed(found))
}

// CreateService implements [native.NetworkActions].
func (m *mac) CreateService(ctx context.Context, spec native.ServiceSpec) (native.NetworkService, error) {
	var service native.NetworkService
	err := m.link.call(ctx, methodCreate, spec, &service)
	return service, lost(native.FeatureNetworkService, spec.Interface, err)
}

// DeleteService implements [native.NetworkActions].
func (m *mac) DeleteService(ctx context.Context, expected native.NetworkService) error {
	return lost(native.FeatureNetworkService, expected.Interface, m.link.call(ctx, methodDelete, expected, nil))
}

// SetBridgeMember implements [native.NetworkActions].
func (m *mac) SetBridgeMember(ctx context.Context, bridge, iface string, member bool) error {
	return lost(native.FeatureBridgeMembership, iface, m.link.call(ctx, methodBridge, bridgeParams{bridge, iface, member}, nil))
}

// lost says of an action that never got to the Mac which it was.
func lost(action native.Feature, subject string, err error) error {
	if _, reported := errors.AsType[*native.ActionError](err); reported {
		return err
	}
	return native.Acted(action, subject, err)
}

// gone is called when the connection is over.
func (m *mac) gone(why error) {
	m.sockets.Break(why)
	if _, world := errors.AsType[*GoneError](why); !world {
		return
	}
	// Whoever then reads again learns it from the error.
	m.mu.Lock()
	watches := slices.Clone(m.watches)
	m.mu.Unlock()
	for _, area := range native.AllAreas() {
		raw, err := json.Marshal(native.Hint{
			Area: area, Source: "sim.gone", At: native.Stamp(m.clock.Now()), BootUS: m.clock.Boot().Microseconds(),
		})
		if err != nil {
			continue // the clock stands at no time that can be told
		}
		for _, s := range watches {
			_ = s.deliver(raw)
		}
	}
}

// close gives the Mac back before the connection ends, so that its ports are free
// when this returns.
func (m *mac) close() error {
	_ = m.sockets.Close()
	_ = m.link.call(context.Background(), methodLeave, empty{}, nil)
	m.link.close()
	return nil
}
