package sim_test

import (
	"fmt"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/sim"
)

const serviceType = "_fulmen._tcp"

func (b *bench) announce(mac string, interfaces ...string) (withdraw func() error) {
	b.t.Helper()
	withdraw, err := b.platforms[mac].Discovery.Announce(b.t.Context(), native.Announcement{
		Type: serviceType, Instance: "i-" + mac, Port: 7732, TXT: map[string]string{"p": "1"}, Interfaces: interfaces,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return withdraw
}

// browse returns a function that gives what was seen since it was last called.
func (b *bench) browse(mac string, interfaces ...string) (seen func() []string, stop func() error) {
	b.t.Helper()
	var lines []string
	stop, err := b.platforms[mac].Discovery.Browse(b.t.Context(), serviceType, interfaces, func(s native.Sighting) {
		if s.Gone {
			lines = append(lines, fmt.Sprintf("%s gone from %s", s.Instance, s.Interface))
			return
		}
		lines = append(lines, fmt.Sprintf("%s on %s: %s:%d %v", s.Instance, s.Interface, s.Host, s.Port, s.Addresses))
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return func() []string {
		got := lines
		lines = nil
		return got
	}, stop
}

func TestDiscovery(t *testing.T) {
	is := is.New(t)
	b := newBench(t, cluster(3, "a.tb1 b.tb2"))
	b.announce("a", "en0") // what it announces itself is not found
	withdraw := b.announce("b", "en0", "en2")
	seen, stop := b.browse("a")
	is.Equal(seen(), []string{
		"i-b on en0: b.local:7732 [192.168.1.12 fe80::2:0%en0]",
		"i-b on en1: b.local:7732 [169.254.101.2 fe80::2:2%en1]", // of the zone here
	})
	b.announce("c", "en0")
	is.Equal(seen(), []string{"i-c on en0: c.local:7732 [192.168.1.13 fe80::3:0%en0]"})

	b.do("unplug a.tb1")
	is.Equal(seen(), []string{"i-b gone from en1"})
	b.do("plug a.tb1 b.tb2")
	is.Equal(seen(), nil) // no address yet
	b.clock.Advance(sim.DelayIPv6)
	is.Equal(seen(), []string{"i-b on en1: b.local:7732 [fe80::2:2%en1]"})
	b.clock.Advance(sim.DelaySelfAssigned)
	is.Equal(seen(), []string{"i-b on en1: b.local:7732 [169.254.101.2 fe80::2:2%en1]"})

	b.do("set office.isolated yes")
	is.Equal(seen(), []string{"i-b gone from en0", "i-c gone from en0"})
	b.do("sleep b")
	is.Equal(seen(), []string{"i-b gone from en1"})
	b.do("set office.isolated no", "wake b")
	b.clock.Advance(sim.DelaySelfAssigned)
	seen()
	is.NoErr(withdraw())
	is.Equal(seen(), []string{"i-b gone from en0", "i-b gone from en1"})
	is.NoErr(b.platforms["c"].Close())
	is.Equal(seen(), []string{"i-c gone from en0"})

	is.NoErr(stop())
	b.announce("b", "en0")
	is.Equal(seen(), nil)
}

func TestBrowseOnNamedInterfaces(t *testing.T) {
	is := is.New(t)
	b := newBench(t, cluster(2, "a.tb1 b.tb1"))
	b.announce("b", "en1")
	seen, _ := b.browse("a", "en0")
	is.Equal(seen(), nil)
	seen, _ = b.browse("a", "en1")
	is.Equal(len(seen()), 1)
}

// A sleeper sees what has changed when it wakes, and nothing before.
func TestBrowseAsleep(t *testing.T) {
	is := is.New(t)
	b := newBench(t, cluster(2))
	b.announce("b", "en0")
	seen, _ := b.browse("a")
	is.Equal(len(seen()), 1)
	b.do("sleep a", "set b.en0.address 192.168.1.99/24 manual")
	is.Equal(seen(), nil)
	b.do("wake a")
	b.clock.Advance(sim.DelayDHCP)
	is.Equal(seen(), []string{
		"i-b gone from en0", "i-b on en0: b.local:7732 [fe80::2:0%en0]", "i-b on en0: b.local:7732 [192.168.1.99 fe80::2:0%en0]",
	})
}

func TestAnnouncementsThatAreNone(t *testing.T) {
	is := is.New(t)
	b := newBench(t, cluster(1))
	_, err := b.platforms["a"].Discovery.Announce(t.Context(), native.Announcement{Type: serviceType, Instance: "i", Port: 7732})
	is.True(err != nil) // no interfaces
	_, err = b.platforms["a"].Discovery.Announce(t.Context(), native.Announcement{Type: serviceType, Instance: "i", Interfaces: []string{"en0"}})
	is.True(err != nil) // no port
}
