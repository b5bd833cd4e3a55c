package replica

import (
	"fmt"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
)

func TestOrphansEndUnlessTheyArePutAgain(t *testing.T) {
	onScenario(t, 3, func(is *is.I, d *scenario) {
		lost := d.nodes[0]
		for _, name := range []string{"1", "2", "3"} {
			lost.put(api.KindThunderbolt, name, 1)
		}
		lost.put(api.KindSharing, "", 1)
		d.joinAll()
		d.agreedWithin(time.Second)
		d.kill(0)
		lost.disk = newDisk()
		lost.start()
		lost.put(api.KindThunderbolt, "1", 5)
		d.join(0, 1)
		d.join(0, 2)
		d.wait(10 * time.Second)
		is.Equal(d.nodes[1].value(lost, api.KindThunderbolt, "1"), `{"n":5}`) // counts at once
		is.Equal(d.nodes[1].value(lost, api.KindSharing, ""), `{"n":1}`)
		lost.put(api.KindThunderbolt, "2", 6) // its owner had not come to it yet
		d.wait(21 * time.Second)
		d.agreedWithin(time.Second)
		is.Equal(d.nodes[2].value(lost, api.KindThunderbolt, "2"), `{"n":6}`)
		is.Equal(d.nodes[2].value(lost, api.KindThunderbolt, "3"), "")
		is.Equal(d.nodes[2].value(lost, api.KindSharing, ""), "")
		d.net.total()
		d.wait(10 * time.Minute)
		is.Equal(d.net.count(methodPut), 0)
	})
}

// A disk that was set back gives versions away a second time; whoever is not the
// writer's neighbour has the other document.
func TestVersionUsedTwice(t *testing.T) {
	onScenario(t, 5, func(is *is.I, d *scenario) {
		for i := range 4 {
			d.join(i, i+1)
		}
		d.agreedWithin(3 * time.Second)
		before := d.nodes[0].disk.copied()
		d.kill(0)
		d.nodes[0].start()
		d.join(0, 1)
		d.nodes[0].put(api.KindSharing, "", 1)
		d.agreedWithin(3 * time.Second)
		d.cut(1, 2)
		d.kill(0)
		d.nodes[0].disk = before
		d.nodes[0].start()
		d.nodes[0].put(api.KindSharing, "", 2)
		version := func(i int) api.Version {
			rec, _ := d.nodes[i].ledger.Latest(api.Key{Node: d.nodes[0].identity.Node, Kind: api.KindSharing})
			return rec.Version()
		}
		is.Equal(version(0), version(4))
		is.NoErr(d.nodes[1].ledger.Forget(d.nodes[0].identity.Node)) // as if it had not been there
		d.join(0, 1)
		d.agreedWithin(3*time.Second, 0, 1)
		d.join(1, 2)
		d.agreedWithin(5 * time.Second)
		is.Equal(d.nodes[4].value(d.nodes[0], api.KindSharing, ""), `{"n":2}`)
		for _, m := range d.nodes {
			is.Equal(len(m.ledger.List(ledger.Filter{Nodes: []api.NodeID{d.nodes[0].identity.Node}})), 3)
		}
	})
}

// A node that lost what it had stored gets back from the others what still counts of
// it, within seconds of meeting them; all agree, and nobody ends it.
func TestWhatWasLostComesBack(t *testing.T) {
	onScenario(t, 3, func(is *is.I, d *scenario) {
		lost := d.nodes[0]
		const jobs = 200
		for n := range jobs {
			lost.put(api.KindJob, fmt.Sprintf("j%08d", n), n)
		}
		lost.put(api.KindSharing, "", 1)
		d.joinAll()
		d.agreedWithin(3 * time.Second)
		d.kill(0)
		lost.disk, lost.takesBack = newDisk(), func(doc api.Document) bool { return doc.Kind == api.KindJob }
		lost.start()
		d.join(0, 1)
		d.join(0, 2)
		d.wait(10 * time.Second)
		have := func(m *member) int {
			return len(m.ledger.List(ledger.Filter{Kinds: []api.Kind{api.KindJob}, Nodes: []api.NodeID{lost.identity.Node}}))
		}
		for _, m := range d.nodes {
			is.Equal(have(m), jobs)
			is.Equal(m.value(lost, api.KindJob, "j00000007"), `{"n":7}`)
		}
		d.wait(10 * time.Minute) // the orphans among it have ended
		d.agreedWithin(time.Second)
		for _, m := range d.nodes {
			is.Equal(have(m), jobs)
			is.Equal(m.value(lost, api.KindSharing, ""), "")
		}
	})
}
