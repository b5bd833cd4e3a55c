package replica

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestThirtyTwoNodesConverge(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of signatures")
	}
	onScenario(t, 32, func(is *is.I, d *scenario) {
		const limit = 3 * time.Second
		d.joinAll()
		t.Logf("start: %s", d.agreedWithin(limit))
		d.wait(5 * time.Second)
		d.nodes[7].put(api.KindThunderbolt, "1", 1)
		took := d.agreedWithin(limit)
		is.True(took <= 10*time.Millisecond)
		// Half of them go out of the others' sight for an hour, and both halves go on.
		for i := range 16 {
			for j := 16; j < 32; j++ {
				d.cut(i, j)
			}
		}
		for i, m := range d.nodes {
			m.put(api.KindThunderbolt, "2", i)
			m.put(api.KindSharing, "", i)
		}
		d.wait(time.Hour)
		is.Equal(d.disagreement(0, 9, 15), "")
		is.True(d.disagreement(0, 16) != "")
		d.net.total()
		d.joinAll()
		t.Logf("heal of two halves: %s", d.agreedWithin(limit))
		d.wait(time.Second)
		bytes, calls := d.net.total()
		t.Logf("in it %d bytes in %d calls a node", bytes/32, calls/2/32)
	})
}

// What a cluster of each size sends. 11 documents a node is what one with four
// Thunderbolt ports has.
func TestGrowth(t *testing.T) {
	sizes := []int{2, 4}
	if !testing.Short() {
		sizes = append(sizes, 8, 16)
	}
	if *histories > 20 {
		sizes = append(sizes, 32, 64)
	}
	for _, n := range sizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				d := newScenario(t, n)
				defer d.close()
				for _, m := range d.nodes {
					for p := range 4 {
						m.put(api.KindThunderbolt, fmt.Sprint(p+1), p)
						m.put(api.KindRDMA, fmt.Sprint(p+1), p)
					}
					m.put(api.KindSharing, "", 1)
				}
				perNode := func() (bytes, calls float64) {
					b, c := d.net.total()
					return float64(b) / float64(n), float64(c) / 2 / float64(n)
				}
				d.joinAll()
				took := d.agreedWithin(6 * time.Second)
				d.wait(20 * time.Second)
				startBytes, startCalls := perNode()
				d.nodes[0].put(api.KindThunderbolt, "1", 9)
				d.agreedWithin(time.Second)
				d.wait(time.Second)
				writeBytes, writeCalls := perNode()
				d.wait(10 * time.Minute)
				idleBytes, idleCalls := perNode()
				t.Logf("%2d nodes: start %s %.0f B %.0f calls; a change %.0f B %.2f calls; idle %.2f B/s %.3f calls/s, all a node",
					n, took, startBytes, startCalls, writeBytes, writeCalls, idleBytes/600, idleCalls/600)
				is.True(writeCalls < 1)               // the writer alone tells the others
				is.True(idleBytes/600 < 20)           // does not grow with the cluster
				is.True(startBytes < float64(n)*40e3) // each node's documents once, and digests
			})
		})
	}
}
