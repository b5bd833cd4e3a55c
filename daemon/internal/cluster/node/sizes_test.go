package node

import (
	"fmt"
	"testing"
	"time"

	"github.com/matryer/is"
)

// received says who of some Macs has not heard a number of another one.
func received(macs []*mac, of *mac, n int) func() string {
	return func() string {
		for _, m := range macs {
			if m.receives(of) != n {
				return fmt.Sprintf("%s has %d of %s, not %d", m.host(), m.receives(of), of.host(), n)
			}
		}
		return ""
	}
}

// In soak 32 are in TestHalvesGoOnAndAgree, 64 in TestGrowth.
func TestClusterOfEverySize(t *testing.T) {
	for _, n := range []int{3, 16} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			if n > 3 && testing.Short() {
				t.Skip("seconds of handshakes")
			}
			bubble(t, func(d *scenario) {
				d.found(n)
				for _, m := range d.macs {
					m.start()
				}
				t.Logf("%d Macs are one after %s", n, d.whole(time.Minute))
			})
		})
	}
}

func TestChangeReachesAll(t *testing.T) {
	in(t, 3, func(d *scenario) {
		is := is.New(d.t)
		d.macs[1].report(7)
		took := d.within(3*time.Second, received(d.macs, d.macs[1], 7))
		is.True(took < 100*time.Millisecond)
	})
}
