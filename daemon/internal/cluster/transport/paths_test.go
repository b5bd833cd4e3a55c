package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native"
	"fulmen/native/memnet"
)

func TestEveryNetworkIsAPath(t *testing.T) {
	within(t, 3, func(d *scenario) {
		is := is.New(d.t)
		d.open()
		for _, a := range d.nodes {
			for _, b := range d.nodes {
				if a != b {
					is.Equal(a.active(b), []string{"en5>en5", "en0>en0"}) // the better interface first
				}
			}
		}
		path := d.nodes[0].Paths(d.nodes[1].id.Node)[1]
		is.Equal(path.Source.String(), "10.0.0.1")
		is.Equal(path.Address.String(), "10.0.0.2:7732") // where it listens, whoever has dialled
		// One connection each: both sides would have dialled.
		d.pass(10 * time.Minute)
		_, _, before := d.net.Host("host0").Traffic()
		d.pass(time.Hour)
		bytes, _, after := d.net.Host("host0").Traffic()
		is.Equal(after, before) // nothing is dialled again
		d.pass(time.Hour)
		again, _, _ := d.net.Host("host0").Traffic()
		is.Equal(again, bytes) // and nothing is sent
	})
}

func TestPacketsComeOnce(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		d.net.SetQuality("office", memnet.Quality{Delay: 3 * time.Millisecond, Jitter: 40 * time.Millisecond})
		d.open()
		a, b := d.nodes[0], d.nodes[1]
		var sent []string
		for i := range 50 {
			text := string(rune('a' + i))
			sent = append(sent, text)
			is.NoErr(a.Send(b.id.Node, []byte(text)))
		}
		d.pass(time.Second)
		got := b.packets()
		is.Equal(len(got), 50)
		slices.Sort(got)
		is.Equal(got, sent)
		is.True(a.Send(b.id.Node, make([]byte, maxPacket+1)) != nil)
	})
}

func TestOneNetworkCut(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		d.open()
		a, b := d.nodes[0], d.nodes[1]
		a.changes()
		d.net.SetLAN("cable", false)
		for range 12 {
			is.NoErr(a.Send(b.id.Node, []byte("x")))
			d.pass(time.Second)
		}
		is.Equal(len(b.packets()), 12) // not one is late or lost
		is.Equal(a.changes(), []string{"en5 failed"})
		is.Equal(a.active(b), []string{"en0>en0"})
		failed := a.Paths(b.id.Node)[1]
		is.Equal(failed.Reason, api.ReasonUnreachable)
		d.net.SetLAN("cable", true)
		d.pass(time.Minute + 10*time.Second)
		is.Equal(a.active(b), []string{"en5>en5", "en0>en0"})
		is.Equal(a.changes(), []string{"en5 active"})
	})
}

// A node whose address goes tells its peers where that path carries nothing, also
// not its end.
func TestAPathThatIsOverIsTold(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		d.open()
		a, b := d.nodes[0], d.nodes[1]
		d.net.SetLAN("cable", false)
		a.changes()
		b.changes()
		a.AddressesLost(a.id.Node, []netip.Addr{a.Paths(b.id.Node)[0].Source.WithZone("")})
		d.pass(20 * time.Millisecond)
		is.Equal(b.changes(), []string{"en5 failed"})
		is.Equal(b.Paths(a.id.Node)[1].Reason, api.ReasonAddressLost)
		is.Equal(b.active(a), []string{"en0>en0"})

		b.Transport.mu.Lock()
		left := b.peers[a.id.Node].links[0]
		b.Transport.mu.Unlock()
		for _, wrong := range []string{"", "en0", "en0\x00en7", "\x00", "en7\x00en0"} {
			b.receivedOn(left, []byte(wrong))
		}
		is.Equal(b.active(a), []string{"en0>en0"})
	})
}

// Who says that an address is gone is believed at once, not when nothing has come
// for long, and tried again.
func TestAddressesLost(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		d.open()
		a, b := d.nodes[0], d.nodes[1]
		cable := a.Paths(b.id.Node)[0]
		for _, end := range []struct {
			node    api.NodeID
			address netip.Addr
		}{{a.id.Node, cable.Source}, {b.id.Node, cable.Address.Addr()}} {
			a.changes()
			d.net.SetLAN("cable", false)
			a.AddressesLost(end.node, []netip.Addr{netip.MustParseAddr("192.0.2.1"), end.address.WithZone("")})
			d.pass(time.Millisecond)
			is.Equal(a.changes(), []string{"en5 failed"})
			is.Equal(a.active(b), []string{"en0>en0"})
			is.Equal(a.Paths(b.id.Node)[1].Reason, api.ReasonAddressLost)
			d.net.SetLAN("cable", true)
			d.pass(time.Minute + 10*time.Second)
			is.Equal(a.active(b), []string{"en5>en5", "en0>en0"})
		}
		a.changes()
		a.AddressesLost(a.id.Node, []netip.Addr{cable.Address.Addr()}) // the other one's
		a.AddressesLost(b.id.Node, []netip.Addr{cable.Source})
		d.pass(time.Second)
		is.Equal(a.changes(), nil)
	})
}

