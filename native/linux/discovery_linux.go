package linux

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/miekg/dns"
	"golang.org/x/sys/unix"

	"fulmen/native"
)

// discovery is multicast DNS on this machine's interfaces. It holds sockets and
// a goroutine only while something is announced or searched.
type discovery struct {
	machine *machine

	mu     sync.Mutex // held while an engine starts or ends
	engine *engine
	users  int
	closed bool
}

var _ native.Discovery = (*discovery)(nil)

// Announce publishes the service on exactly the named interfaces, and follows
// them. Names of instance and host are the announcement's own; nothing is said of
// the machine.
func (d *discovery) Announce(ctx context.Context, a native.Announcement) (withdraw func() error, err error) {
	if a.Type == "" || a.Instance == "" || a.Port < 1 || a.Port > 65535 || len(a.Interfaces) == 0 {
		return nil, fmt.Errorf("an announcement needs type, instance, a port from 1 to 65535 and interfaces")
	}
	if _, err := mdnsResponse(mdnsRecords(a, nil, mdnsLifetime)); err != nil {
		return nil, fmt.Errorf("announcement: %w", err)
	}
	a.TXT, a.Interfaces = maps.Clone(a.TXT), slices.Clone(a.Interfaces)
	var p *mdnsPublished
	return d.begin(ctx, func(e *engine) {
		p = e.core.announce(e.machine.clock.Boot(), a)
	}, func(e *engine) { e.send(e.core.withdraw(p)) })
}

// Browse reports what others announce; the machine's own announcements by this
// platform are not reported. stop must not be called by the callback.
func (d *discovery) Browse(ctx context.Context, serviceType string, interfaces []string, found func(native.Sighting)) (stop func() error, err error) {
	if _, err := mdnsQuery([]dns.Question{question(mdnsType(serviceType), dns.TypePTR)}, nil); serviceType == "" || err != nil {
		return nil, errors.Join(errors.New("a search needs a service type"), err)
	}
	var s *mdnsSearch
	clock := d.machine.clock
	return d.begin(ctx, func(e *engine) {
		s = e.core.search(clock.Boot(), serviceType, slices.Clone(interfaces), func(seen native.Sighting) {
			seen.At, seen.TXT, seen.Addresses = native.Stamp(clock.Now()), maps.Clone(seen.TXT), slices.Clone(seen.Addresses)
			found(seen)
		})
	}, func(e *engine) { e.core.endSearch(s) })
}

// begin runs start in the engine, which is there until the last end has run. An
// end that was called before, or after the platform was closed, is nothing.
func (d *discovery) begin(ctx context.Context, start, end func(*engine)) (func() error, error) {
	if err := d.machine.usable(ctx); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, native.ErrClosed
	}
	if d.engine == nil {
		e, err := startEngine(d.machine)
		if err != nil {
			return nil, d.refused(err)
		}
		d.engine = e
	}
	d.users++
	e := d.engine
	e.call(func() { start(e) })
	var once sync.Once
	return func() error {
		var err error
		once.Do(func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			if d.closed {
				return
			}
			e.call(func() { end(e) })
			if d.users--; d.users == 0 {
				d.engine = nil
				err = e.stop()
			}
		})
		return err
	}, nil
}

// close withdraws everything.
func (d *discovery) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.engine
	d.engine, d.closed = nil, true
	if e == nil {
		return nil
	}
	e.call(func() {
		for _, p := range slices.Clone(e.core.published) {
			e.send(e.core.withdraw(p))
		}
	})
	return e.stop()
}

// canDiscover tries it.
func (m *machine) canDiscover(c native.Capabilities) {
	c.Yes(native.FeatureDiscovery)
	if err := (&discovery{machine: m}).probe(); err != nil {
		c.No(refusalOf(err, native.ReasonReadFailed.With(err.Error())), native.FeatureDiscovery)
	}
}

// probe tries what discovery needs: the kernel's changes of interfaces, and a
// socket for the group in one of the families. That there is an interface now is
// not asked: they come and go.
func (d *discovery) probe() error {
	listeners, err := openRouteEvents(0, func() bool { return false })
	if err = errors.Join(err, closeAll(listeners)); err != nil {
		return d.refused(err)
	}
	four, err4 := openMDNS(mdnsGroup4, 0)
	six, err6 := openMDNS(mdnsGroup6, 0)
	if err4 == nil {
		_ = four.Close()
	}
	if err6 == nil {
		_ = six.Close()
	}
	if err4 != nil && err6 != nil {
		return d.refused(errors.Join(err4, err6))
	}
	return nil
}

func (d *discovery) refused(err error) error {
	if errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) || errors.Is(err, unix.ENOMEM) {
		return err
	}
	why := refusalOf(err, reason("port 5353", err, native.ReasonNoOS.With("no multicast")))
	return native.Unsupported(native.FeatureDiscovery, why)
}
