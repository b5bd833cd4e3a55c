package transport

import (
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// wired are a node's interfaces, with an IPv4 address on its cable or without
// while the system still looks for one.
func (n *node) wired(is4 bool) []Interface {
	i := n.name[len("host")] - '0' + 1
	own := []Interface{
		{Name: "en0", Addresses: []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, i}), 24)}, Rank: 2},
		{Name: "en5", Addresses: []netip.Prefix{netip.MustParsePrefix(fmt.Sprintf("fe80::%d/64", i))}, Rank: 1},
	}
	if is4 {
		own[1].Addresses = append(own[1].Addresses, netip.PrefixFrom(n.cable4(), 16))
	}
	return own
}

func (n *node) cable4() netip.Addr {
	return netip.AddrFrom4([4]byte{169, 254, 7, n.name[len("host")] - '0' + 1})
}

// cabled are where a node can be reached over its cable, by IPv4 too or not.
func (d *scenario) cabled(of *node, is4 bool) []Candidate {
	all := d.candidates(of)[1:]
	if is4 {
		all = append(all, Candidate{Address: netip.AddrPortFrom(of.cable4(), api.PeerPort), Interface: "en5"})
	}
	return all
}

// cable is how both ends see the path over the cable: each end's own address.
func (d *scenario) cable() [2]string {
	var all [2]string
	for i, n := range d.nodes {
		for _, p := range n.Paths(d.nodes[1-i].id.Node) {
			if p.Interface == "en5" && p.State == api.PathActive {
				all[i] += p.Source.WithZone("").String()
			}
		}
	}
	return all
}

// A pair of interfaces that IPv4 and IPv6 join is served by IPv4, whoever dialled
// which of them first: a ring over sockets has no use for the other.
func TestIPv4ComesBeforeIPv6(t *testing.T) {
	for name, late := range map[string][2]bool{"at once": {}, "first end late": {true, false}, "second end late": {false, true}, "both late": {true, true}} {
		for _, from := range []int{0, 1, 2} {
			t.Run(fmt.Sprint(name, ", dialled by ", []string{"the first", "the second", "both"}[from]), func(t *testing.T) {
				within(t, 2, func(d *scenario) {
					is := is.New(d.t)
					for _, n := range d.nodes {
						d.net.AddAddress(n.name, "en5", n.cable4())
					}
					set := func(i int, is4 bool) {
						n, other := d.nodes[i], d.nodes[1-i]
						n.SetInterfaces(n.wired(is4))
						if from == 2 || from == 1-i {
							other.SetCandidates(n.id.Node, d.cabled(n, is4))
						} else {
							other.SetCandidates(n.id.Node, nil)
						}
					}
					set(0, !late[0])
					set(1, !late[1])
					d.open()
					d.pass(time.Minute)
					was6 := netip.MustParseAddr(d.cable()[0]).Is6()
					is.Equal(was6, late[0] && late[1] || late[0] && from == 1 || late[1] && from == 0)
					for _, n := range d.nodes {
						n.changes()
					}
					set(0, true)
					set(1, true)
					d.pass(20 * time.Second)
					is.Equal(d.cable(), [2]string{"169.254.7.1", "169.254.7.2"})
					for i, n := range d.nodes { // who watches hears of the new address, and of no end
						reported := n.changes()
						is.Equal(reported, map[bool][]string{true: {"en5 active"}}[was6])
						is.Equal(len(n.peers[d.nodes[1-i].id.Node].links), 1)
					}
					_, _, before := d.net.Host("host0").Traffic()
					d.pass(time.Hour)
					_, _, after := d.net.Host("host0").Traffic()
					is.Equal(after, before) // the other family is left alone
				})
			})
		}
	}
}

// A cable that is plugged in again has its IPv6 addresses seconds before its IPv4
// ones.
func TestReplugComesBackToIPv4(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		set := func(is4 bool) {
			for i, n := range d.nodes {
				n.SetInterfaces(n.wired(is4))
				d.nodes[1-i].SetCandidates(n.id.Node, append(d.candidates(n)[:1], d.cabled(n, is4)...))
			}
		}
		for _, n := range d.nodes {
			d.net.AddAddress(n.name, "en5", n.cable4())
		}
		set(true)
		d.open()
		for range 5 {
			d.net.SetLAN("cable", false)
			for _, n := range d.nodes {
				n.SetInterfaces(n.wired(false)[:1])
			}
			d.pass(10 * time.Second)
			is.Equal(d.cable(), [2]string{})
			d.net.SetLAN("cable", true)
			set(false)
			d.pass(7 * time.Second)
			is.Equal(d.cable(), [2]string{"fe80::1", "fe80::2"})
			set(true)
			d.pass(5 * time.Second)
			is.Equal(d.cable(), [2]string{"169.254.7.1", "169.254.7.2"})
		}
	})
}

