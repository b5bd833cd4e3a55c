package rank

import (
	"slices"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

func TestBenchmarks(t *testing.T) { testkit.BenchmarksOnce(t) }

// BenchmarkStart is from the home's request to the program that runs, and from
// the program's end to the document that says so.
func BenchmarkStart(b *testing.B) {
	m := newMac(b)
	spawned := make(chan time.Time, 1)
	ended := make(chan api.Rank, 1)
	m.config = func(c *Config) {
		c.Spawned = func(api.RankRef) { spawned <- time.Now() }
		c.Ended = func(doc api.Rank) { ended <- doc }
	}
	m.boot()
	var starts, ends []time.Duration
	p := m.params(m.spec("exit 0"))
	for b.Loop() {
		p.Rank.Attempt++
		began := time.Now()
		m.mustStart(p)
		starts = append(starts, (<-spawned).Sub(began))
		doc := <-ended
		ends = append(ends, time.Since(doc.EndedAt.Time))
	}
	report := func(name string, all []time.Duration) {
		slices.Sort(all)
		b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, name+"-p50-ms")
		b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, name+"-p99-ms")
	}
	report("spawned", starts)
	report("ended", ends)
}
