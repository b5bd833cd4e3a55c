package sim_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/nativetest"
	"fulmen/native/nativetest/testkit"
	"fulmen/native/sim"
	"fulmen/native/sim/scenario"
)

// randomOp is some change that a script could hold; many cannot be made.
func randomOp(r *rand.Rand) scenario.Op {
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	mac := func() string { return pick("a", "b", "c", "d") }
	end := func() string {
		return pick(mac()+".tb1", mac()+".tb2", mac()+".tb3", pick("hub", "dock")+".up", pick("hub", "dock")+".1", "hub.2", "hub.3", "dock.2")
	}
	iface := func() string { return pick("en0", "en1", "en2", "en3", "bridge0") }
	switch r.IntN(12) {
	case 0, 1, 2, 3:
		a, b := end(), end()
		if a == b {
			return parse("unplug " + a)
		}
		return parse("plug " + a + " " + b + pick("", "", " 80G", " 40G", " 120/40G", " 20G"))
	case 4, 5:
		return parse("unplug " + end())
	case 6:
		return parse("retrain " + end() + " " + pick("80G", "40G", "10G", "40/120G"))
	case 7:
		return parse(pick("sleep ", "wake ", "wake ", "restart ") + mac())
	case 8:
		return parse("set " + mac() + ".rdma " + pick("on", "off", "on_after_restart"))
	case 9:
		return parse("set " + mac() + "." + iface() + pick(".link down", ".link up", ".present no", ".present yes", ".bridge bridge0", ".bridge none"))
	case 10:
		return parse("set " + mac() + "." + iface() + ".address " + pick("none", "169.254.1.1/30 manual", "169.254.1.2/30 manual", "fe80::1/64", "10.0.0.7/24 dhcp"))
	}
	return parse("set " + pick("office.link up", "office.link down", "office.isolated yes", "office.isolated no"))
}

// checkWorld holds the facts of all Macs against each other.
func checkWorld(t *testing.T, b *bench) {
	t.Helper()
	snapshots := map[string]native.Snapshot{}
	type at struct {
		mac  string
		port native.Port
	}
	domains := map[string]at{}
	for _, mac := range b.Macs() {
		s := b.snapshot(mac) // with CheckUnknown
		snapshots[mac] = s
		for _, port := range s.Thunderbolt.Ports {
			if _, twice := domains[port.DomainUUID]; twice {
				t.Fatalf("domain %s twice", port.DomainUUID)
			}
			domains[port.DomainUUID] = at{mac, port}
		}
	}
	for domain, near := range domains {
		port := near.port
		up := port.Negotiated.State == native.LinkUp
		if up != (port.Status != native.PortEmpty) {
			t.Fatalf("%s receptacle %d: %s and its link %s", near.mac, port.PortNumber, port.Status, port.Negotiated.State)
		}
		anyLinked := false
		for _, peer := range port.Peers {
			far, known := domains[peer.DomainUUID]
			if !known {
				t.Fatalf("%s names the domain %s of nobody", near.mac, peer.DomainUUID)
			}
			i := slices.IndexFunc(far.port.Peers, func(p native.Peer) bool { return p.DomainUUID == domain })
			if i < 0 {
				t.Fatalf("%s sees %s, which does not see it", near.mac, far.mac)
			}
			back := far.port.Peers[i]
			if peer.Negotiated.TxBitsPerS != back.Negotiated.RxBitsPerS && peer.Hub == "" && back.Hub == "" {
				t.Fatalf("%s sends %v, %s receives %v", near.mac, peer.Negotiated, far.mac, back.Negotiated)
			}
			if _, err := port.Chain(peer); err != nil {
				t.Fatal(err)
			}
			offered, _ := peer.Offers(native.ProtocolRDMA)
			rdma := snapshots[far.mac].RDMA
			if offered != (rdma.Switch == native.RDMAOn && *rdma.OSCapable && far.port.Capability == native.TB5) {
				t.Fatalf("%s offers RDMA to %s: %v", far.mac, near.mac, offered)
			}
			here, hereIs := snapshots[near.mac].Network.Interface(port.Interface)
			there, thereIs := snapshots[far.mac].Network.Interface(far.port.Interface)
			if len(port.Peers) == 1 && len(far.port.Peers) == 1 && hereIs && thereIs && *here.Link != *there.Link {
				t.Fatalf("the link of %s is %v, that of %s %v", near.mac, *here.Link, far.mac, *there.Link)
			}
			anyLinked = anyLinked || hereIs && *here.Link
		}
		if i, is := snapshots[near.mac].Network.Interface(port.Interface); is && *i.Link && !anyLinked {
			t.Fatalf("%s %s has a link to nobody", near.mac, i.Name)
		}
	}
	for _, mac := range b.Macs() {
		for _, r := range b.Reach(mac) {
			back := sim.Reach{Peer: mac, PeerInterface: r.Interface, Interface: r.PeerInterface, Source: r.Address, Address: r.Source}
			if !slices.Contains(b.Reach(r.Peer), back) {
				t.Fatalf("%s reaches %v, and not back", mac, r)
			}
		}
	}
}

