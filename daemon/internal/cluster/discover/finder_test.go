package discover

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/transport"
	"fulmen/native"
)

// settle lets all that is going on come to rest.
func settle() {
	synctest.Wait()
	time.Sleep(10 * time.Millisecond)
	synctest.Wait()
}

func at(iface, address string) transport.Candidate {
	return transport.Candidate{Address: netip.MustParseAddrPort(address), Interface: iface}
}

func up(iface, address string) transport.Path {
	return transport.Path{Interface: iface, Address: netip.MustParseAddrPort(address), State: api.PathActive}
}

// pair is two members that are not plugged in.
func pair(t *testing.T) (world *multicast, a, b *mac) {
	world = &multicast{}
	return world, world.mac(t, nodeA, nodeB), world.mac(t, nodeB, nodeA)
}

// TestMembersByCable has two members that find each other on Thunderbolt, lose
// each other with the cable, and again find each other; and one stranger.
func TestMembersByCable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		world := &multicast{}
		a, b, other := world.mac(t, nodeA, nodeB), world.mac(t, nodeB, nodeA), world.mac(t, nodeC)
		for _, m := range []*mac{a, b, other} {
			defer m.Close()
		}
		a.plug("en5", api.InterfaceThunderbolt, "cable", "169.254.1.1/16", "fe80::a/64")
		b.plug("en6", api.InterfaceThunderbolt, "cable", "169.254.1.2/16")
		other.plug("en7", api.InterfaceThunderbolt, "cable", "169.254.1.3/16")
		settle()
		is.Equal(a.Candidates(nodeB), []transport.Candidate{at("en5", "169.254.1.2:7732")})
		is.Equal(len(b.Candidates(nodeA)), 2)
		is.Equal(a.Candidates(nodeC), nil)   // no member
		is.Equal(a.Candidates(nodeA), nil)   // itself
		is.Equal(len(a.NonMembers()), 0)     // it does not want to pair
		is.Equal(len(other.NonMembers()), 0) // nor do these
		is.True(slices.ContainsFunc(a.changes, func(c Change) bool { return slices.Contains(c.Nodes, nodeB) }))

		a.unplug("en5")
		settle()
		is.Equal(a.Candidates(nodeB), nil)
		is.Equal(b.Candidates(nodeA), nil)
		a.plug("en5", api.InterfaceThunderbolt, "cable", "169.254.1.1/16")
		settle()
		is.Equal(len(a.Candidates(nodeB)), 1)

		// An interface that ends and begins faster than anybody looks is searched anew.
		a.SetNetwork(api.Network{})
		a.SetNetwork(a.network)
		settle()
		is.Equal(len(a.Candidates(nodeB)), 1)

		// Removed is forgotten, added is known by what was heard before.
		a.SetRoster(home, []api.NodeID{nodeA})
		is.Equal(a.Candidates(nodeB), nil)
		a.SetRoster(home, []api.NodeID{nodeA, nodeB})
		is.Equal(len(a.Candidates(nodeB)), 1)
		b.Close()
		settle()
		is.Equal(a.Candidates(nodeB), nil)
	})
}