func TestAllCutAndHealed(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		d.open()
		a, b := d.nodes[0], d.nodes[1]
		d.net.SetApart("host0", "host1", true)
		d.pass(time.Minute)
		err := a.Send(b.id.Node, []byte("x"))
		var op *net.OpError
		is.True(errors.As(err, &op)) // the kind of error that memberlist takes for the network's
		is.Equal(a.active(b), nil)
		d.pass(time.Hour)
		d.net.SetApart("host0", "host1", false)
		d.pass(retryMost + 10*time.Second)
		is.Equal(a.active(b), []string{"en5>en5", "en0>en0"})
		is.NoErr(b.Send(a.id.Node, []byte("back")))
		d.pass(time.Second)
		is.Equal(a.packets(), []string{"back"})
	})
}

// Two addresses of one place are dialled once each, and then one of them serves it.
func TestOtherAddressesOfAPlaceAreLeftAlone(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		for i, n := range d.nodes {
			second := netip.AddrFrom4([4]byte{10, 0, 0, byte(100 + i)})
			d.net.AddAddress(n.name, "en0", second)
			n.SetInterfaces(append(n.own, Interface{Name: "en0", Addresses: []netip.Prefix{netip.PrefixFrom(second, 24)}, Rank: 2}))
			other := d.nodes[1-i]
			other.SetCandidates(n.id.Node, append(d.candidates(n), Candidate{Address: netip.AddrPortFrom(second, api.PeerPort)}))
		}
		d.open()
		d.pass(10 * time.Minute)
		_, _, before := d.net.Host("host0").Traffic()
		_, _, beforeToo := d.net.Host("host1").Traffic()
		d.pass(time.Hour)
		_, _, after := d.net.Host("host0").Traffic()
		_, _, afterToo := d.net.Host("host1").Traffic()
		is.Equal([2]int64{after, afterToo}, [2]int64{before, beforeToo})
		is.Equal(d.nodes[0].active(d.nodes[1]), []string{"en5>en5", "en0>en0"})
		for i, n := range d.nodes {
			is.Equal(n.at(d.nodes[1-i], "en0", api.PathActive, api.PathStandby), [][]string{{"10.0.0.101", "10.0.0.2"}, {"10.0.0.1", "10.0.0.100"}}[i])
			is.Equal(len(n.at(d.nodes[1-i], "en0", api.PathStandby)), 1)
		}
	})
}

// A change of interfaces is tried at once, not when the pause is over.
func TestPluggedIsTriedAtOnce(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		a, b := d.nodes[0], d.nodes[1]
		d.net.SetPlug("host0", "en5", false)
		d.open()
		d.pass(time.Hour)
		is.Equal(a.active(b), []string{"en0>en0"})
		d.net.SetPlug("host0", "en5", true)
		own := []Interface{{Name: "en0", Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/24")}, Rank: 2}}
		a.SetInterfaces(own)
		d.pass(time.Second)
		is.Equal(a.active(b), []string{"en0>en0"})
		a.SetInterfaces(append(own, Interface{Name: "en5", Addresses: []netip.Prefix{netip.MustParsePrefix("fe80::1/64")}, Rank: 1}))
		d.pass(time.Second)
		is.Equal(a.active(b), []string{"en5>en5", "en0>en0"})
		a.SetInterfaces(own) // gone: at once, before the kernel notices
		d.pass(time.Millisecond)
		is.Equal(a.active(b), []string{"en0>en0"})
	})
}

func TestPeerStartedAnew(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		d.open()
		a, b := d.nodes[0], d.nodes[1]
		is.NoErr(b.Send(a.id.Node, []byte("before")))
		d.pass(time.Second)
		is.NoErr(b.Close())
		d.pass(time.Second)
		again := d.start(1)
		d.nodes = append(d.nodes, again)
		again.SetCandidates(a.id.Node, d.candidates(a))
		is.NoErr(again.Start())
		d.pass(2 * time.Second)
		is.NoErr(again.Send(a.id.Node, []byte("after"))) // numbered from 1 again
		d.pass(time.Second)
		is.Equal(a.packets(), []string{"before", "after"})
		is.Equal(a.active(b), []string{"en5>en5", "en0>en0"})
	})
}

