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
	"fulmen/native/nativetest/testkit"
)

// After any sequence of writes, cuts, heals and restarts, Macs that reach each
// other again agree, and what each has said last is what all have.
func TestAnySequence(t *testing.T) {
	rounds, steps := 3, 60
	if testing.Short() {
		rounds, steps = 1, 25
	}
	if os.Getenv("FULMEN_SOAK") != "" {
		rounds = 100
	}
	for seed := range testkit.Upto(t, rounds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			in(t, 5, func(d *scenario) {
				is := is.New(d.t)
				random := seed.Source(9)
				reported := map[*mac]int{}
				lans := []string{"office", "cable"}
				any := func() *mac { return d.macs[random.IntN(len(d.macs))] }
				for step := range steps {
					m, o := any(), any()
					switch op := random.IntN(10); {
					case op < 4:
						if m.stop != nil {
							m.put(api.KindGPUProfile, "", json.RawMessage(fmt.Sprintf(`{"n":%d}`, step)))
							reported[m] = step
						}
					case op < 6 && m != o:
						d.net.SetApart(m.host(), o.host(), random.IntN(2) == 0)
					case op == 6:
						d.net.SetLAN(lans[random.IntN(2)], random.IntN(3) > 0)
					case op == 7:
						lossy := memnet.Quality{Delay: time.Duration(random.IntN(20)) * time.Millisecond, LossRatio: random.Float64() / 5}
						d.net.SetQuality(lans[random.IntN(2)], lossy)
					case op == 8 && m.stop != nil:
						m.halt()
					case m.stop == nil:
						m.back = time.Duration(random.IntN(3)-1) * time.Hour
						m.start()
					}
					d.pass(time.Duration(random.IntN(5000)) * time.Millisecond)
				}
				for _, m := range d.macs {
					m.apart(false)
					if m.stop == nil {
						m.start()
					}
				}
				for _, lan := range lans {
					d.net.SetLAN(lan, true)
					d.net.SetQuality(lan, memnet.Quality{Delay: time.Millisecond})
				}
				took := d.whole(2 * time.Minute)
				for m, n := range reported { // nothing that was written is lost
					for _, o := range d.macs {
						record, found := o.ledger.Get(api.Key{Node: m.identity.Node, Kind: api.KindGPUProfile})
						is.True(found)
						var value struct{ N int }
						is.NoErr(record.Decode(&value))
						is.Equal(value.N, n)
					}
				}
				d.t.Logf("seed %d: one again after %s", seed, took)
				d.pass(5 * time.Minute)
				is.Equal(d.broken(d.macs, 2), "")
			})
		})
	}
}
