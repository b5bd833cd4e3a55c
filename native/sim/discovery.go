package sim

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"fulmen/native"
)

// announcement is one published instance.
type announcement struct{ native.Announcement }

// browse is one search, with what it has reported as present.
type browse struct {
	*subscriber
	mac         *mac
	serviceType string
	interfaces  []string // none: all
	found       func(native.Sighting)
	seen        map[sightingKey]native.Sighting
}

type sightingKey struct{ instance, iface string }

// Announce publishes a service to the Macs that hear this one on the named
// interfaces, see [World.Reach], and follows the interfaces as they go and come.
func (h *handle) Announce(ctx context.Context, a native.Announcement) (withdraw func() error, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if a.Type == "" || a.Instance == "" || a.Port < 1 || a.Port > 65535 || len(a.Interfaces) == 0 {
		return nil, fmt.Errorf("an announcement needs type, instance, a port from 1 to 65535 and interfaces")
	}
	a.TXT, a.Interfaces = maps.Clone(a.TXT), slices.Clone(a.Interfaces)
	published := &announcement{a}
	if err := h.begin("sim.announce", func() error {
		h.announcements = append(h.announcements, published)
		return nil
	}); err != nil {
		return nil, err
	}
	return func() error {
		_ = h.begin("sim.announce", func() error {
			h.announcements = slices.DeleteFunc(h.announcements, func(other *announcement) bool { return other == published })
			return nil
		})
		return nil // a closed platform has withdrawn it
	}, nil
}

// Browse reports what other Macs announce. The Mac's own announcements are not
// reported. An instance is seen on an interface while at least one of its
// addresses can be dialled from there. stop must not be called by the callback.
func (h *handle) Browse(ctx context.Context, serviceType string, interfaces []string, found func(native.Sighting)) (stop func() error, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b := &browse{
		subscriber: &subscriber{}, mac: h.mac, serviceType: serviceType, interfaces: slices.Clone(interfaces), found: found,
		seen: map[sightingKey]native.Sighting{},
	}
	b.look = func() { h.world.compare(b) }
	if stop, err = h.subscribe(b.subscriber); err != nil {
		return nil, err
	}
	return stop, h.begin("sim.browse", func() error { return nil })
}

// lookLocked lets every search of a Mac that runs see what has changed.
func (w *World) lookLocked() {
	for _, m := range w.macs {
		if !m.runs() {
			continue
		}
		for h := range m.handles {
			for _, s := range h.subscribers {
				if s.look != nil {
					s.look()
				}
			}
		}
	}
}

// compare reports the difference to what a search saw before, what is gone
// first.
func (w *World) compare(b *browse) {
	now := w.sightings(b)
	at := native.Stamp(w.clock.Now())
	for _, key := range sortedKeys(b.seen) {
		if _, still := now[key]; !still {
			gone := native.Sighting{Instance: key.instance, Interface: key.iface, Gone: true, At: at}
			w.notifyLocked(b.subscriber, func() { b.found(gone) })
		}
	}
	for _, key := range sortedKeys(now) {
		if was, known := b.seen[key]; known && reflect.DeepEqual(was, now[key]) {
			continue
		}
		sighting := now[key]
		sighting.At, sighting.TXT, sighting.Addresses = at, maps.Clone(sighting.TXT), slices.Clone(sighting.Addresses)
		w.notifyLocked(b.subscriber, func() { b.found(sighting) })
	}
	b.seen = now
}

// sightings is what a search sees now, without times.
func (w *World) sightings(b *browse) map[sightingKey]native.Sighting {
	all := map[sightingKey]native.Sighting{}
	for _, i := range b.mac.ifaces {
		if len(b.interfaces) != 0 && !slices.Contains(b.interfaces, i.spec.Name) {
			continue
		}
		for _, other := range w.received(plugAt{b.mac, i}) {
			addresses := dialled(i, other.iface)
			if len(addresses) == 0 {
				continue
			}
			for _, a := range other.mac.announcements() {
				if a.Type != b.serviceType || !slices.Contains(a.Interfaces, other.iface.spec.Name) {
					continue
				}
				key := sightingKey{a.Instance, i.spec.Name}
				sighting := native.Sighting{
					Instance: a.Instance, Interface: i.spec.Name, Host: other.mac.hostName() + ".local",
					Port: a.Port, TXT: a.TXT, Addresses: addresses,
				}
				// Announced on several interfaces of one segment, it is one instance.
				if known, twice := all[key]; twice && known.Host == sighting.Host {
					sighting.Addresses = union(known.Addresses, addresses)
				}
				all[key] = sighting
			}
		}
	}
	return all
}

// dialled are the other interface's addresses that can be dialled from this one,
// each once, link-local IPv6 ones with this one's zone.
func dialled(from, to *iface) []netip.Addr {
	var addresses []netip.Addr
	for _, pair := range pairs(from, to) {
		address := pair[1]
		if address.Is6() && address.IsLinkLocalUnicast() {
			address = address.WithZone(from.spec.Name)
		}
		addresses = union(addresses, []netip.Addr{address})
	}
	return addresses
}

func union(a, b []netip.Addr) []netip.Addr {
	all := slices.Concat(a, b)
	slices.SortFunc(all, netip.Addr.Compare)
	return slices.Compact(all)
}

// announcements are the announcements of all platforms of a Mac, in order of their names.
func (m *mac) announcements() []*announcement {
	var all []*announcement
	for h := range m.handles {
		all = append(all, h.announcements...)
	}
	slices.SortStableFunc(all, func(a, b *announcement) int {
		return cmp.Or(strings.Compare(a.Instance, b.Instance), a.Port-b.Port)
	})
	return all
}

func (m *mac) hostName() string {
	if m.spec.Identity.HostName != "" {
		return m.spec.Identity.HostName
	}
	return m.spec.Name
}

func sortedKeys(sightings map[sightingKey]native.Sighting) []sightingKey {
	return slices.SortedFunc(maps.Keys(sightings), func(a, b sightingKey) int {
		return cmp.Or(strings.Compare(a.instance, b.instance), strings.Compare(a.iface, b.iface))
	})
}
