package node

import (
	"maps"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// Members whose clocks differ know of it, both of them: when they meet, when one's clock
// is set, and when it is mended.
func TestClocksThatDiffer(t *testing.T) {
	in(t, 3, func(d *scenario) {
		is := is.New(d.t)
		a, b, c := d.macs[0], d.macs[1], d.macs[2]
		knows := func(m *mac, want map[api.NodeID]time.Duration) func() string {
			return func() string {
				m.mu.Lock()
				defer m.mu.Unlock()
				if !maps.EqualFunc(m.ahead, want, func(x, y time.Duration) bool { return (x - y).Abs() <= time.Second }) {
					return m.name() + " has not seen the clocks as they are"
				}
				return ""
			}
		}
		d.pass(time.Minute)
		is.Equal(len(a.ahead)+len(b.ahead)+len(c.ahead), 0)

		b.set.Store(int64(15 * time.Minute))
		b.CompareClocks()
		d.within(5*time.Second, knows(a, map[api.NodeID]time.Duration{b.identity.Node: 15 * time.Minute}))
		d.within(5*time.Second, knows(b, map[api.NodeID]time.Duration{a.identity.Node: -15 * time.Minute, c.identity.Node: -15 * time.Minute}))
		b.set.Store(0) // and nobody says so
		for _, m := range d.macs {
			d.within(2*clockAgain, knows(m, nil))
		}

		c.halt()
		c.back = 20 * time.Minute
		c.start()
		d.within(time.Minute, knows(a, map[api.NodeID]time.Duration{c.identity.Node: -20 * time.Minute}))
		d.within(time.Minute, knows(c, map[api.NodeID]time.Duration{a.identity.Node: 20 * time.Minute, b.identity.Node: 20 * time.Minute}))
		c.halt()
		d.within(time.Minute, knows(a, nil))
	})
}