// At most three paths, the best ones.
func TestPathsAreBounded(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		a, b := d.nodes[0], d.nodes[1]
		own := map[*node][]Interface{}
		candidates := map[*node][]Candidate{}
		for i, n := range d.nodes {
			for k := range 5 {
				at := netip.AddrFrom4([4]byte{10, 1, byte(k), byte(i + 1)})
				iface := string(rune('u' + k))
				d.net.Attach(n.name, iface, "lan"+iface, at)
				own[n] = append(own[n], Interface{Name: iface, Addresses: []netip.Prefix{netip.PrefixFrom(at, 24)}, Rank: 9 - k})
				candidates[n] = append(candidates[n], Candidate{Address: netip.AddrPortFrom(at, api.PeerPort)})
			}
			n.SetInterfaces(own[n])
		}
		a.SetCandidates(b.id.Node, candidates[b])
		b.SetCandidates(a.id.Node, candidates[a])
		d.open()
		d.pass(time.Minute)
		is.Equal(a.active(b)[:3], []string{"y>y", "x>x", "w>w"})
		is.True(len(a.active(b)) <= 2*api.MaxPaths)
		for _, iface := range []string{"u", "v"} { // the others have answered, and stand by
			is.Equal(len(a.at(b, iface, api.PathActive, api.PathStandby)), 1)
			is.Equal(len(b.at(a, iface, api.PathActive, api.PathStandby)), 1)
		}
		for _, iface := range []string{"y", "x", "w"} {
			d.net.SetLAN("lan"+iface, false)
		}
		d.pass(time.Minute)
		is.Equal(a.active(b), []string{"v>v", "u>u"}) // they carry packets when the others fail
	})
}

func TestRemovedHasNoConnection(t *testing.T) {
	within(t, 3, func(d *scenario) {
		is := is.New(d.t)
		d.open()
		a, b, c := d.nodes[0], d.nodes[1], d.nodes[2]
		d.book.set(b.id, false)
		a.Drop(b.id.Node)
		c.Drop(b.id.Node)
		d.pass(2 * time.Minute)
		is.Equal(b.active(a), nil) // it tries, and is let in nowhere
		is.Equal(b.active(c), nil)
		is.Equal(a.active(c), []string{"en5>en5", "en0>en0"})
		is.True(errors.Is(a.Call(d.t.Context(), b.id.Node, "peer.hello", nil, nil), api.ReasonNotAMember))
	})
}

func TestPortTakenIsTheNext(t *testing.T) {
	within(t, 1, func(d *scenario) {
		is := is.New(d.t)
		l, err := d.net.Host("host0").Listen(d.t.Context(), "en0", netip.MustParseAddrPort("10.0.0.1:7732"))
		is.NoErr(err)
		defer l.Close()
		d.open()
		is.Equal(d.nodes[0].Port(), api.PeerPort+1)
	})
}

// Peers are listened for at each address as it comes and goes: where interfaces
// are not told apart by the system, as on macOS, no other way tells them apart.
func TestListensAtEveryAddress(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		d.open()
		a, b := d.nodes[0], d.nodes[1]
		answers := func(iface, to string) bool {
			ctx, cancel := context.WithTimeout(d.t.Context(), time.Second)
			defer cancel()
			c, err := d.net.Host(a.name).Dial(ctx, iface, netip.Addr{}, netip.AddrPortFrom(netip.MustParseAddr(to), api.PeerPort))
			if err != nil {
				return false
			}
			c.Close()
			return true
		}
		is.True(answers("en0", "10.0.0.2"))
		is.True(answers("en5", "fe80::2"))

		before := b.own
		second := netip.MustParseAddr("10.0.0.102")
		with := []Interface{
			{Name: "en0", Addresses: append(slices.Clone(before[0].Addresses), netip.PrefixFrom(second, 24)), Rank: 2}, before[1],
		}
		b.SetInterfaces(with) // before the system has it
		is.True(!answers("en0", "10.0.0.102"))
		d.net.AddAddress(b.name, "en0", second)
		d.pass(listenAgain)
		is.True(answers("en0", "10.0.0.102"))
		b.SetInterfaces(before)
		is.True(!answers("en0", "10.0.0.102"))
		is.True(answers("en0", "10.0.0.2"))
	})
}

// Of an address that two interfaces have nobody can tell by which of them a
// connection has come: it serves no path.
func TestAnAddressOfTwoInterfacesIsNotListenedAt(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		a, b := d.nodes[0], d.nodes[1]
		d.net.AddAddress(b.name, "en5", netip.MustParseAddr("10.0.0.2"))
		b.SetInterfaces([]Interface{
			b.own[0], {Name: "en5", Addresses: append(b.own[1].Addresses, netip.MustParsePrefix("10.0.0.2/24")), Rank: 1},
		})
		a.SetCandidates(b.id.Node, d.candidates(b))
		b.SetCandidates(a.id.Node, nil)
		d.open()
		d.pass(time.Minute)
		is.Equal(a.active(b), []string{"en5>en5"}) // by IPv6, whose addresses have a zone
		b.SetInterfaces([]Interface{b.own[0]})
		d.pass(time.Minute)
		is.Equal(a.active(b), []string{"en0>en0"})
	})
}

