package replica

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
)

// watch is somebody who looks at live documents of a node; of all with a negative one.
func (d *scenario) watch(at, of int) (stop func()) {
	f := ledger.Filter{Kinds: []api.Kind{api.KindMemory, api.KindSystem}}
	if of >= 0 {
		f.Nodes = []api.NodeID{d.nodes[of].identity.Node}
	}
	_, w := d.nodes[at].ledger.Watch(ledger.WatchOptions{Name: "test", Filter: f})
	return w.Close
}

// moving reports whether a node has reason to read its live facts.
func (m *member) moving() bool { return m.ledger.Interested(api.KindMemory, m.identity.Node) }

func TestLiveKindsMoveWhileWatched(t *testing.T) {
	onScenario(t, 3, func(is *is.I, d *scenario) {
		d.joinAll()
		d.agreedWithin(time.Second)
		d.nodes[0].put(api.KindMemory, "", 1)
		d.wait(time.Second)
		is.Equal(d.nodes[1].value(d.nodes[0], api.KindMemory, ""), "")
		first, second := d.watch(1, 0), d.watch(1, 0)
		d.wait(20 * time.Millisecond)
		is.Equal(d.nodes[1].value(d.nodes[0], api.KindMemory, ""), `{"n":1}`) // the snapshot
		is.True(d.nodes[0].moving() && !d.nodes[2].moving())
		d.net.total()
		for i := range 20 {
			d.nodes[0].put(api.KindMemory, "", i+2)
			d.wait(500 * time.Millisecond)
			is.Equal(d.nodes[1].value(d.nodes[0], api.KindMemory, ""), d.nodes[0].value(d.nodes[0], api.KindMemory, ""))
		}
		is.Equal(d.net.count(noticeChanged), 20) // once for both who watch
		is.Equal(d.net.count(methodPut), 0)
		is.Equal(d.nodes[2].value(d.nodes[0], api.KindMemory, ""), "")
		first()
		d.wait(time.Second)
		is.True(d.nodes[0].moving())
		second()
		d.wait(time.Second)
		is.True(!d.nodes[0].moving())
		d.nodes[0].put(api.KindMemory, "", 99)
		d.wait(time.Minute)
		is.Equal(d.nodes[1].value(d.nodes[0], api.KindMemory, ""), `{"n":21}`)
	})
}

func TestLiveKindsAreTakenUpAgain(t *testing.T) {
	onScenario(t, 3, func(is *is.I, d *scenario) {
		d.joinAll()
		stop := d.watch(1, -1)
		sees := func(n int, limit time.Duration) {
			t.Helper()
			d.nodes[0].put(api.KindMemory, "", n)
			want := d.nodes[0].value(d.nodes[0], api.KindMemory, "")
			for began := time.Now(); d.nodes[1].value(d.nodes[0], api.KindMemory, "") != want; d.wait(10 * time.Millisecond) {
				if time.Since(began) > limit {
					t.Fatalf("%d was not seen within %s", n, limit)
				}
			}
		}
		sees(1, time.Second)
		d.cut(0, 1)
		d.wait(time.Millisecond)
		is.True(!d.nodes[0].moving()) // whoever is out of sight needs nothing read
		d.wait(time.Minute)
		d.join(0, 1)
		sees(2, time.Second)
		// A restart of which the watcher's side hears by a new path only.
		d.kill(0)
		d.nodes[0].start()
		d.join(0, 1)
		sees(3, time.Second)
		// With nothing left on its disk its versions begin anew, below those that are held.
		for i := range 100 {
			d.nodes[0].put(api.KindMemory, "", i)
		}
		d.wait(time.Second)
		d.kill(0)
		d.nodes[0].disk = newDisk()
		d.nodes[0].start()
		d.join(0, 1)
		sees(4, time.Second)
		// The other side loses the subscription with a connection, and nobody says so.
		r := d.nodes[0].replica
		r.mu.Lock()
		r.endServicesLocked(d.nodes[1].identity.Node, nil)
		r.mu.Unlock()
		sees(5, 20*time.Second)
		// Notifications get lost.
		d.lossy(0.3)
		for i := range 50 {
			d.nodes[0].put(api.KindMemory, "", i)
			d.wait(100 * time.Millisecond)
		}
		d.lossy(0)
		sees(6, 20*time.Second)
		stop()
		for i := range 10 { // a subscription whose answer was lost shows itself
			d.wait(time.Second)
			d.nodes[0].put(api.KindMemory, "", 1000+i)
		}
		d.wait(time.Minute)
		is.True(!d.nodes[0].moving() && !d.nodes[2].moving())
		for _, m := range d.nodes {
			_, lagged := m.ledger.Watchers()
			is.Equal(lagged, uint64(0))
			is.Equal(len(m.replica.serving), 0)
		}
	})
}

// Of kinds that are kept fresh a node hears that another one watches; their
// documents travel as they always do.
func TestFreshKindsAreWanted(t *testing.T) {
	onScenario(t, 2, func(is *is.I, d *scenario) {
		d.joinAll()
		d.agreedWithin(time.Second)
		wanted := func() bool { return d.nodes[0].ledger.Interested(api.KindGPUProfile, d.nodes[0].identity.Node) }
		is.True(!wanted())
		done := d.nodes[1].ledger.Want(ledger.Filter{Kinds: []api.Kind{api.KindGPUProfile}})
		d.wait(20 * time.Millisecond)
		is.True(wanted())
		d.net.total()
		d.nodes[0].put(api.KindGPUProfile, "", 1)
		d.wait(time.Second)
		is.Equal(d.nodes[1].value(d.nodes[0], api.KindGPUProfile, ""), `{"n":1}`)
		is.Equal(d.net.count(methodPut), 1)
		d.wait(10 * time.Minute) // it is kept up although nothing moves
		is.True(wanted())
		done()
		d.wait(time.Second)
		is.True(!wanted())
	})
}
