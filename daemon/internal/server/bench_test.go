package server_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server/servertest"
	"fulmen/native/nativetest/testkit"
)

func TestBenchmarks(t *testing.T) { testkit.BenchmarksOnce(t) }

// BenchmarkFanOut100 changes one document with 100 watchers on real sockets;
// an operation is done when all have it. Latencies are those of each watcher,
// from the moment of the change.
func BenchmarkFanOut100(b *testing.B) {
	const watchers = 100
	a := servertest.Start(b, nil)
	token := a.Token(b)
	latency := make([][]time.Duration, watchers)
	sent := make([]time.Time, b.N+1)
	var got, watching sync.WaitGroup
	for i := range watchers {
		w := dialSocket(b, a)
		if i%2 == 0 {
			w = dialToken(b, a, token)
		}
		w.ok("state.watch", `{"kinds":["memory"]}`, nil)
		latency[i] = make([]time.Duration, 0, b.N)
		watching.Go(func() {
			for {
				text, err := w.readText()
				if err != nil {
					b.Error(err)
					got.Done()
					return
				}
				now := time.Now()
				var m message
				var c api.StateChanged
				if unmarshal(text, &m) != nil || unmarshal(string(m.Params), &c) != nil || len(c.Put) != 1 {
					b.Errorf("not a change: %s", text)
				}
				seq := c.Put[0].Seq
				latency[i] = append(latency[i], now.Sub(sent[seq]))
				got.Done()
				if seq == uint64(b.N) {
					return
				}
			}
		})
	}
	docs := make([]api.Document, b.N+1)
	for n := 1; n <= b.N; n++ {
		docs[n] = memory(b, uint64(n))
	}
	b.ResetTimer()
	for n := 1; n <= b.N; n++ {
		got.Add(watchers)
		sent[n] = time.Now()
		a.Facts.Put(docs[n])
		got.Wait()
	}
	b.StopTimer()
	watching.Wait()
	all := slices.Concat(latency...)
	slices.Sort(all)
	b.ReportMetric(float64(len(all))/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(all[len(all)/2].Microseconds()), "p50-us")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "p99-us")
}

// BenchmarkCall is one request and its reply on the Unix socket.
func BenchmarkCall(b *testing.B) {
	a := servertest.Start(b, nil)
	w := dialSocket(b, a)
	for b.Loop() {
		w.ok("state.get", `{"kinds":["memory"]}`, nil)
	}
}
