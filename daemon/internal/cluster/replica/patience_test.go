package replica

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
)

// What may wait goes late, in its last version and with all that came meanwhile;
// whoever is excepted hears of every version at once, and so does everybody of what
// goes beside a document that may not wait.
func TestPatience(t *testing.T) {
	onDesk(t, 3, func(is *is.I, d *desk) {
		d.joinAll()
		d.agreedWithin(time.Second)
		d.wait(2 * time.Second)
		writer, driver, other := d.nodes[0], d.nodes[1], d.nodes[2]
		isPatient := func(p Patience) {
			d.net.mu.Lock()
			defer d.net.mu.Unlock()
			d.patience = func(rec *ledger.Record) (Patience, bool) { return p, rec.Key().Name != "1" }
		}
		sees := func(m *member, name, want string) {
			t.Helper()
			is.Helper()
			is.Equal(m.value(writer, api.KindThunderbolt, name), want)
		}
		isPatient(Patience{Except: []api.NodeID{driver.identity.Node}})
		const gather, short = 50 * time.Millisecond, 10 * time.Millisecond
		d.net.total()
		for n := range 3 {
			writer.put(api.KindThunderbolt, "3", n)
			d.wait(short)
		}
		sees(driver, "3", `{"n":2}`)
		sees(other, "3", "")
		is.Equal(d.net.count(methodPut), 3)
		writer.put(api.KindThunderbolt, "2", 1)
		d.wait(gather - 2*short)
		sees(other, "3", `{"n":2}`)
		sees(other, "2", `{"n":1}`)
		is.Equal(d.net.count(methodPut), 3+1+1)

		writer.put(api.KindThunderbolt, "3", 3)
		d.wait(short)
		sees(other, "3", `{"n":2}`)
		writer.put(api.KindThunderbolt, "1", 1) // which does not wait
		d.wait(short)
		sees(other, "3", `{"n":3}`)
		sees(other, "1", `{"n":1}`)
		is.NoErr(writer.writer.Delete(api.KindThunderbolt, "2")) // nor does an end
		d.wait(short)
		sees(other, "2", "")

		_, w := other.ledger.Watch(ledger.WatchOptions{Name: "test", Filter: ledger.Filter{Kinds: []api.Kind{api.KindThunderbolt}}})
		defer w.Close()
		writer.put(api.KindThunderbolt, "3", 4)
		d.wait(2 * gather) // by which it knows that somebody looks
		writer.put(api.KindThunderbolt, "3", 5)
		d.wait(short)
		sees(other, "3", `{"n":5}`)
		isPatient(Patience{EvenWatched: true})
		writer.put(api.KindThunderbolt, "3", 6)
		d.wait(short)
		sees(other, "3", `{"n":5}`)
		sees(driver, "3", `{"n":5}`)
		d.wait(gather)
		sees(other, "3", `{"n":6}`)
		sees(driver, "3", `{"n":6}`)

		// Where somebody is out of reach for this node, others pass on what it says at once.
		d.cut(0, 2)
		d.wait(2 * time.Second)
		isPatient(Patience{})
		writer.put(api.KindThunderbolt, "3", 7)
		d.wait(short)
		sees(other, "3", `{"n":7}`)
	})
}
