package discover

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

// multicast is networks in memory: whoever is on one hears what is announced there.
type multicast struct {
	mu        sync.Mutex
	plugs     []*plug
	reported  []*announcing
	listeners []*searching
}

// plug is a host's interface on a network.
type plug struct {
	host      *radio
	name, lan string
	addresses []netip.Addr
}

type announcing struct {
	native.Announcement
	host *radio
}

type searching struct {
	mu         sync.Mutex // held while it is told something
	host       *radio
	interfaces []string
	found      func(native.Sighting)
	seen       map[string]native.Sighting
	queue      []native.Sighting
	ended      bool
}

// radio is a host's native.Discovery.
type radio struct {
	multicast *multicast
	refused   error
}

var _ native.Discovery = (*radio)(nil)

func (r *radio) Announce(_ context.Context, a native.Announcement) (func() error, error) {
	r.multicast.mu.Lock()
	defer r.multicast.mu.Unlock()
	if r.refused != nil {
		return nil, r.refused
	}
	s := &announcing{a, r}
	r.multicast.reported = append(r.multicast.reported, s)
	r.multicast.spreadLocked()
	return func() error {
		r.multicast.mu.Lock()
		defer r.multicast.mu.Unlock()
		r.multicast.reported = slices.DeleteFunc(r.multicast.reported, func(o *announcing) bool { return o == s })
		r.multicast.spreadLocked()
		return nil
	}, nil
}

func (r *radio) Browse(_ context.Context, _ string, interfaces []string, found func(native.Sighting)) (func() error, error) {
	r.multicast.mu.Lock()
	defer r.multicast.mu.Unlock()
	if r.refused != nil {
		return nil, r.refused
	}
	s := &searching{host: r, interfaces: interfaces, found: found, seen: map[string]native.Sighting{}}
	r.multicast.listeners = append(r.multicast.listeners, s)
	r.multicast.spreadLocked()
	return func() error {
		r.multicast.mu.Lock()
		r.multicast.listeners = slices.DeleteFunc(r.multicast.listeners, func(o *searching) bool { return o == s })
		r.multicast.mu.Unlock()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ended = true
		return nil
	}, nil
}

// spreadLocked tells every search what is different.
func (a *multicast) spreadLocked() {
	for _, s := range a.listeners {
		now := map[string]native.Sighting{}
		for _, mine := range a.plugs {
			if mine.host != s.host || !slices.Contains(s.interfaces, mine.name) {
				continue
			}
			for _, theirs := range a.plugs {
				for _, reported := range a.reported {
					if theirs.lan == mine.lan && reported.host == theirs.host && slices.Contains(reported.Interfaces, theirs.name) {
						now[reported.Instance+mine.name] = native.Sighting{
							Instance: reported.Instance, Interface: mine.name, Port: reported.Port, TXT: reported.TXT, Addresses: theirs.addresses,
						}
					}
				}
			}
		}
		var updates []native.Sighting
		for key, was := range s.seen {
			if _, still := now[key]; !still {
				updates = append(updates, native.Sighting{Instance: was.Instance, Interface: was.Interface, Gone: true})
			}
		}
		for _, key := range slices.Sorted(maps.Keys(now)) {
			if _, known := s.seen[key]; !known {
				updates = append(updates, now[key])
			}
		}
		s.seen = now
		s.queue = append(s.queue, updates...)
		go s.deliver()
	}
}

// deliver tells what waits, in order.
func (s *searching) deliver() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.host.multicast.mu.Lock()
	updates := s.queue
	s.queue = nil
	s.host.multicast.mu.Unlock()
	for _, n := range updates {
		if !s.ended {
			s.found(n)
		}
	}
}

// announced are the interfaces on which a host announces, and what it says.
func (r *radio) announced() (interfaces []string, text Text) {
	r.multicast.mu.Lock()
	defer r.multicast.mu.Unlock()
	for _, s := range r.multicast.reported {
		if s.host == r {
			interfaces = append(interfaces, s.Interfaces...)
			text, _ = ParseText(s.TXT)
		}
	}
	return interfaces, text
}

