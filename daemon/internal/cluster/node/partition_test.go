package node

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/gossip"
	"fulmen/native/memnet"
)

// split keeps the Macs of one half from those of the other, or no longer.
func (d *scenario) split(a, b []*mac, apart bool) {
	for _, m := range a {
		for _, o := range b {
			d.net.SetApart(m.host(), o.host(), apart)
		}
	}
}

// Both halves of a cut cluster go on, and agree after it. What is said 3 seconds
// after the heal reaches all as soon as ever.
func TestHalvesGoOnAndAgree(t *testing.T) {
	sizes := []int{4, 8}
	if os.Getenv("FULMEN_SOAK") != "" {
		sizes = append(sizes, 16, 32)
	}
	for _, n := range sizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			if n > 4 && testing.Short() {
				t.Skip("seconds of handshakes")
			}
			in(t, n, func(d *scenario) {
				is := is.New(d.t)
				left, right := d.macs[:n/2], d.macs[n/2:]
				d.macs[n-1].report(1)
				took := d.within(3*time.Second, received(d.macs, d.macs[n-1], 1))
				d.t.Logf("a change is everywhere after %s", took)

				d.split(left, right, true)
				d.pass(time.Minute)
				for i, m := range d.macs {
					m.report(100 + i)
				}
				d.within(3*time.Second, received(left, left[0], 100))
				d.within(3*time.Second, received(right, right[0], 100+n/2))
				is.Equal(d.disagreement(left), "")
				is.Equal(d.disagreement(right), "")
				is.Equal(left[0].receives(right[n/2-1]), 1) // what it knew before
				is.Equal(left[0].State(right[0].identity.Node).Liveness, api.LivenessUnreachable)
				is.Equal(left[0].State(left[1].identity.Node).Liveness, api.LivenessAlive)
				left[1].report(200)
				d.pass(time.Second)

				d.split(left, right, false)
				d.pass(3 * time.Second)
				right[1].report(300)
				took = d.within(3*time.Second, received(d.macs, right[1], 300))
				d.t.Logf("a change 3 s after the heal is everywhere after %s", took)
				d.t.Logf("all agree and are alive after %s more", d.whole(90*time.Second))
				is.Equal(right[0].receives(left[1]), 200)
			})
		})
	}
}

// liveness notes what a Mac thinks of others from now on.
func (m *mac) liveness() (reported func() []string) {
	var all []string
	stop := m.gossip.Watch(func(node api.NodeID, s gossip.State) {
		m.mu.Lock()
		defer m.mu.Unlock()
		all = append(all, fmt.Sprint(node, " ", s.Liveness))
	})
	return func() []string {
		stop()
		m.mu.Lock()
		defer m.mu.Unlock()
		return all
	}
}

// A cable is pulled, or the office's switch fails, and nobody is suspected.
func TestOneNetworkCutSuspectsNobody(t *testing.T) {
	for _, lan := range []string{"office", "cable"} {
		t.Run(lan, func(t *testing.T) {
			in(t, 4, func(d *scenario) {
				is := is.New(d.t)
				var reported []func() []string
				for _, m := range d.macs {
					reported = append(reported, m.liveness())
				}
				d.net.SetLAN(lan, false)
				d.pass(15 * time.Second)
				is.Equal(d.broken(d.macs, 1), "")
				d.macs[0].report(5)
				d.within(time.Second, received(d.macs, d.macs[0], 5))
				d.pass(5 * time.Minute)
				d.net.SetLAN(lan, true)
				d.whole(2 * time.Minute)
				for _, list := range reported {
					is.Equal(list(), nil)
				}
			})
		})
	}
}

// After a long cut nobody dials often any more, and nothing announces its end.
func TestHealAfterAnHour(t *testing.T) {
	if testing.Short() {
		t.Skip("an hour of heartbeats")
	}
	in(t, 4, func(d *scenario) {
		left, right := d.macs[:2], d.macs[2:]
		d.split(left, right, true)
		d.pass(time.Hour)
		d.split(left, right, false)
		took := d.whole(20 * time.Second)
		d.t.Logf("whole %s after the heal", took)
	})
}

// With the better network silent but not yet given up, what is said still
// arrives soon, by the other one.
func TestChangeDuringUnnoticedCut(t *testing.T) {
	in(t, 4, func(d *scenario) {
		d.net.SetLAN("cable", false)
		d.pass(100 * time.Millisecond)
		d.macs[0].report(5)
		took := d.within(3*time.Second, received(d.macs, d.macs[0], 5))
		d.t.Logf("a change while the best network is silently cut: %s", took)
	})
}

// Two nodes that only reach each other through a third hear each other all the
// same.
func TestHeardThroughAThird(t *testing.T) {
	in(t, 3, func(d *scenario) {
		is := is.New(d.t)
		a, b := d.macs[0], d.macs[2]
		d.split(d.macs[:1], d.macs[2:], true)
		d.pass(time.Minute)
		a.report(3)
		took := d.within(3*time.Second, received(d.macs, a, 3))
		is.True(took < time.Second)
		is.Equal(a.State(b.identity.Node).Liveness, api.LivenessSuspect)
	})
}

// A node that falls silent, as a Mac without power does, is found within ten seconds.
func TestSilenceIsFound(t *testing.T) {
	in(t, 3, func(d *scenario) {
		silent := d.macs[2]
		silent.apart(true)
		d.within(10*time.Second, func() string {
			for _, m := range d.macs[:2] {
				if m.State(silent.identity.Node).Liveness == api.LivenessAlive {
					return m.host() + " takes it for alive"
				}
			}
			return ""
		})
	})
}

// A node whose networks answer seconds late stays a member, and is not waited
// for.
func TestSlowNode(t *testing.T) {
	if testing.Short() {
		t.Skip("minutes of heartbeats")
	}
	bubble(t, func(d *scenario) {
		is := is.New(d.t)
		d.found(4)
		slow := d.macs[3]
		for _, m := range d.macs {
			m.start()
		}
		d.whole(time.Minute)
		d.net.SetQuality("office", memnet.Quality{Delay: time.Second}) // each way
		d.net.SetQuality("cable", memnet.Quality{Delay: time.Millisecond})
		d.net.SetPlug(slow.host(), "en5", false) // it has only the slow one
		d.pass(2 * time.Minute)
		d.macs[0].report(9)
		fast := d.macs[:3]
		took := d.within(time.Second, received(fast, d.macs[0], 9))
		d.t.Logf("the fast ones have heard after %s", took)
		is.True(took < 100*time.Millisecond)
		took = d.within(30*time.Second, received(d.macs, d.macs[0], 9))
		d.t.Logf("the slow one has heard after %s", took)
		d.pass(5 * time.Minute)
		for _, m := range fast {
			s := m.State(slow.identity.Node)
			d.t.Logf("%s has the slow one for %s since %s", m.host(), s.Liveness, s.Since)
			is.True(s.Liveness != api.LivenessLeft)
		}
		d.net.SetQuality("office", memnet.Quality{})
		d.net.SetPlug(slow.host(), "en5", true)
		d.whole(3 * time.Minute)
	})
}
