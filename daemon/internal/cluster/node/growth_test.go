package node

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/memnet"
)

// rate is what a node sends on average: payload of TCP and writes, TLS included,
// headers of IP and TCP and acknowledgements not.
type rate struct{ bytes, packets, dials float64 }

// sent is what the Macs have sent so far, all together.
func (d *scenario) sent() (r rate) {
	for _, m := range d.macs {
		bytes, packets, dials := d.net.Host(m.host()).Traffic()
		r.bytes, r.packets, r.dials = r.bytes+float64(bytes), r.packets+float64(packets), r.dials+float64(dials)
	}
	return r
}

// during is the rate, a node and second, of what f takes.
func (d *scenario) during(f func()) rate {
	began, before := time.Now(), d.sent()
	f()
	after, per := d.sent(), time.Since(began).Seconds()*float64(len(d.macs))
	return rate{(after.bytes - before.bytes) / per, (after.packets - before.packets) / per, (after.dials - before.dials) / per}
}

// What a node of a cluster sends, by the cluster's size: docs/scale.md has the
// table.
func TestGrowth(t *testing.T) {
	if testing.Short() {
		t.Skip("counts bytes and packets for minutes")
	}
	sizes := []int{2, 4, 8}
	if os.Getenv("FULMEN_SOAK") != "" {
		sizes = append(sizes, 16, 32, 64)
	}
	t.Log("nodes | start kB | idle B/s | idle packets/s | one change/s B/s | packets/s | a change is everywhere after")
	for _, n := range sizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			bubble(t, func(d *scenario) {
				is := is.New(d.t)
				d.found(n)
				// Not in the largest: every packet would be an event of its own.
				for _, lan := range []string{"office", "cable"} {
					if n > 16 {
						break
					}
					d.net.SetQuality(lan, memnet.Quality{Delay: 500 * time.Microsecond, Jitter: 200 * time.Microsecond})
				}
				start := d.during(func() {
					for _, m := range d.macs {
						m.start()
						for port := range 4 {
							m.put(api.KindThunderbolt, fmt.Sprint(port+1), json.RawMessage(`{"n":1,"padding":"`+fmt.Sprintf("%400d", port)+`"}`))
							m.put(api.KindRDMA, fmt.Sprint(port+1), json.RawMessage(`{"padding":"`+fmt.Sprintf("%200d", port)+`"}`))
						}
						m.put(api.KindSharing, "", json.RawMessage(`{"jobs":"mapped"}`))
						m.put(api.KindNodeState, "", json.RawMessage(`{"state":"awake"}`))
					}
					d.whole(time.Minute)
					d.pass(time.Minute)
				})
				perStart := start.bytes * 60 / 1000
				idle := d.during(func() { d.pass(10 * time.Minute) })
				var took time.Duration
				busy := d.during(func() {
					for i := range 120 {
						d.macs[i%n].report(i)
						took = max(took, d.within(3*time.Second, received(d.macs, d.macs[i%n], i)))
						d.pass(time.Second - took)
					}
				})
				d.t.Logf("%5d | %8.0f | %8.0f | %14.2f | %16.0f | %9.2f | %s", n, perStart, idle.bytes, idle.packets, busy.bytes, busy.packets, took)
				is.True(idle.bytes < 2000)
				is.True(idle.dials < 0.2)
				is.Equal(d.broken(d.macs, 2), "")
			})
		})
	}
}