func randomCluster() scenario.Scenario {
	s := bridged(cluster(4), "en3")
	s.Hubs[1].Capability = native.TB5
	return s
}

// After any changes both ends of every cable tell the same, and whoever reads
// at each hint knows all that there is to know.
func TestAnyChangesLeaveBothEndsInAgreement(t *testing.T) {
	for seed := range testkit.Upto(t, 8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := seed.Source(1)
			b := newBench(t, randomCluster())
			known := map[string]native.Snapshot{}
			for _, mac := range b.Macs() {
				known[mac] = b.snapshot(mac)
				if _, err := b.platforms[mac].Facts.Watch(func(native.Hint) { known[mac] = b.everything()[mac] }); err != nil {
					t.Fatal(err)
				}
			}
			for range 60 {
				op := randomOp(r)
				before := b.everything()
				if err := b.Apply(op); err != nil && !same(before, b.everything()) {
					t.Fatalf("%s failed with %v and changed something", op, err)
				}
				if r.IntN(4) == 0 {
					b.clock.Advance(time.Duration(r.IntN(15)) * time.Second)
				}
				checkWorld(t, b)
			}
			for _, mac := range b.Macs() {
				b.do("wake " + mac)
			}
			b.clock.Advance(time.Minute)
			if now := b.everything(); !same(known, now) {
				t.Fatalf("a change was not hinted at:\n%v\n%v", known, now)
			}
		})
	}
}

// everything is all facts, without the time of reading.
func (b *bench) everything() map[string]native.Snapshot {
	all := map[string]native.Snapshot{}
	for _, mac := range b.Macs() {
		s, err := b.platforms[mac].Facts.Snapshot(b.t.Context(), native.AllAreas()...)
		if err != nil {
			b.t.Fatal(err)
		}
		all[mac] = s
	}
	return all
}

func same(a, b map[string]native.Snapshot) bool {
	for mac, was := range a {
		is := b[mac]
		was.At, is.At = native.Timestamp{}, native.Timestamp{}
		if !reflect.DeepEqual(was, is) {
			return false
		}
	}
	return true
}

// Everything at once, for the race detector; at the end both ends agree.
func TestConcurrentUse(t *testing.T) {
	b := newBench(t, randomCluster())
	var users sync.WaitGroup
	for user := range uint64(4) {
		mac := b.Macs()[user]
		users.Go(func() {
			r := testkit.Seed(user).Source(2)
			for range 100 {
				_ = b.Apply(randomOp(r)) // many are refused
			}
		})
		users.Go(func() {
			for range 20 {
				p, err := b.Platform(mac)
				if err != nil {
					t.Error(err)
					return
				}
				stop, err := p.Facts.Watch(func(native.Hint) { _, _ = p.Facts.Snapshot(t.Context(), native.AreaNetwork) })
				if err != nil {
					t.Error(err)
				}
				_, err = p.Power.Notices(func(n native.PowerNotice) { _ = p.Power.Acknowledge(t.Context(), n.ID) })
				if err != nil {
					t.Error(err)
				}
				_, _ = p.Discovery.Announce(t.Context(), native.Announcement{Type: serviceType, Instance: mac, Port: 1, Interfaces: []string{"en0"}})
				_, _ = p.Discovery.Browse(t.Context(), serviceType, nil, func(native.Sighting) {})
				_ = p.Network.SetBridgeMember(t.Context(), "bridge0", "en3", false)
				b.Reach(mac)
				b.clock.Advance(time.Second)
				if stop != nil {
					_ = stop()
				}
				_ = p.Close()
			}
		})
	}
	users.Wait()
	checkWorld(t, b)
}

func TestBenchmarks(t *testing.T) { testkit.BenchmarksOnce(t) }

func BenchmarkSnapshot(b *testing.B) {
	s := cluster(16)
	for i := range 8 { // eight pairs
		op := parse(fmt.Sprintf("plug %c.tb1 %c.tb2", 'a'+2*i, 'b'+2*i))
		s.Cables = append(s.Cables, scenario.Cable{Ends: [2]scenario.End{op.Ends[0], op.Ends[1]}})
	}
	w, err := sim.New(s, nativetest.NewClock(time.Now()))
	is.New(b).NoErr(err)
	defer w.Close()
	p, err := w.Platform("a")
	is.New(b).NoErr(err)
	for _, area := range native.AllAreas() {
		b.Run(string(area), func(b *testing.B) {
			for b.Loop() {
				if _, err := p.Facts.Snapshot(b.Context(), area); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("a change", func(b *testing.B) {
		on, off := parse("plug a.tb3 c.tb3"), parse("unplug a.tb3")
		for b.Loop() {
			if err := w.Apply(on); err != nil {
				b.Fatal(err)
			}
			if err := w.Apply(off); err != nil {
				b.Fatal(err)
			}
		}
	})
}
