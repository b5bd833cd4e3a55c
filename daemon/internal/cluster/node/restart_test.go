package node

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// A daemon that starts again on a disk of any age says its own anew, and the
// others take it.
func TestRestart(t *testing.T) {
	for name, change := range map[string]func(m *mac, old *disk){
		"same disk": func(*mac, *disk) {},
		"old disk":  func(m *mac, old *disk) { m.disk = old },
		"lost documents": func(m *mac, _ *disk) {
			was := m.disk
			m.disk = newDisk()
			m.disk.roster, m.disk.met = was.roster, was.met
		},
		"clock an hour back": func(m *mac, _ *disk) { m.back = time.Hour },
		"clock a day ahead":  func(m *mac, _ *disk) { m.back = -24 * time.Hour },
	} {
		for _, farewell := range []bool{true, false} {
			if testing.Short() && name != "same disk" {
				continue // the same happens at the same time, on another disk or by another clock
			}
			t.Run(name, func(t *testing.T) {
				in(t, 4, func(d *scenario) {
					is := is.New(d.t)
					m := d.macs[2]
					old := m.disk.copied()
					m.put(api.KindSharing, "", json.RawMessage(`{"n":1}`))
					for n := range 20 {
						m.report(n)
						d.pass(50 * time.Millisecond)
					}
					d.pass(time.Second)
					if farewell {
						m.halt()
						d.pass(time.Second)
						is.Equal(d.macs[0].State(m.identity.Node).Liveness, api.LivenessLeft)
					} else {
						m.crash()
						d.pass(30 * time.Second)
						is.Equal(d.macs[0].State(m.identity.Node).Liveness, api.LivenessUnreachable)
					}
					is.Equal(d.macs[0].receives(m), 19) // what it said stays
					d.macs[0].report(33)
					change(m, old)
					m.start()
					m.report(50)
					d.whole(45 * time.Second) // what its owners do not put again within 30 s is deleted
					d.within(time.Second, received(d.macs, m, 50))
					is.Equal(m.receives(d.macs[0]), 33)
					m.report(51)
					d.within(3*time.Second, received(d.macs, m, 51))
					d.pass(2 * time.Minute)
					is.Equal(d.broken(d.macs, 2), "")
				})
			})
		}
	}
}

// A Mac whose database is lost founds a cluster of its own; with a code it is
// back in its place, with the same key.
func TestLostDatabase(t *testing.T) {
	in(t, 3, func(d *scenario) {
		is := is.New(d.t)
		m := d.macs[2]
		m.report(5)
		d.pass(time.Second)
		m.crash()
		m.disk = newDisk()
		m.start()
		d.pass(time.Minute)
		is.True(m.holder.Cluster() != d.macs[0].holder.Cluster())
		is.Equal(len(m.holder.Members()), 1)
		is.Equal(d.macs[0].receives(m), 5) // stale, and not lost
		code := d.macs[0].Pair(api.ClusterPairParams{}).Code
		d.pass(time.Second)
		is.NoErr(m.join(code))
		m.report(6)
		d.whole(30 * time.Second)
		d.within(time.Second, received(d.macs, m, 6))
		is.Equal(len(d.macs[0].holder.Members()), 3)
	})
}

// Whoever was away for longer than deletions are kept drops what it knew of
// others, so that nothing comes back from the dead.
func TestAwayForAMonth(t *testing.T) {
	in(t, 3, func(d *scenario) {
		is := is.New(d.t)
		writer, away := d.macs[0], d.macs[2]
		writer.put(api.KindGPUProfile, "", json.RawMessage(`{"n":1}`))
		d.pass(time.Second)
		key := api.Key{Node: writer.identity.Node, Kind: api.KindGPUProfile}
		_, had := away.ledger.Get(key)
		is.True(had)
		away.halt()
		d.must(writer.writer.Delete(api.KindGPUProfile, ""))
		for range 31 { // the others sleep, and compare once a day
			for _, m := range d.macs[:2] {
				m.halt()
			}
			d.pass(24 * time.Hour)
			for _, m := range d.macs[:2] {
				m.start()
			}
			d.within(time.Minute, func() string { return d.broken(d.macs[:2], 2) })
		}
		writer.report(3)
		away.start()
		d.whole(time.Minute)
		for _, m := range d.macs {
			_, isThere := m.ledger.Get(key)
			is.True(!isThere)
			is.Equal(m.receives(writer), 3)
		}
	})
}

