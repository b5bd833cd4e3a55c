package darwin

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"fulmen/native"
)

// platformName is what snapshots of this platform carry.
const platformName = "darwin"

// machine is the facts of this Mac.
type machine struct {
	kernel     sysctl
	hostName   func() (string, error)
	interfaces func() ([]net.Interface, error)
	supervises bool // a supervisor goes with it
	closed     atomic.Bool
}

// close refuses everything from now on; there is nothing to release.
func (m *machine) close() error {
	m.closed.Store(true)
	return nil
}

// usable is an error once the platform is closed or the context has ended.
func (m *machine) usable(ctx context.Context) error {
	if m.closed.Load() {
		return native.ErrClosed
	}
	return ctx.Err()
}

// areas are those that this version reads.
func areas() []native.Area {
	return []native.Area{native.AreaIdentity, native.AreaMemory, native.AreaNetwork}
}

// Snapshot reads the given areas.
func (m *machine) Snapshot(ctx context.Context, areas ...native.Area) (native.Snapshot, error) {
	if err := m.usable(ctx); err != nil {
		return native.Snapshot{}, err
	}
	s := native.Snapshot{At: native.Stamp(time.Now()), Platform: platformName}
	for _, area := range areas {
		switch area {
		case native.AreaIdentity:
			s.Identity = identity(m.kernel, m.hostName)
		case native.AreaMemory:
			s.Memory = memory(m.kernel)
		case native.AreaNetwork:
			var why native.Reason
			if s.Network, why = network(m.interfaces); why != "" {
				s.Unknown.Add(string(area), why)
			}
		default:
			s.Unknown.Add(string(area), later)
		}
	}
	return s, nil
}

// Watch refuses: this version hears no events.
func (m *machine) Watch(func(native.Hint)) (func() error, error) {
	if err := m.usable(context.Background()); err != nil {
		return nil, err
	}
	return nil, native.Unsupported(native.HintsFeature(native.AreaNetwork), later)
}

// Capabilities says what this version reads.
func (m *machine) Capabilities(ctx context.Context) (native.Capabilities, error) {
	if err := m.usable(ctx); err != nil {
		return nil, err
	}
	c := native.Capabilities{}
	for _, feature := range native.AllFeatures() {
		c.No(later, feature)
	}
	c.Yes(native.FeatureClock)
	if m.supervises {
		c.Yes(native.FeatureSupervisor)
	}
	for _, area := range areas() {
		c.Yes(native.FactsFeature(area))
	}
	return c, nil
}