// bubbleClock follows package time, which in a bubble is virtual.
type bubbleClock struct{ began time.Time }

func (c bubbleClock) Now() time.Time                                   { return time.Now() }
func (c bubbleClock) Boot() time.Duration                              { return time.Since(c.began) + time.Hour }
func (c bubbleClock) AfterFunc(d time.Duration, f func()) native.Timer { return time.AfterFunc(d, f) }
func (c bubbleClock) Recheck()                                         {}

// memory is a store.
type memory struct {
	mu   sync.Mutex
	kept Remembered
}

func (m *memory) LoadDiscovery() (Remembered, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kept, nil
}

func (m *memory) SaveDiscovery(r Remembered) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept = r
	return nil
}

// mac is a node with its finder.
type mac struct {
	*Finder
	t       *testing.T
	id      api.NodeID
	radio   *radio
	store   *memory
	network api.Network
	mu      sync.Mutex
	changes []Change
}

const (
	nodeA = api.NodeID("aaaaaaaaaaaaaaaa")
	nodeB = api.NodeID("bbbbbbbbbbbbbbbb")
	nodeC = api.NodeID("cccccccccccccccc")
	home  = api.ClusterID("00000000000000000000000000000001")
)

func (a *multicast) mac(t *testing.T, id api.NodeID, members ...api.NodeID) *mac {
	t.Helper()
	return a.macWith(t, id, &memory{}, nil, members...)
}

func (a *multicast) macWith(t *testing.T, id api.NodeID, store *memory, resolve func(context.Context, string) ([]netip.Addr, error), members ...api.NodeID) *mac {
	t.Helper()
	m := &mac{t: t, id: id, radio: &radio{multicast: a}, store: store}
	var err error
	m.Finder, err = New(Options{
		Self: id, Port: 7732, Discovery: m.radio, Clock: bubbleClock{time.Now()}, Store: store,
		Resolve: func(ctx context.Context, host string) ([]netip.Addr, error) {
			if resolve == nil {
				return nil, errors.New("no names here")
			}
			return resolve(ctx, host)
		},
		Changed: func(c Change) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.changes = append(m.changes, c)
		},
		Denied: func(string) {}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	m.SetRoster(home, append(members, id))
	m.Start()
	return m
}

// plug puts an interface of the Mac on a network; addresses are prefixes.
func (m *mac) plug(name string, kind api.InterfaceType, lan string, addresses ...string) {
	p := &plug{host: m.radio, name: name, lan: lan}
	i := api.Interface{Name: name, Type: kind, Up: true}
	for _, a := range addresses {
		prefix := netip.MustParsePrefix(a)
		i.Addresses = append(i.Addresses, api.InterfaceAddress{Address: prefix})
		p.addresses = append(p.addresses, prefix.Addr())
	}
	m.network.Interfaces = append(m.network.Interfaces, i)
	m.radio.multicast.mu.Lock()
	m.radio.multicast.plugs = append(m.radio.multicast.plugs, p)
	m.radio.multicast.spreadLocked()
	m.radio.multicast.mu.Unlock()
	m.SetNetwork(m.network)
}

// unplug takes it away again.
func (m *mac) unplug(name string) {
	m.network.Interfaces = slices.DeleteFunc(slices.Clone(m.network.Interfaces), func(i api.Interface) bool { return i.Name == name })
	m.radio.multicast.mu.Lock()
	m.radio.multicast.plugs = slices.DeleteFunc(m.radio.multicast.plugs, func(p *plug) bool { return p.host == m.radio && p.name == name })
	m.radio.multicast.spreadLocked()
	m.radio.multicast.mu.Unlock()
	m.SetNetwork(m.network)
}

// configured are the addresses of the configuration.
func (f *Finder) configured() []*peer {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.state.peers)
}
