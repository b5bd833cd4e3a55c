package linux

import (
	"context"
	"errors"
	"slices"
	"sync"

	"fulmen/native"
)

// platformName is what every document of this platform calls itself.
const platformName = "linux"

// machine answers native.Facts from the files of a tree and the kernel's tables
// of links.
type machine struct {
	tree  tree
	clock native.Clock
	// links dumps the kernel's interfaces, addresses and default routes.
	links func() (tables, error)
	// mayChange says why the network cannot be changed; empty where it can. It is nil
	// where nothing changes it.
	mayChange func() native.Reason
	// sources are what announces changes.
	sources []hintSource

	stalls stalls

	system sampler

	mu      sync.Mutex
	closed  bool
	watches []*watch
}

// Snapshot reads the areas.
func (m *machine) Snapshot(ctx context.Context, areas ...native.Area) (native.Snapshot, error) {
	s := native.Snapshot{At: native.Stamp(m.clock.Now()), Platform: platformName}
	if err := m.usable(ctx); err != nil {
		return native.Snapshot{}, err
	}
	for _, area := range slices.Compact(slices.Sorted(slices.Values(areas))) {
		m.read(&s, area)
		if err := m.usable(ctx); err != nil {
			return native.Snapshot{}, err
		}
	}
	return s, nil
}

func (m *machine) read(s *native.Snapshot, area native.Area) {
	switch area {
	case native.AreaIdentity:
		s.Identity = m.tree.identity()
	case native.AreaMemory:
		memory := m.tree.memory()
		m.setPressure(memory)
		s.Memory = memory
	case native.AreaSystem:
		s.System = m.system.read(m.tree, m.clock.Boot())
	case native.AreaNetwork:
		network, err := m.tree.network(m.links)
		if err != nil {
			s.Unknown.Add(string(area), native.ReasonReadFailed.With("rtnetlink: "+err.Error()))
			return
		}
		s.Network = network
	case native.AreaThunderbolt:
		thunderbolt, why := m.tree.thunderbolt()
		if s.Thunderbolt = thunderbolt; thunderbolt == nil {
			s.Unknown.Add(string(area), why)
		}
	case native.AreaRDMA:
		rdma, why := m.tree.rdma()
		if s.RDMA = rdma; rdma == nil {
			s.Unknown.Add(string(area), why)
		}
	default:
		s.Unknown.Add(string(area), native.ReasonNoPlatform.With("no such area"))
	}
}

// usable is nil as long as the platform may be asked.
func (m *machine) usable(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return native.ErrClosed
	}
	return ctx.Err()
}

// close ends every watch.
func (m *machine) close() error {
	m.mu.Lock()
	m.closed = true
	watches := slices.Clone(m.watches)
	m.mu.Unlock()
	var err error
	for _, w := range watches {
		err = errors.Join(err, w.stop())
	}
	return err
}

// forget drops a watch that has ended.
func (m *machine) forget(w *watch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watches = slices.DeleteFunc(m.watches, func(other *watch) bool { return other == w })
}

// Options says where to read. The zero value is this machine.
type Options struct {
	// Proc, Sys and Etc are the roots of what is otherwise /proc, /sys and /etc:
	// a recorded tree, or a host's folders inside a container. Interfaces and
	// addresses come from rtnetlink, devices are announced by uevents, and neither
	// follows them.
	Proc, Sys, Etc string
	// Units is the folder of the records of supervised units, private to one
	// daemon: a daemon removes units that it finds there and does not know. Empty
	// is /run/fulmen/units for root, else a folder below the account's runtime
	// folder.
	Units string
	// Clock is the clock of the platform; nil is [native.SystemClock].
	Clock native.Clock
}

func (o Options) withDefaults() (Options, error) {
	for _, root := range []struct {
		path *string
		own  string
	}{{&o.Proc, "/proc"}, {&o.Sys, "/sys"}, {&o.Etc, "/etc"}} {
		if *root.path == "" {
			*root.path = root.own
		}
	}
	if o.Clock != nil {
		return o, nil
	}
	var err error
	o.Clock, err = native.SystemClock()
	return o, err
}
