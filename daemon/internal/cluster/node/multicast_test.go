package node

import (
	"context"
	"net/netip"
	"slices"
	"sync"

	"fulmen/native"
)

// multicast carries announcements between hosts that share a LAN, at once. A LAN that
// is quiet keeps its hosts from hearing each other, as guest networks do.
type multicast struct {
	mu       sync.Mutex
	antennas []antenna
	quiet    map[string]bool
	spoken   []*spoken
	searches []*searching
}

// antenna is a host's interface on a LAN.
type antenna struct {
	host, iface, lan string
	addresses        []netip.Addr
}

type spoken struct {
	native.Announcement
	host string
}

// searching is a search. What it is to be told is queued under the air's lock
// and told in order outside of it.
type searching struct {
	host       string
	interfaces []string
	found      func(native.Sighting)
	reporting  sync.Mutex
	queue      []native.Sighting
	ended      bool
}

// hostDiscovery is a host's native.Discovery.
type hostDiscovery struct {
	multicast *multicast
	host      string
}

var _ native.Discovery = hostDiscovery{}

func (v hostDiscovery) Announce(_ context.Context, a native.Announcement) (func() error, error) {
	s := &spoken{a, v.host}
	v.multicast.change(func() {
		v.multicast.spoken = append(v.multicast.spoken, s)
		for _, to := range v.multicast.searches {
			v.multicast.queue(s, to, false)
		}
	})
	return func() error {
		v.multicast.change(func() {
			v.multicast.spoken = slices.DeleteFunc(v.multicast.spoken, func(o *spoken) bool { return o == s })
			for _, to := range v.multicast.searches {
				v.multicast.queue(s, to, true)
			}
		})
		return nil
	}, nil
}

func (v hostDiscovery) Browse(_ context.Context, _ string, interfaces []string, found func(native.Sighting)) (func() error, error) {
	to := &searching{host: v.host, interfaces: interfaces, found: found}
	v.multicast.change(func() {
		v.multicast.searches = append(v.multicast.searches, to)
		for _, s := range v.multicast.spoken {
			v.multicast.queue(s, to, false)
		}
	})
	return func() error {
		v.multicast.mu.Lock()
		v.multicast.searches = slices.DeleteFunc(v.multicast.searches, func(o *searching) bool { return o == to })
		v.multicast.mu.Unlock()
		to.reporting.Lock()
		defer to.reporting.Unlock()
		to.ended = true
		return nil
	}, nil
}

// change makes a change and has everybody told what follows from it.
func (a *multicast) change(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
	for _, s := range a.searches {
		if len(s.queue) > 0 {
			go a.notify(s)
		}
	}
}

func (a *multicast) notify(s *searching) {
	s.reporting.Lock()
	defer s.reporting.Unlock()
	a.mu.Lock()
	updates := s.queue
	s.queue = nil
	a.mu.Unlock()
	for _, n := range updates {
		if !s.ended {
			s.found(n)
		}
	}
}

// queue notes what a search hears of an announcement, on every LAN that both
// are on.
func (a *multicast) queue(s *spoken, to *searching, isGone bool) {
	for _, theirs := range a.antennas {
		if theirs.host != s.host || a.quiet[theirs.lan] || !slices.Contains(s.Interfaces, theirs.iface) {
			continue
		}
		for _, own := range a.antennas {
			if own.host != to.host || own.lan != theirs.lan || !slices.Contains(to.interfaces, own.iface) {
				continue
			}
			sighting := native.Sighting{Instance: s.Instance, Interface: own.iface, Gone: isGone}
			if !isGone {
				sighting.Port, sighting.TXT = s.Port, s.TXT
				for _, address := range theirs.addresses {
					if address.Is6() {
						address = address.WithZone(own.iface)
					}
					sighting.Addresses = append(sighting.Addresses, address)
				}
			}
			to.queue = append(to.queue, sighting)
		}
	}
}

func (a *multicast) attach(n antenna) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.antennas = append(a.antennas, n)
}

// announced is what is announced now, and by which host.
func (a *multicast) announced() []*spoken {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.spoken)
}

func (a *multicast) setQuiet(lan string, quiet bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.quiet[lan] = quiet
}
