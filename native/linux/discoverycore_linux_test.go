package linux

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"
	"github.com/miekg/dns"

	"fulmen/native"
	"fulmen/native/nativetest/testkit"
)

const testType = "_fulmen._tcp"

// segment joins cores by a wire that carries every message at once.
type segment struct {
	now          time.Duration
	hosts        []*segmentHost
	unresponsive map[string]bool // neither hear nor are heard
}

type segmentHost struct {
	mdns
	name string
	sent int
	seen []native.Sighting
}

func newSegment() *segment { return &segment{now: time.Hour, unresponsive: map[string]bool{}} }

func (s *segment) host(name string, addresses ...string) *segmentHost {
	h := &segmentHost{name: name, mdns: mdns{random: testkit.Seed(1).Source(uint64(len(s.hosts))).Float64}}
	s.hosts = append(s.hosts, h)
	h.plug(s.now, addresses...)
	return h
}

func (h *segmentHost) plug(now time.Duration, addresses ...string) {
	if len(addresses) == 0 {
		h.setLinks(now, nil)
		return
	}
	l := mdnsLink{name: "e0", index: 2}
	for _, a := range addresses {
		l.addresses = append(l.addresses, netip.MustParseAddr(a))
	}
	h.setLinks(now, map[string]mdnsLink{"e0": l})
}

func (h *segmentHost) browse(now time.Duration) *mdnsSearch {
	return h.search(now, testType, nil, func(s native.Sighting) { h.seen = append(h.seen, s) })
}

func (h *segmentHost) announceOne(now time.Duration, instance string, txt map[string]string) *mdnsPublished {
	return h.announce(now, native.Announcement{Type: testType, Instance: instance, Port: 7732, TXT: txt, Interfaces: []string{"e0"}})
}

func (s *segment) deliver(from *segmentHost, all []outgoing) {
	from.sent += len(all)
	for _, o := range all {
		for _, to := range s.hosts {
			if _, plugged := to.links[o.iface]; plugged && !s.unresponsive[to.name] && !s.unresponsive[from.name] {
				to.receive(s.now, o.iface, o.message) // its own as well
			}
		}
	}
}

// run lets d pass.
func (s *segment) run(d time.Duration) {
	end := s.now + d
	for s.now < end {
		next := end
		for range 3 { // what one sends can make others due at once
			for _, h := range s.hosts {
				out, _ := h.step(s.now)
				s.deliver(h, out)
			}
		}
		for _, h := range s.hosts {
			if _, at := h.step(s.now); at > 0 {
				next = min(next, at)
			}
		}
		s.now = max(next, s.now+time.Millisecond)
	}
}

func present(seen []native.Sighting) []string {
	now := map[string]bool{}
	for _, s := range seen {
		now[s.Instance] = !s.Gone
	}
	maps.DeleteFunc(now, func(_ string, here bool) bool { return !here })
	return slices.Sorted(maps.Keys(now))
}

func TestMDNSConversation(t *testing.T) {
	is := is.New(t)
	s := newSegment()
	a, b := s.host("a", "10.0.0.1", "fe80::1"), s.host("b", "10.0.0.2")
	awkward := `a "dotted".name\ with é`
	text := map[string]string{"p": "1", "k": `back\slash=é"`}
	pa := a.announceOne(s.now, awkward, text)
	a.browse(s.now)
	b.browse(s.now)
	b.announceOne(s.now, "bb", nil)
	s.run(2 * time.Second)
	is.Equal(len(b.seen), 1)
	is.Equal(b.seen[0], native.Sighting{
		Instance: awkward, Interface: "e0", Host: b.seen[0].Host, Port: 7732, TXT: text,
		Addresses: []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("fe80::1%e0")},
	})
	is.Equal(present(a.seen), []string{"bb"}) // and not its own

	// Who comes later hears of who is there; addresses that change are told.
	c := s.host("c", "10.0.0.3")
	c.browse(s.now)
	s.run(2 * time.Second)
	is.Equal(len(present(c.seen)), 2)
	a.plug(s.now, "10.0.0.9", "fe80::1")
	s.run(2 * time.Second)
	is.Equal(b.seen[len(b.seen)-1].Addresses, []netip.Addr{netip.MustParseAddr("10.0.0.9"), netip.MustParseAddr("fe80::1%e0")})

	// A day of silence: nothing is reported, and hardly anything sent.
	before, sent := len(b.seen), b.sent
	s.run(24 * time.Hour)
	is.Equal(len(b.seen), before)
	is.True(b.sent-sent < 24*60) // less than one message a minute

	s.deliver(a, a.withdraw(pa))
	s.run(time.Second)
	is.Equal(present(b.seen), nil)
	is.Equal(present(c.seen), []string{"bb"})

	// A host that is cut off without a word is gone when its records end.
	s.unresponsive["b"] = true
	s.run(mdnsLifetime + time.Minute)
	is.Equal(present(c.seen), nil)
	s.unresponsive["b"] = false
	s.run(mostInterval)
	is.Equal(present(c.seen), []string{"bb"})

	// What was heard on an interface goes with it.
	c.plug(s.now)
	is.Equal(present(c.seen), nil)
}

