package replica

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
)

// Who wrote last knows where somebody looks, and tells those first.
func TestWatchedIsToldFirst(t *testing.T) {
	onScenario(t, 3, func(is *is.I, d *scenario) {
		d.joinAll()
		d.agreedWithin(time.Second)
		watched := func() (nodes []api.NodeID) {
			r := d.nodes[0].replica
			r.notify(nil, func(p *peer) bool {
				if p.isWatched {
					nodes = append(nodes, p.node)
				}
				return false
			})
			return nodes
		}
		change := func(n int) {
			d.nodes[0].put(api.KindThunderbolt, "3", n)
			d.agreedWithin(time.Second)
			d.wait(time.Second)
		}
		of := func(kind api.Kind, passive bool) *ledger.Watcher {
			_, w := d.nodes[2].ledger.Watch(ledger.WatchOptions{Name: "test", Filter: ledger.Filter{Kinds: []api.Kind{kind}}, Passive: passive})
			return w
		}
		passive, other := of(api.KindThunderbolt, true), of(api.KindNetwork, false)
		defer passive.Close()
		defer other.Close()
		change(1)
		is.Equal(len(watched()), 0) // nobody looks at it
		w := of(api.KindThunderbolt, false)
		change(2)
		is.Equal(watched(), []api.NodeID{d.nodes[2].identity.Node})
		w.Close()
		change(3)
		is.Equal(len(watched()), 0) // nobody any more
	})
}

// What is put together by hand is what the encoder makes.
func TestMessageIsEncodedAsItsType(t *testing.T) {
	onScenario(t, 2, func(is *is.I, d *scenario) {
		writer, l := d.nodes[0].writer, d.nodes[0].ledger
		is.NoErr(writer.Put(ledger.Draft{Kind: "from-the-future", Name: "big", Value: big(bigBytes)}))
		record := func(name string) *ledger.Record {
			r, found := l.Latest(api.Key{Node: l.Node(), Kind: "from-the-future", Name: name})
			is.True(found)
			return r
		}
		var small []*ledger.Record
		for i := range 3 {
			name := fmt.Sprintf("<%d>", i)
			is.NoErr(writer.Put(ledger.Draft{Kind: "from-the-future", Name: name, Value: big(10)}))
			small = append(small, record(name))
		}
		node := d.nodes[1].identity.Node
		for name, m := range map[string]message{
			"nothing": {}, "one": {docs: small[:1]}, "three": {docs: small, isRepair: true},
			"an offer":           {docs: []*ledger.Record{record("big")}, missed: []api.NodeID{node}},
			"an offer in others": {docs: []*ledger.Record{small[0], record("big"), small[1]}},
			"a hint":             {missed: []api.NodeID{node, l.Node()}},
		} {
			got, err := m.encode()
			is.NoErr(err)
			want := putParams{Docs: []json.RawMessage{}, Missed: m.missed, Repair: m.isRepair}
			for _, rec := range m.docs {
				if rec.SizeBytes() > bigBytes {
					want.Offer = append(want.Offer, api.KeyVersion{Key: rec.Key(), Version: rec.Version()})
					continue
				}
				raw, err := rec.JSON()
				is.NoErr(err)
				want.Docs = append(want.Docs, raw)
			}
			text, err := json.Marshal(want)
			is.NoErr(err)
			if string(got) != string(text) {
				t.Errorf("%s:\n%s\nis not\n%s", name, got, text)
			}
		}
	})
}

// What is written before Run, when neighbours are there already, is told at once
// when it begins, and not first by the next comparison.
func TestNothingIsMissedBeforeRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		self, other := identityOf(0), identityOf(1)
		if self.Node < other.Node { // whose comparison begins a second later
			self, other = other, self
		}
		roster, err := cluster.FoundRoster(self, time.Now())
		is.NoErr(err)
		roster, err = roster.Add(self, other.Public(), time.Now())
		is.NoErr(err)
		l, w, err := ledger.Open(ledger.Options{Key: self.Key(), Cluster: roster.Cluster(), Counter: newDisk()})
		is.NoErr(err)
		began := time.Now()
		calls := &reported{left: 1, done: make(chan struct{}, 1)}
		r, err := New(Options{Ledger: l, Writer: w, Roster: &holder{roster: roster}, Calls: calls,
			Clock: native.ClockFrom(time.Now, func() time.Duration { return time.Since(began) })})
		is.NoErr(err)
		r.PeerUp(other.Node)
		is.NoErr(w.Put(ledger.Draft{Kind: api.KindThunderbolt, Name: "1", Value: json.RawMessage(`{}`)}))
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan error, 1)
		go func() { over <- r.Run(ctx) }()
		select {
		case <-calls.done:
		case <-time.After(time.Hour):
		}
		is.Equal(time.Since(began), time.Duration(0))
		cancel()
		is.NoErr(<-over)
	})
}