// An IPv4 address that led to a place before is tried again while IPv6 serves it,
// also where nothing tells that it answers again.
func TestIPv4IsTriedWhereIPv6Serves(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		a, b := d.nodes[0], d.nodes[1]
		for _, n := range d.nodes {
			d.net.AddAddress(n.name, "en5", n.cable4())
			n.SetInterfaces(n.wired(true))
		}
		a.SetCandidates(b.id.Node, d.cabled(b, true))
		b.SetCandidates(a.id.Node, nil)
		d.open()
		is.Equal(d.cable(), [2]string{"169.254.7.1", "169.254.7.2"})
		b.SetInterfaces(b.wired(false)[:1])
		d.pass(10 * time.Second)
		b.SetInterfaces(b.wired(false))
		d.pass(time.Minute)
		is.Equal(d.cable(), [2]string{"fe80::1", "fe80::2"})
		b.SetInterfaces(b.wired(true))
		d.pass(retryMost)
		is.Equal(d.cable(), [2]string{"169.254.7.1", "169.254.7.2"})
	})
}

// IPv4 takes the place of IPv6 also where there are as many paths as there may be.
func TestIPv4ReplacesIPv6AmongAllPaths(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		own, candidates := map[*node][]Interface{}, map[*node][]Candidate{}
		for i, n := range d.nodes {
			own[n], candidates[n] = n.wired(true), d.cabled(n, false)
			d.net.AddAddress(n.name, "en5", n.cable4())
			own[n][1].Rank = 2
			for k := range api.MaxPaths - 1 {
				at := netip.AddrFrom4([4]byte{10, 1, byte(k), byte(i + 1)})
				iface := fmt.Sprint("en", 10+k)
				d.net.Attach(n.name, iface, "lan"+iface, at)
				own[n] = append(own[n], Interface{Name: iface, Addresses: []netip.Prefix{netip.PrefixFrom(at, 24)}, Rank: 2})
				candidates[n] = append(candidates[n], Candidate{Address: netip.AddrPortFrom(at, api.PeerPort)})
			}
			n.SetInterfaces(own[n])
		}
		notify := func() {
			for i, n := range d.nodes {
				d.nodes[1-i].SetCandidates(n.id.Node, candidates[n])
			}
		}
		notify()
		d.open()
		is.Equal(len(d.nodes[0].active(d.nodes[1])), api.MaxPaths)
		is.Equal(d.cable(), [2]string{"fe80::1", "fe80::2"})
		for _, n := range d.nodes {
			candidates[n] = append(candidates[n], d.cabled(n, true)[1])
		}
		notify()
		d.pass(5 * time.Second)
		is.Equal(d.cable(), [2]string{"169.254.7.1", "169.254.7.2"})
		is.Equal(len(d.nodes[0].active(d.nodes[1])), api.MaxPaths)
	})
}

// IPv6 is dialled a second after IPv4 by the same interface, if nobody says until then that
// it leads nowhere else, and at once where IPv4 fails.
func TestIPv6WaitsForIPv4(t *testing.T) {
	for name, c := range map[string]struct {
		fails, isReported bool
		first, second     int64 // dials in half a second, and in three
		path              string
	}{
		"nobody says": {first: 1, second: 2, path: "169.254.7.1"},
		"said":        {isReported: true, first: 1, second: 1, path: "169.254.7.1"},
		"IPv4 fails":  {fails: true, first: 2, path: "fe80::1"},
	} {
		t.Run(name, func(t *testing.T) {
			within(t, 2, func(d *scenario) {
				is := is.New(d.t)
				a, b := d.nodes[0], d.nodes[1]
				for _, n := range d.nodes {
					d.net.AddAddress(n.name, "en5", n.cable4())
					n.SetInterfaces(n.wired(true))
				}
				candidates := d.cabled(b, true)
				if c.fails {
					candidates[1].Address = netip.AddrPortFrom(b.cable4(), 1)
				}
				a.SetCandidates(b.id.Node, candidates)
				b.SetCandidates(a.id.Node, nil)
				is.NoErr(b.Start()) // it listens before it is dialled
				synctest.Wait()
				is.NoErr(a.Start())
				dials := func() int64 {
					_, _, dials := d.net.Host(a.name).Traffic()
					return dials
				}
				d.pass(ipv6After / 2)
				is.Equal(dials(), c.first)
				is.Equal(d.cable()[0], c.path)
				if c.isReported {
					a.SetCandidates(b.id.Node, candidates[1:])
				}
				d.pass(3*time.Second - ipv6After/2)
				is.True(c.fails || dials() == c.second)
				is.Equal(d.cable()[0], c.path)
			})
		})
	}
}
