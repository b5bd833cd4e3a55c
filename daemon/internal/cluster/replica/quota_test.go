package replica

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
)

// flooding is node 3 of a desk of four, which is ended: it says what it likes to node
// 0 alone, and answers nothing.
func (d *scenario) flooding() *member {
	d.joinAll()
	d.agreedWithin(time.Second)
	d.wait(3 * time.Second)
	for i := range 3 {
		d.silence(i, 3)
	}
	return d.nodes[3]
}

// What a member has beyond its quota is neither kept nor passed on, and costs no
// comparing without end.
func TestDocumentsBeyondTheQuotaGoNowhere(t *testing.T) {
	onScenario(t, 4, func(is *is.I, d *scenario) {
		hostile := d.flooding()
		most, missed := api.KindThunderbolt.Quota().Documents, []api.NodeID{d.nodes[1].identity.Node, d.nodes[2].identity.Node}
		var refused []api.Cause
		for i := range 3 * most {
			doc := d.signed(3, api.Document{Kind: api.KindThunderbolt, Name: fmt.Sprint(i + 1), Inc: 9, Seq: uint64(i + 1)}, nil)
			answer, err := d.calls(3, 0, methodPut, putParams{Docs: []json.RawMessage{doc}, Missed: missed})
			is.NoErr(err)
			var result api.PeerPutResult
			is.NoErr(json.Unmarshal(answer, &result))
			refused = append(refused, result.Refused...)
		}
		is.Equal(len(refused), 2*most)
		for _, c := range refused {
			is.Equal(c.Reason, api.ReasonTooManyDocuments)
		}
		d.wait(3 * time.Second)
		filter := ledger.Filter{Kinds: []api.Kind{api.KindThunderbolt}, Nodes: []api.NodeID{hostile.identity.Node}}
		for _, m := range d.nodes[:3] {
			is.Equal(len(m.ledger.List(filter)), most)
		}
		is.Equal(len(d.nodes[0].ledger.OverQuota()), 1)
		is.Equal(len(d.nodes[1].ledger.OverQuota()), 0) // nobody has told them
		// Another node holds other ones: each keeps what it has, and they compare once a minute.
		is.NoErr(d.nodes[2].ledger.Forget(hostile.identity.Node))
		for i := range most - 1 {
			other := d.signed(3, api.Document{Kind: api.KindThunderbolt, Name: fmt.Sprint(255 - i), Inc: 9, Seq: uint64(1000 + i)}, nil)
			var doc api.Document
			is.NoErr(json.Unmarshal(other, &doc))
			_, err := d.nodes[2].ledger.PutForeign(doc)
			is.NoErr(err)
		}
		d.wait(time.Minute)
		d.net.total()
		d.wait(10 * time.Minute)
		digests := d.net.count(methodDigest)
		t.Logf("%d digests and %d puts in 10 minutes", digests, d.net.count(methodPut))
		is.True(digests < 3*10*8)
		for _, m := range d.nodes[:3] {
			is.True(len(m.ledger.List(filter)) <= most)
		}
	})
}

// What would not be kept is not asked for, and what is waited for has a bound.
func TestOffersAreNotFetchedBeyondTheQuota(t *testing.T) {
	if testing.Short() {
		t.Skip("a hundred thousand offers, one after the other")
	}
	onScenario(t, 4, func(is *is.I, d *scenario) {
		hostile := d.flooding()
		offer := func(kind api.Kind, of api.NodeID, from, n int) {
			var all []api.KeyVersion
			for i := range n {
				all = append(all, api.KeyVersion{Key: api.Key{Node: of, Kind: kind, Name: fmt.Sprintf("j%08d/1/0", from+i)}, Version: api.Version{Inc: 9, Seq: 9}})
			}
			_, err := d.calls(3, 0, methodPut, api.PeerPutParams{Docs: []api.Document{}, Offer: all})
			is.NoErr(err)
		}
		pending := func() int {
			r := d.nodes[0].replica
			r.mu.Lock()
			defer r.mu.Unlock()
			return len(r.pulling)
		}
		offer(api.KindRank, identityOf(77).Node, 0, 10) // of whoever is no member
		offer(api.KindPending, hostile.identity.Node, 0, 10)
		is.Equal(pending(), 0)
		for i := range 100 {
			offer(api.KindRank, hostile.identity.Node, 1000*i, 1000)
		}
		is.True(pending() > 0 && pending() <= outboxKeys)
		d.wait(5 * time.Minute)
		is.Equal(pending(), 0)
		for i := range api.KindThunderbolt.Quota().Documents {
			doc := d.signed(3, api.Document{Kind: api.KindThunderbolt, Name: fmt.Sprint(i + 1), Inc: 9, Seq: uint64(i + 1)}, nil)
			_, err := d.calls(3, 0, methodPut, putParams{Docs: []json.RawMessage{doc}})
			is.NoErr(err)
		}
		d.net.total()
		offer(api.KindThunderbolt, hostile.identity.Node, 0, 100)
		is.Equal(pending(), 0)
		is.True(errors.Is(d.nodes[0].ledger.Fits(api.Key{Node: hostile.identity.Node, Kind: api.KindThunderbolt, Name: "900"}, ""), api.ReasonTooManyDocuments))
		is.Equal(len(d.nodes[0].ledger.OverQuota()), 1)
	})
}

// A member that signs two documents for each version has a few of them told about.
func TestVersionsUsedTwiceAreToldAboutInBounds(t *testing.T) {
	onScenario(t, 4, func(is *is.I, d *scenario) {
		d.flooding()
		d.net.total()
		for i := range 60 {
			for n := range 2 {
				doc := d.signed(3, api.Document{Kind: api.KindThunderbolt, Name: fmt.Sprint(i + 1), Inc: 9, Seq: uint64(i + 1), Value: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n))}, nil)
				_, err := d.calls(3, 0, methodPut, putParams{Docs: []json.RawMessage{doc}})
				is.NoErr(err)
			}
		}
		r := d.nodes[0].replica
		r.mu.Lock()
		defer r.mu.Unlock()
		is.Equal(len(r.confronted), maxConfronts)
	})
}

// Two that hold as much as they keep, and not the same, do not give each other the
// rest of it for ever.
func TestFullNodesDoNotCompareWithoutEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of signatures")
	}
	onScenario(t, 3, func(is *is.I, d *scenario) {
		d.join(0, 1)
		d.wait(3 * time.Second)
		hostile := d.nodes[2]
		seq := 0
		put := func(to, size int) error {
			seq++
			doc := api.Document{Node: hostile.identity.Node, Kind: api.KindRank, Name: fmt.Sprintf("j%08d/1/0", seq), Inc: 9, Seq: uint64(seq),
				At: api.TimeOf(time.Now()), Value: big(size)}
			is.NoErr(doc.Sign(hostile.holder.Current().Cluster(), hostile.identity.Key()))
			_, err := d.nodes[to].ledger.PutForeign(doc)
			return err
		}
		for _, size := range []int{250 << 10, 10 << 10, 0} {
			for put(0, size) == nil {
			}
		}
		for range 2500 {
			is.NoErr(put(1, 0))
		}
		d.wait(2 * time.Minute) // until the other one is full, too
		d.net.total()
		d.wait(2 * time.Minute)
		bytes, _ := d.net.total()
		t.Logf("%d KiB a minute", bytes/2>>10)
		is.True(bytes/2 < 4<<20)
	})
}