// TestWhereItAnnounces holds the announcement to where it may be heard.
func TestWhereItAnnounces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		world := &multicast{}
		store := &memory{}
		a := world.macWith(t, nodeA, store, nil, nodeB)
		costly := true
		a.network.Interfaces = []api.Interface{
			{Name: "utun0", Type: api.InterfaceVPN, Up: true},
			{Name: "en9", Type: api.InterfaceWiFi, Up: true, Expensive: &costly},
			{Name: "lo0", Type: api.InterfaceLoopback, Up: true},
			{Name: "en4", Type: api.InterfaceEthernet, Up: false},
			{Name: "en2", Type: api.InterfaceThunderbolt, Up: true, Bridge: "bridge0"},
			{Name: "bridge0", Type: api.InterfaceBridge, Up: true, Members: []string{"en2"}},
		}
		a.plug("en0", api.InterfaceWiFi, "home", "192.168.1.2/24")
		a.plug("en1", api.InterfaceEthernet, "office", "10.1.0.2/16")
		settle()
		announced := func() []string { names, _ := a.radio.announced(); return slices.Sorted(slices.Values(names)) }
		is.Equal(announced(), []string{"bridge0"})

		// A member is met on one network: from then on it is announced there.
		a.SetPaths(nodeB, []transport.Path{up("en0", "192.168.1.3:7732")})
		settle()
		is.Equal(announced(), []string{"bridge0", "en0"})
		is.Equal(len(store.kept.Networks), 1)

		id := a.SetPairing(true)
		settle()
		is.Equal(announced(), []string{"bridge0", "en0", "en1"})
		_, text := a.radio.announced()
		is.Equal(text.Pairing, id)
		is.Equal(a.SetPairing(true), id)
		is.Equal(a.SetPairing(false), "")
		settle()
		is.Equal(announced(), []string{"bridge0", "en0"})
		is.True(a.SetPairing(true) != id)
		a.SetPairing(false)

		// It is remembered over a restart, for the same kind of network only.
		a.Close()
		settle()
		is.Equal(announced(), nil)
		again := world.macWith(t, nodeA, store, nil, nodeB)
		defer again.Close()
		again.plug("en0", api.InterfaceWiFi, "home", "192.168.1.77/24")
		again.plug("en1", api.InterfaceEthernet, "cafe", "192.168.1.78/24")
		settle()
		names, _ := again.radio.announced()
		is.Equal(names, []string{"en0"})
		time.Sleep(rememberFor + mostStep)
		settle()
		names, _ = again.radio.announced()
		is.Equal(names, nil) // nobody was met for too long
	})
}

// TestMidnight lets ids turn over while members look at each other.
func TestMidnight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		world, a, b := pair(t)
		defer a.Close()
		defer b.Close()
		a.plug("en5", api.InterfaceThunderbolt, "cable", "169.254.1.1/16")
		b.plug("en6", api.InterfaceThunderbolt, "cable", "169.254.1.2/16")
		settle()
		_, before := a.radio.announced()
		world.mu.Lock()
		instance := world.reported[0].Instance
		world.mu.Unlock()
		for range 3 {
			for range 24 * 60 {
				time.Sleep(time.Minute)
				if len(a.Candidates(nodeB)) == 0 || len(b.Candidates(nodeA)) == 0 {
					t.Fatal("lost sight of each other")
				}
			}
			_, after := a.radio.announced()
			is.True(after.ID != before.ID)
			before = after
		}
		world.mu.Lock()
		defer world.mu.Unlock()
		is.Equal(len(world.reported), 2) // nothing earlier is left
		for _, s := range world.reported {
			is.True(s.Instance != instance)
		}
	})
}

// TestNonMembers shows who wants to pair, once however often it is heard, and
// never a member.
func TestNonMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		world := &multicast{}
		a, b, c := world.mac(t, nodeA, nodeB), world.mac(t, nodeB, nodeA), world.mac(t, nodeC)
		for n, m := range []*mac{a, b, c} {
			defer m.Close()
			m.plug("en0", api.InterfaceWiFi, "cafe", netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(n + 1)}), 24).String())
			m.plug("en1", api.InterfaceEthernet, "lan", netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 1, byte(n + 1)}), 24).String())
		}
		settle()
		is.Equal(a.Candidates(nodeB), nil) // nobody announces here yet
		b.SetPairing(true)
		id := c.SetPairing(true)
		settle()
		is.Equal(len(a.Candidates(nodeB)), 2)
		nonMembers := a.NonMembers()
		is.Equal(len(nonMembers), 1)
		is.Equal(nonMembers[0].Pairing, id)
		is.Equal(nonMembers[0].Candidates, []transport.Candidate{at("en0", "10.0.0.3:7732"), at("en1", "10.0.1.3:7732")})
		is.Equal(len(c.NonMembers()), 1) // to the stranger the member is one
		a.SetRoster(home, []api.NodeID{nodeA, nodeB, nodeC})
		c.SetRoster(home, []api.NodeID{nodeA, nodeB, nodeC})
		settle()
		is.Equal(a.NonMembers(), nil) // taken in
		is.Equal(len(a.Candidates(nodeC)), 2)
	})
}

