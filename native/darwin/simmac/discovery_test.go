//go:build cgo && linux && darwinsim

package simmac_test

import (
	"errors"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
)

// sighted waits for the next sighting that is as wanted.
func sighted(t *testing.T, seen chan native.Sighting, want func(native.Sighting) bool) native.Sighting {
	t.Helper()
	for {
		select {
		case s := <-seen:
			if want(s) {
				return s
			}
		case <-time.After(time.Minute):
			t.Fatal("not seen")
		}
	}
}

// addresses are those of en0 of A, as its responder tells them.
func addresses(t *testing.T, d *machines) map[string]any {
	t.Helper()
	en0, ok := d.snapshot(t, "A", native.AreaNetwork).Network.Interface("en0")
	is.New(t).True(ok)
	return map[string]any{strconv.Itoa(en0.Index): []any{"192.168.1.11", "fe80::1"}}
}

func TestDiscovery(t *testing.T) {
	is := is.New(t)
	clean(t)
	d := newMachines(t, pair(t))
	ctx := t.Context()
	d.macs["A"].Machine.SetValue("responder", map[string]any{"host": "a.local.", "addresses": addresses(t, d)})
	seen := make(chan native.Sighting, 100)
	stop, err := d.platforms["B"].Discovery.Browse(ctx, "_fulmen._tcp", []string{"en0"}, func(s native.Sighting) { seen <- s })
	is.NoErr(err)
	own := make(chan native.Sighting, 100)
	stopOwn, err := d.platforms["A"].Discovery.Browse(ctx, "_fulmen._tcp", nil, func(s native.Sighting) { own <- s })
	is.NoErr(err)

	a := native.Announcement{Type: "_fulmen._tcp", Instance: "a5k2", Port: 7732, TXT: map[string]string{"v": "1", "empty": ""}, Interfaces: []string{"en0", "en2"}}
	withdraw, err := d.platforms["A"].Discovery.Announce(ctx, a)
	is.NoErr(err)
	whole := func(s native.Sighting) bool { return len(s.Addresses) == 2 }
	s := sighted(t, seen, whole)
	is.Equal(s.Instance, "a5k2")
	is.Equal(s.Interface, "en0") // and on en2 B does not look
	is.Equal(s.Host, "a.local.")
	is.Equal(s.Port, 7732)
	is.Equal(s.TXT, a.TXT)
	is.Equal(s.Addresses, []netip.Addr{netip.MustParseAddr("192.168.1.11"), netip.MustParseAddr("fe80::1%en0")})

	// The interface goes and comes back under another index, of which the responder
	// tells before B knows it.
	do(t, d, "set A.en0.present no")
	is.True(sighted(t, seen, func(s native.Sighting) bool { return s.Gone }).Gone)
	do(t, d, "set B.en0.present no") // so that both have the same index again, by which the simulated ones hear each other
	do(t, d, "set A.en0.present yes")
	d.macs["A"].Machine.SetValue("responder", map[string]any{"host": "a.local.", "addresses": addresses(t, d)})
	do(t, d, "set B.en0.present yes")
	sighted(t, seen, func(s native.Sighting) bool { return !s.Gone })

	is.NoErr(withdraw())
	is.NoErr(withdraw()) // twice is once
	sighted(t, seen, func(s native.Sighting) bool { return s.Gone })
	is.Equal(len(own), 0)
	is.NoErr(stop())
	is.NoErr(stopOwn())

	for _, bad := range []native.Announcement{{}, {Type: "_x._tcp", Instance: "i", Port: 70000, Interfaces: []string{"en0"}}} {
		_, err := d.platforms["A"].Discovery.Announce(ctx, bad)
		is.True(err != nil)
	}
}

func TestWithoutAResponder(t *testing.T) {
	is := is.New(t)
	clean(t)
	d := newMachines(t, pair(t))
	d.macs["A"].Machine.SetValue("responder", map[string]any{"absent": true})
	_, err := d.platforms["A"].Discovery.Browse(t.Context(), "_fulmen._tcp", nil, func(native.Sighting) {})
	is.True(errors.Is(err, native.ErrUnsupported))
	caps, err := d.platforms["A"].Facts.Capabilities(t.Context())
	is.NoErr(err)
	is.True(!caps[native.FeatureDiscovery].Supported)
	d.macs["A"].Machine.SetValue("responder", nil)
	_, err = d.platforms["A"].Discovery.Browse(t.Context(), "_fulmen._tcp", nil, func(native.Sighting) {})
	is.NoErr(err) // and it ends with its platform
}

// TestASearchIsRefused: what the system says in a search's replies is told, and the next
// search works once a person has allowed it.
func TestASearchIsRefused(t *testing.T) {
	for _, number := range []int{-65555, -65570, -65537} {
		is := is.New(t)
		clean(t)
		d := newMachines(t, pair(t))
		machine := d.macs["A"].Machine
		machine.SetValue("responder", map[string]any{"refuses": number})
		seen := make(chan native.Sighting, 100)
		stop, err := d.platforms["A"].Discovery.Browse(t.Context(), "_fulmen._tcp", nil, func(s native.Sighting) { seen <- s })
		is.NoErr(err)
		refused := sighted(t, seen, func(native.Sighting) bool { return true }).Refused
		want := native.ReasonPermission
		if number == -65537 {
			want = native.ReasonReadFailed
		}
		is.Equal(refused, want.With("DNS-SD error "+strconv.Itoa(number)))
		is.NoErr(stop())

		machine.SetValue("responder", nil)
		d.macs["B"].Machine.SetValue("responder", map[string]any{"host": "b.local.", "addresses": addresses(t, d)})
		stop, err = d.platforms["A"].Discovery.Browse(t.Context(), "_fulmen._tcp", nil, func(s native.Sighting) { seen <- s })
		is.NoErr(err)
		withdraw, err := d.platforms["B"].Discovery.Announce(t.Context(), native.Announcement{
			Type: "_fulmen._tcp", Instance: "b7", Port: 7732, TXT: map[string]string{"v": "1"}, Interfaces: []string{"en0"},
		})
		is.NoErr(err)
		is.Equal(sighted(t, seen, func(s native.Sighting) bool { return len(s.Addresses) > 0 }).Instance, "b7")
		is.NoErr(withdraw())
		is.NoErr(stop())
	}
}