// guarded is sockets that the system may keep from the local network.
type guarded struct {
	native.Sockets
	denied atomic.Bool
}

func (g *guarded) Dial(ctx context.Context, iface string, source netip.Addr, to netip.AddrPort) (net.Conn, error) {
	if g.denied.Load() {
		return nil, fmt.Errorf("%w: dial %v", native.ErrLocalNetwork, to)
	}
	return g.Sockets.Dial(ctx, iface, source, to)
}

// TestTheLocalNetworkIsDenied: it is told after the dials, until they work again.
func TestTheLocalNetworkIsDenied(t *testing.T) {
	within(t, 1, func(d *scenario) {
		is := is.New(t)
		d.net.Attach("host1", "en0", "office", netip.MustParseAddr("10.0.0.2"))
		d.book.set(identity(1), true)
		other := d.start(1)
		defer other.Close()
		a := d.nodes[0]
		sockets := &guarded{Sockets: a.options.Sockets}
		sockets.denied.Store(true)
		a.options.Sockets = sockets
		var mu sync.Mutex
		reported := map[string]bool{}
		a.options.Denied = func(at string) {
			mu.Lock()
			defer mu.Unlock()
			reported[at] = true
		}
		a.SetCandidates(other.id.Node, d.candidates(other)[:1])
		is.NoErr(other.Start())
		d.open()
		mu.Lock()
		is.Equal(reported, map[string]bool{"10.0.0.2:7732": true})
		mu.Unlock()
		sockets.denied.Store(false)
		d.pass(time.Minute)
		mu.Lock()
		is.True(reported[""])
		mu.Unlock()
	})
}

// at are the addresses of a node behind an interface of this one, in these states.
func (n *node) at(to *node, iface string, states ...api.PathState) []string {
	var all []string
	for _, p := range n.Paths(to.id.Node) {
		if p.Interface == iface && slices.Contains(states, p.State) {
			all = append(all, p.Address.Addr().String())
		}
	}
	slices.Sort(all)
	return all
}

// An address that stands by takes over from the one that is lost, and one that is gone at either
// end is told to be.
func TestAnAddressThatStandsBy(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		second := [2]netip.Addr{netip.MustParseAddr("10.9.0.1"), netip.MustParseAddr("10.9.0.2")}
		set := func(all bool) {
			addresses := 1
			if all {
				addresses = 2
			}
			for i, n := range d.nodes { // first, or what is no interface's any more is dialled by the system's routes
				d.nodes[1-i].SetCandidates(n.id.Node, append(d.candidates(n)[:1:1], Candidate{Address: netip.AddrPortFrom(second[i], api.PeerPort)})[:addresses])
			}
			for i, n := range d.nodes {
				own := []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}), 24), netip.PrefixFrom(second[i], 24)}
				n.SetInterfaces([]Interface{{Name: "en0", Addresses: own[:addresses], Rank: 2}})
			}
		}
		for i, n := range d.nodes {
			d.net.AddAddress(n.name, "en0", second[i])
		}
		set(true)
		d.open()
		d.pass(time.Minute)
		a, b := d.nodes[0], d.nodes[1]
		is.Equal(len(a.at(b, "en0", api.PathActive)), 1)
		is.Equal(len(a.at(b, "en0", api.PathStandby)), 1)
		serving := a.at(b, "en0", api.PathActive)[0]
		a.changes()
		a.AddressesLost(b.id.Node, []netip.Addr{netip.MustParseAddr(serving)})
		d.pass(time.Minute)
		is.Equal(len(a.at(b, "en0", api.PathActive)), 1)
		is.Equal(len(a.at(b, "en0", api.PathActive, api.PathStandby)), 2) // it lives all the same
		a.changes()
		set(false)
		for i, n := range d.nodes {
			n.AddressesLost(d.nodes[1-i].id.Node, second[1-i:2-i])
			n.AddressesLost(n.id.Node, second[i:i+1])
		}
		d.pass(time.Minute)
		is.Equal(a.at(b, "en0", api.PathActive, api.PathStandby), []string{"10.0.0.2"})
		is.Equal(b.at(a, "en0", api.PathActive, api.PathStandby), []string{"10.0.0.1"})
		is.True(slices.Contains(a.changes(), "en0 failed"))

		// What answered there just before is noted only now.
		b.mu.Lock()
		b.standByLocked(b.peerLocked(a.id.Node), place{"en0", "en0"}, Path{Interface: "en0", PeerInterface: "en0", Address: netip.AddrPortFrom(second[0], api.PeerPort)})
		b.mu.Unlock()
		is.Equal(b.at(a, "en0", api.PathActive, api.PathStandby), []string{"10.0.0.1"})
	})
}