// TestRefusal has a platform that refuses for a while.
func TestRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		world, a, b := pair(t)
		defer a.Close()
		defer b.Close()
		world.mu.Lock()
		a.radio.refused = errors.New("not allowed")
		world.mu.Unlock()
		a.plug("en5", api.InterfaceThunderbolt, "cable", "169.254.1.1/16")
		b.plug("en6", api.InterfaceThunderbolt, "cable", "169.254.1.2/16")
		settle()
		is.True(a.Problem() != nil)
		world.mu.Lock()
		a.radio.refused = nil
		world.mu.Unlock()
		time.Sleep(retryAfter + time.Second)
		settle()
		is.NoErr(a.Problem())
		is.Equal(len(a.Candidates(nodeB)), 1)
		is.Equal(len(b.Candidates(nodeA)), 1)
	})
}

// TestALateRefusal: a search that had begun is refused, which is said until one that
// began later was let be.
func TestALateRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		world, a, b := pair(t)
		defer b.Close()
		defer a.Close()
		a.plug("en5", api.InterfaceThunderbolt, "cable", "169.254.1.1/16")
		b.plug("en6", api.InterfaceThunderbolt, "cable", "169.254.1.2/16")
		settle()
		is.Equal(len(a.Candidates(nodeB)), 1)
		var mu sync.Mutex
		var received []string
		a.options.Denied = func(detail string) {
			mu.Lock()
			defer mu.Unlock()
			received = append(received, detail)
		}
		reported := func() []string {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(received)
		}
		searches := func() (found []*searching) {
			world.mu.Lock()
			defer world.mu.Unlock()
			for _, s := range world.listeners {
				if s.host == a.radio {
					found = append(found, s)
				}
			}
			return found
		}
		refuse := func() {
			for _, s := range searches() {
				s.found(native.Sighting{Refused: native.ReasonPermission.With("DNS-SD error -65570")})
			}
			settle()
		}
		refuse()
		is.True(strings.Contains(a.Problem().Error(), "-65570"))
		is.Equal(len(searches()), 0)
		for range 3 { // it searches again, and is refused again
			time.Sleep(retryAfter)
			settle()
			is.Equal(len(searches()), 1)
			refuse()
			is.Equal(reported(), []string{"DNS-SD error -65570"}) // which is no news
		}
		time.Sleep(2*retryAfter + lateFor)
		settle()
		is.NoErr(a.Problem())
		is.Equal(reported(), []string{"DNS-SD error -65570", ""})
		is.Equal(len(a.Candidates(nodeB)), 1)
	})
}

// TestPeers resolves configured names, again after failures, and learns whose
// they are.
func TestPeers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		world := &multicast{}
		var asked atomic.Int32
		var known atomic.Bool
		a := world.macWith(t, nodeA, &memory{}, func(ctx context.Context, host string) ([]netip.Addr, error) {
			switch {
			case host == "silent":
				<-ctx.Done()
				return nil, ctx.Err()
			case !known.Load():
				asked.Add(1)
				return nil, errors.New("no such host")
			}
			return []netip.Addr{netip.MustParseAddr("10.9.9.9"), netip.MustParseAddr("10.9.9.8")}, nil
		}, nodeB, nodeC)
		defer a.Close()
		is.NoErr(a.SetPeers([]string{"studio", "silent", "[fd00::1]:99", "10.0.0.7", "10.0.0.7"}))
		is.True(a.SetPeers([]string{"x:0"}) != nil)
		time.Sleep(10 * time.Minute)
		settle()
		is.True(asked.Load() >= 5 && asked.Load() <= 10) // further and further apart
		is.Equal(a.Unclaimed(), []transport.Candidate{at("", "[fd00::1]:99"), at("", "10.0.0.7:7732")})
		peers := a.configured()
		is.Equal(len(peers), 4)
		is.True(peers[0].addresses == nil && peers[1].addresses == nil && peers[2].addresses != nil)

		known.Store(true)
		time.Sleep(retryLast + time.Second)
		settle()
		is.Equal(len(a.Unclaimed()), 4)
		is.Equal(a.Candidates(nodeB), nil)
		a.SetPaths(nodeB, []transport.Path{up("en0", "10.9.9.9:7732")})
		is.Equal(a.configured()[0].node, nodeB)
		is.Equal(len(a.Unclaimed()), 2)
		is.Equal(len(a.Candidates(nodeB)), 2)
		a.SetRoster(home, []api.NodeID{nodeA, nodeC})
		is.Equal(len(a.Unclaimed()), 4) // whose it was is no member any more
	})
}
