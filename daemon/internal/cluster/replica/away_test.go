package replica

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
)

const day = 24 * time.Hour

// onSlowScenario is onScenario for a test over weeks, which would compare digests a
// hundred thousand times.
func onSlowScenario(t *testing.T, n int, f func(*is.I, *scenario)) {
	synctest.Test(t, func(t *testing.T) {
		d := newScenarioWith(t, n, Timing{Period: 2 * time.Hour})
		defer d.close()
		f(is.New(t), d)
	})
}

// A node comes back when those who deleted something have forgotten that they did.
func TestNodeAwayForLongerThanDeletionsAreKept(t *testing.T) {
	if testing.Short() {
		t.Skip("a month of comparisons")
	}
	for _, how := range []string{"asleep", "restarted"} {
		t.Run(how, func(t *testing.T) {
			onSlowScenario(t, 3, func(is *is.I, d *scenario) {
				d.nodes[0].put(api.KindJob, "j0000000a", 1)
				d.nodes[1].put(api.KindJob, "j0000000b", 1)
				d.joinAll()
				d.agreedWithin(time.Second)
				d.cut(0, 2)
				d.cut(1, 2)
				if how == "restarted" {
					d.kill(2)
				}
				is.NoErr(d.nodes[0].writer.Delete(api.KindJob, "j0000000a"))
				d.wait(31 * day)
				d.nodes[0].put(api.KindNetwork, "", 2) // sweeps
				d.nodes[1].put(api.KindNetwork, "", 2)
				if how == "restarted" {
					d.nodes[2].start()
				}
				is.Equal(d.nodes[2].value(d.nodes[0], api.KindJob, "j0000000a"), `{"n":1}`)
				d.join(2, 1)
				d.agreedWithin(time.Second)
				is.Equal(d.nodes[1].value(d.nodes[0], api.KindJob, "j0000000a"), "")
				is.Equal(d.nodes[2].value(d.nodes[1], api.KindJob, "j0000000b"), `{"n":1}`)
				is.Equal(len(d.nodes[2].ledger.List(ledger.Filter{Kinds: []api.Kind{api.KindJob}, Deleted: true})), 1)
			})
		})
	}
}

func TestNodeAwayForShorterKeepsWhatItHas(t *testing.T) {
	onSlowScenario(t, 3, func(is *is.I, d *scenario) {
		d.nodes[0].put(api.KindJob, "j0000000a", 1)
		d.joinAll()
		d.agreedWithin(time.Second)
		d.cut(0, 2)
		d.cut(1, 2)
		d.kill(2)
		d.kill(0)
		d.wait(20 * day)
		d.nodes[2].start()
		d.join(1, 2)
		d.wait(time.Second)
		is.Equal(d.nodes[2].value(d.nodes[0], api.KindJob, "j0000000a"), `{"n":1}`)
	})
}

// Deletions end everywhere, and nobody brings them back to those who have
// forgotten them, though they came to each at another time.
func TestDeletionsEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("a month of comparisons")
	}
	for _, back := range []time.Duration{0, 700 * day} {
		onSlowScenario(t, 3, func(is *is.I, d *scenario) {
			d.kill(0)
			d.nodes[0].back = back
			d.nodes[0].start()
			d.join(0, 1)
			d.nodes[0].put(api.KindThunderbolt, "1", 1)
			is.NoErr(d.nodes[0].writer.Delete(api.KindThunderbolt, "1"))
			d.wait(20 * time.Hour)
			d.join(1, 2)
			d.agreedWithin(time.Second) // also where it was written long ago, by its date
			count := func() (n int) {
				for _, m := range d.nodes {
					n += len(m.ledger.List(ledger.Filter{Kinds: []api.Kind{api.KindThunderbolt}, Deleted: true}))
				}
				return n
			}
			is.Equal(count(), 3)
			for i := range 32 {
				d.wait(day)
				for _, m := range d.nodes {
					m.put(api.KindNetwork, "", i)
				}
			}
			is.Equal(count(), 0)
			d.agreedWithin(time.Second)
		})
	}
}
