package node

import (
	"context"
	"net/netip"
	"slices"
	"sync"

	"fulmen/native"
)

// air carries announcements between hosts that share a LAN, at once. A LAN that
// is quiet keeps its hosts from hearing each other, as guest networks do.
type air struct {
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
	telling    sync.Mutex
	queue      []native.Sighting
	ended      bool
}

// voice is a host's native.Discovery.
type voice struct {
	air  *air
	host string
}

var _ native.Discovery = voice{}

func (v voice) Announce(_ context.Context, a native.Announcement) (func() error, error) {
	s := &spoken{a, v.host}
	v.air.change(func() {
		v.air.spoken = append(v.air.spoken, s)
		for _, to := range v.air.searches {
			v.air.queue(s, to, false)
		}
	})
	return func() error {
		v.air.change(func() {
			v.air.spoken = slices.DeleteFunc(v.air.spoken, func(o *spoken) bool { return o == s })
			for _, to := range v.air.searches {
				v.air.queue(s, to, true)
			}
		})
		return nil
	}, nil
}

func (v voice) Browse(_ context.Context, _ string, interfaces []string, found func(native.Sighting)) (func() error, error) {
	to := &searching{host: v.host, interfaces: interfaces, found: found}
	v.air.change(func() {
		v.air.searches = append(v.air.searches, to)
		for _, s := range v.air.spoken {
			v.air.queue(s, to, false)
		}
	})
	return func() error {
		v.air.mu.Lock()
		v.air.searches = slices.DeleteFunc(v.air.searches, func(o *searching) bool { return o == to })
		v.air.mu.Unlock()
		to.telling.Lock()
		defer to.telling.Unlock()
		to.ended = true
		return nil
	}, nil
}

// change makes a change and has everybody told what follows from it.
func (a *air) change(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
	for _, s := range a.searches {
		if len(s.queue) > 0 {
			go a.tell(s)
		}
	}
}

func (a *air) tell(s *searching) {
	s.telling.Lock()
	defer s.telling.Unlock()
	a.mu.Lock()
	news := s.queue
	s.queue = nil
	a.mu.Unlock()
	for _, n := range news {
		if !s.ended {
			s.found(n)
		}
	}
}

// queue notes what a search hears of an announcement, on every LAN that both
// are on.
func (a *air) queue(s *spoken, to *searching, isGone bool) {
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

func (a *air) attach(n antenna) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.antennas = append(a.antennas, n)
}

// announced is what is announced now, and by which host.
func (a *air) announced() []*spoken {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.spoken)
}

func (a *air) setQuiet(lan string, quiet bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.quiet[lan] = quiet
}