// TestMDNSLostParts drops the first answers: what is missing is asked for.
func TestMDNSLostParts(t *testing.T) {
	is := is.New(t)
	s := newSegment()
	a, b := s.host("a", "10.0.0.1"), s.host("b", "10.0.0.2")
	b.browse(s.now)
	a.announceOne(s.now, "aa", nil)
	a.published[0].on["e0"].due = nil // it says nothing by itself
	pointer, err := mdnsResponse(mdnsRecords(a.published[0].Announcement, nil, mdnsLifetime)[:1])
	is.NoErr(err)
	s.unresponsive["a"] = true
	s.run(50 * time.Second) // all early questions are lost
	s.unresponsive["a"] = false
	b.receive(s.now, "e0", pointer)
	s.run(3 * time.Second)
	is.Equal(present(b.seen), []string{"aa"})
}

// TestMDNSFlood holds that names without end neither drive out what was heard
// nor fill the memory, and that questions without end are answered once a second.
func TestMDNSFlood(t *testing.T) {
	is := is.New(t)
	s := newSegment()
	a, b := s.host("a", "10.0.0.1"), s.host("b", "10.0.0.2")
	a.announceOne(s.now, "aa", nil)
	search := b.browse(s.now)
	s.run(5 * time.Second)
	addresses := []netip.Addr{netip.MustParseAddr("10.0.0.66")}
	for n := range 3 * mostInstances {
		message, err := mdnsResponse(mdnsRecords(native.Announcement{Type: testType, Instance: fmt.Sprint("f", n), Port: 1}, addresses, time.Hour))
		is.NoErr(err)
		b.receive(s.now, "e0", message)
	}
	s.run(time.Second)
	e := search.listeners["e0"]
	is.Equal(len(e.instances), mostInstances)
	is.True(slices.Contains(present(b.seen), "aa"))
	is.True(len(e.hosts) <= mostInstances)

	many := make([]dns.RR, 0, 100)
	for n := range 100 {
		many = append(many, mdnsRecords(native.Announcement{Type: testType, Instance: "f1", Port: 1},
			[]netip.Addr{netip.AddrFrom4([4]byte{10, 1, 0, byte(n)})}, time.Hour)[3])
	}
	message, err := mdnsResponse(many)
	is.NoErr(err)
	b.receive(s.now, "e0", message)
	is.True(len(e.hosts["f1.local."]) <= mostAddresses)

	sent := a.sent
	ask, err := mdnsQuery([]dns.Question{question(mdnsType(testType), dns.TypePTR)}, nil)
	is.NoErr(err)
	for range 1000 {
		a.receive(s.now, "e0", ask)
		s.run(10 * time.Millisecond)
	}
	is.True(a.sent-sent <= 11)
}

// FuzzMDNSReceive holds that no message stops the conversation or leaves more
// than its bounds.
func FuzzMDNSReceive(f *testing.F) {
	a := native.Announcement{Type: testType, Instance: `i.\"x`, Port: 7, TXT: map[string]string{"p": "1"}}
	for _, lifetime := range []time.Duration{0, time.Minute} {
		message, err := mdnsResponse(mdnsRecords(a, []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("fe80::1")}, lifetime))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(message)
	}
	query, err := mdnsQuery([]dns.Question{question(mdnsType(testType), dns.TypePTR)}, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(query)
	f.Fuzz(func(t *testing.T, message []byte) {
		s := newSegment()
		h := s.host("h", "10.0.0.2")
		h.announceOne(s.now, "own", nil)
		h.browse(s.now)
		h.receive(s.now, "e0", message)
		h.receive(s.now, "nowhere", message)
		steps := 0
		for end := s.now + 2*time.Hour; s.now < end && steps < 10000; steps++ {
			_, next := h.step(s.now)
			if next <= s.now && steps > 9000 {
				t.Fatal("it does not come to rest")
			}
			s.now = max(next, s.now)
		}
		for _, seen := range h.seen {
			if !seen.Gone && (len(seen.Addresses) == 0 || len(seen.Addresses) > mostAddresses || seen.Port == 0 || seen.Instance == "own") {
				t.Fatalf("reported %+v", seen)
			}
		}
	})
}
