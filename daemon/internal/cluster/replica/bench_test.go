package replica

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
	"fulmen/native/nativetest/testkit"
)

// reported is Calls that answers at once and counts down the documents that are timed.
type reported struct {
	mu   sync.Mutex
	left int
	done chan struct{}
}

func (c *reported) Call(_ context.Context, _ api.NodeID, method string, params, _ any) error {
	raw, err := json.Marshal(params)
	if count := bytes.Count(raw, []byte(`"name":"1"`)); method == methodPut && count > 0 {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.left -= count; c.left == 0 {
			c.done <- struct{}{}
		}
	}
	return err
}

func (c *reported) Notify(api.NodeID, string, any) error { return nil }

func TestBenchmarks(t *testing.T) { testkit.BenchmarksOnce(t) }

// BenchmarkFanOut is from a write to its being encoded for every neighbour,
// signature included, network not.
func BenchmarkFanOut(b *testing.B) {
	for _, n := range []int{3, 15, 31, 63} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			self := identityOf(0)
			roster, err := cluster.FoundRoster(self, time.Now())
			for i := range n {
				if err == nil {
					roster, err = roster.Add(self, identityOf(i+1).Public(), time.Now())
				}
			}
			if err != nil {
				b.Fatal(err)
			}
			calls := &reported{done: make(chan struct{}, 1)}
			clock, err := native.SystemClock()
			if err != nil {
				b.Fatal(err)
			}
			l, w, err := ledger.Open(ledger.Options{Key: self.Key(), Cluster: roster.Cluster(), Counter: newDisk()})
			if err != nil {
				b.Fatal(err)
			}
			r, err := New(Options{Ledger: l, Writer: w, Roster: &holder{roster: roster}, Calls: calls, Clock: clock})
			if err != nil {
				b.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			over := make(chan struct{})
			go func() { defer close(over); r.Run(ctx) }()
			for i := range n {
				r.PeerUp(identityOf(i + 1).Node)
			}
			value := json.RawMessage(`{"name":"a document of two hundred bytes","text":"` + fmt.Sprintf("%0140d", 7) + `"}`)
			b.ReportAllocs()
			for b.Loop() {
				calls.mu.Lock()
				calls.left = n
				calls.mu.Unlock()
				if err := w.Put(ledger.Draft{Kind: api.KindThunderbolt, Name: "1", Value: value, Again: true}); err != nil {
					b.Fatal(err)
				}
				<-calls.done
			}
			cancel()
			<-over
		})
	}
}

// BenchmarkInventory is taking stock of a cluster of 32 with 11 documents a node, of
// which one has come since.
func BenchmarkInventory(b *testing.B) {
	d := newScenario(b, 32)
	defer d.close()
	for _, m := range d.nodes {
		for p := range 9 {
			m.put("from-the-future", fmt.Sprint(p), p)
		}
		for _, rec := range m.ledger.List(ledger.Filter{}) {
			if _, err := d.nodes[0].ledger.PutForeign(rec.Document()); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		d.nodes[0].put("from-the-future", "0", 10+i)
		b.StartTimer()
		d.nodes[0].replica.inventory()
	}
}
