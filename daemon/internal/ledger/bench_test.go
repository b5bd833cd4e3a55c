package ledger

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

func TestBenchmarks(t *testing.T) { testkit.BenchmarksOnce(t) }

func BenchmarkPut(b *testing.B) {
	r := newRig(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := r.w.Put(Draft{Kind: api.KindMemory, Value: value(i)}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPutUnchanged(b *testing.B) {
	r := newRig(b)
	b.ReportAllocs()
	for b.Loop() {
		if err := r.w.Put(Draft{Kind: api.KindMemory, Value: value(1)}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFanOut100 publishes as fast as it can to 100 readers, each on a
// goroutine of its own. It reports what is put a second, and how long a version
// that was delivered took from the call of Put to the reader.
func BenchmarkFanOut100(b *testing.B) { fanOut(b, 0) }

// BenchmarkFanOut100Paced publishes 10,000 a second, the rate that is promised.
func BenchmarkFanOut100Paced(b *testing.B) { fanOut(b, 100*time.Microsecond) }

func fanOut(b *testing.B, pace time.Duration) {
	const readers = 100
	r := newRig(b, func(o *Options) { o.Now = time.Now })
	put := make([]time.Time, 1<<21) // when each version was put, by seq
	delays := make([][]time.Duration, readers)
	ctx, cancel := context.WithCancel(b.Context())
	var all sync.WaitGroup
	for i := range readers {
		_, w := r.Watch(WatchOptions{Name: fmt.Sprint(i)})
		all.Go(func() {
			defer w.Close()
			for {
				c, err := w.Next(ctx)
				if err != nil {
					return
				}
				now := time.Now()
				for _, rec := range c.Put {
					delays[i] = append(delays[i], now.Sub(put[rec.Version().Seq]))
				}
			}
		})
	}
	began, n := time.Now(), 0
	for ; b.Loop(); n++ {
		if pace > 0 {
			if early := time.Until(began.Add(time.Duration(n) * pace)); early > 0 {
				<-time.After(early)
			}
		}
		if n+1 == len(put) {
			b.Skip("too many")
		}
		put[n+1] = time.Now()
		if err := r.w.Put(Draft{Kind: api.KindThunderbolt, Name: fmt.Sprint(1 + n%64), Value: value(n)}); err != nil {
			b.Fatal(err)
		}
	}
	took := time.Since(began)
	cancel()
	all.Wait()
	merged := slices.Sorted(slices.Values(slices.Concat(delays...)))
	b.ReportMetric(float64(n)/took.Seconds(), "put/s")
	b.ReportMetric(float64(len(merged))/took.Seconds(), "delivered/s")
	if len(merged) == 0 {
		return // of a few that are put, none may have arrived
	}
	b.ReportMetric(float64(merged[len(merged)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(merged[len(merged)*99/100].Microseconds()), "p99-µs")
}