// A month apart while both ran: neither was away, and what was deleted stays so.
func TestSplitForAMonth(t *testing.T) {
	if os.Getenv("FULMEN_SOAK") == "" {
		t.Skip("a month of timers")
	}
	in(t, 2, func(d *scenario) {
		is := is.New(d.t)
		a, b := d.macs[0], d.macs[1]
		a.put(api.KindGPUProfile, "", json.RawMessage(`{"n":1}`))
		d.pass(time.Second)
		key := api.Key{Node: a.identity.Node, Kind: api.KindGPUProfile}
		d.split(d.macs[:1], d.macs[1:], true)
		d.pass(time.Minute)
		d.must(a.writer.Delete(api.KindGPUProfile, ""))
		d.pass(31 * 24 * time.Hour)
		_, had := b.ledger.Get(key)
		is.True(had)
		d.split(d.macs[:1], d.macs[1:], false)
		d.whole(2 * time.Minute)
		_, isThere := b.ledger.Get(key)
		is.True(!isThere)
	})
}

// A cloned disk: two Macs with one key. The one that started last counts, the
// others go on undisturbed, and their logs say what is wrong.
func TestDuplicateIdentity(t *testing.T) {
	if testing.Short() {
		t.Skip("minutes of handshakes")
	}
	in(t, 3, func(d *scenario) {
		is := is.New(d.t)
		log := d.listen()
		d.macs[0].halt() // for its log
		d.macs[0].start()
		d.whole(time.Minute)
		original := d.macs[2]
		clone := d.add()
		clone.identity, clone.disk = original.identity, original.disk.copied()
		clone.start()
		d.pass(time.Minute)
		reported := d.macs[0].liveness()
		host := d.net.Host(d.macs[0].host())
		bytesBefore, _, dialsBefore := host.Traffic()
		minutes := 1 // every dial is a handshake of real work
		if os.Getenv("FULMEN_SOAK") != "" {
			minutes = 10
		}
		d.pass(time.Duration(minutes) * time.Minute)
		bytes, _, dials := host.Traffic()
		is.True(bytes-bytesBefore < int64(minutes)*60*10_000)
		is.True(dials-dialsBefore < int64(minutes)*60/2)
		is.Equal(reported(), nil) // the two say by turns that their addresses have changed
		d.macs[0].report(77)
		d.within(3*time.Second, received([]*mac{d.macs[1], clone}, d.macs[0], 77))
		clone.report(78)
		d.within(3*time.Second, received(d.macs[:2], clone, 78))
		is.Equal(d.broken(d.macs[:2], 2), "")
		is.Equal(strings.Count(log(), "reason=duplicate_identity"), 1) // once, not at every dial
		clone.halt()
		original.halt()
		original.start()
		d.whole(time.Minute)
		d.pass(twinForgotten + time.Minute)
		twins := d.macs[0].receivedTwins()
		is.Equal(len(twins), 2) // that it is there, and that it is gone
		is.Equal([]string{twins[0][0], twins[1][0]}, []string{string(original.identity.Node), string(original.identity.Node)})
		is.True(strings.Contains(twins[0][1], " by en") && twins[1][1] == "")
	})
}

// receivedTwins are what was told of machines with one identity.
func (m *mac) receivedTwins() [][2]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.twins)
}

// A daemon that takes any port waits for the first interface to have one.
func TestAnyPort(t *testing.T) {
	in(t, 2, func(d *scenario) {
		is := is.New(d.t)
		d.macs[1].halt()
		d.macs[1].blind = true
		d.macs[1].start()
		d.pass(time.Minute)
		is.Equal(d.macs[1].Port(), 0)
		d.macs[1].learn()
		d.whole(time.Minute)
		is.True(d.macs[1].Port() != 0)
	})
}
