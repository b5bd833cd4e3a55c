package replica

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
)

// onScenario runs a test on a cluster in a bubble.
func onScenario(t *testing.T, n int, f func(*is.I, *scenario)) {
	synctest.Test(t, func(t *testing.T) {
		d := newScenario(t, n)
		defer d.close()
		f(is.New(t), d)
	})
}

func TestWriteReachesAllAtOnce(t *testing.T) {
	onScenario(t, 5, func(is *is.I, d *scenario) {
		d.joinAll()
		d.agreedWithin(time.Second)
		d.wait(2 * time.Second)
		d.net.total()
		d.nodes[2].put(api.KindThunderbolt, "3", 1)
		took := d.agreedWithin(time.Second)
		is.True(took <= 10*time.Millisecond) // one way is 2 ms
		d.wait(time.Second)
		_, calls := d.net.total()
		is.Equal(calls, 4*2) // each heard of it once, and nobody passed it on
		is.NoErr(d.nodes[2].writer.Delete(api.KindThunderbolt, "3"))
		is.True(d.agreedWithin(time.Second) <= 10*time.Millisecond)
		is.Equal(d.nodes[0].value(d.nodes[2], api.KindThunderbolt, "3"), "")
	})
}

// A reaches B and B reaches C, and so on.
func TestNewsCrossesAChain(t *testing.T) {
	onScenario(t, 5, func(is *is.I, d *scenario) {
		for i := range 4 {
			d.join(i, i+1)
		}
		d.agreedWithin(3 * time.Second)
		d.wait(3 * time.Second)
		d.net.total()
		d.nodes[0].put(api.KindThunderbolt, "3", 1)
		is.True(d.agreedWithin(time.Second) <= 20*time.Millisecond)
		d.wait(3 * time.Second)
		_, calls := d.net.total()
		is.Equal(calls, 4*2)
		// What differs between two halves of a chain that meet is told along both.
		d.cut(1, 2)
		d.nodes[0].put(api.KindThunderbolt, "3", 2)
		d.nodes[4].put(api.KindThunderbolt, "3", 2)
		d.wait(time.Minute)
		d.join(1, 2)
		d.agreedWithin(3 * time.Second)
	})
}

// Two groups that only one node joins.
func TestNewsCrossesABottleneck(t *testing.T) {
	onScenario(t, 17, func(is *is.I, d *scenario) {
		for i := range 8 {
			for j := range 9 {
				d.join(i, j) // 8 is in both
				d.join(i+9, j+8)
			}
		}
		d.agreedWithin(4 * time.Second)
		d.wait(5 * time.Second)
		d.net.total()
		d.nodes[0].put(api.KindThunderbolt, "3", 1)
		d.agreedWithin(time.Second)
		d.wait(5 * time.Second)
		bytes, calls := d.net.total()
		t.Logf("a change through a bottleneck of 17: %d calls, %d bytes", calls/2, bytes)
		is.True(calls < 17*16)
	})
}

func TestUnknownKindsArePassedOnAndOthersStay(t *testing.T) {
	onScenario(t, 3, func(is *is.I, d *scenario) {
		d.join(0, 1)
		d.join(1, 2)
		d.nodes[0].put("from-the-future", "x", 1)
		d.nodes[0].put(api.KindPending, string(d.nodes[2].identity.Node), 1)
		d.nodes[0].put(api.KindMemory, "", 1)
		d.agreedWithin(3 * time.Second)
		d.wait(5 * time.Minute)
		for _, m := range d.nodes[1:] {
			is.Equal(m.value(d.nodes[0], "from-the-future", "x"), `{"n":1}`)
			is.Equal(m.value(d.nodes[0], api.KindPending, string(d.nodes[2].identity.Node)), "")
			is.Equal(m.value(d.nodes[0], api.KindMemory, ""), "")
		}
	})
}

// big is a value of about n bytes.
func big(n int) json.RawMessage {
	return json.RawMessage(`{"text":"` + strings.Repeat("x", n) + `"}`)
}

func TestLargeDocumentsArePulled(t *testing.T) {
	onScenario(t, 4, func(is *is.I, d *scenario) {
		d.join(0, 1)
		d.join(1, 2)
		d.join(1, 3)
		d.wait(3 * time.Second)
		d.net.total()
		for i, name := range []string{"a", "b", "c"} {
			is.NoErr(d.nodes[0].writer.Put(ledger.Draft{Kind: api.KindJob, Name: "j0000000" + name, Value: big(200<<10 + i)}))
		}
		d.agreedWithin(time.Second)
		d.wait(2 * time.Minute)
		is.True(d.net.count(methodPull) >= 3)
		bytes, _ := d.net.total()
		is.True(bytes < 3*3*(200<<10)*11/10) // each went to each once
	})
}

// Hundreds of documents and more go in messages of their size.
func TestManyDocumentsCatchUp(t *testing.T) {
	each := 3000
	if testing.Short() {
		each = 600 // a signature each
	}
	onScenario(t, 2, func(is *is.I, d *scenario) {
		var drafts []ledger.Draft
		for i := range 2 * each {
			drafts = append(drafts, ledger.Draft{Kind: api.KindRank, Name: fmt.Sprintf("j%08d/1/0", i), Value: big(100)})
		}
		is.NoErr(d.nodes[0].writer.Put(drafts[:each]...))
		is.NoErr(d.nodes[1].writer.Put(drafts[each:]...))
		is.NoErr(d.nodes[1].writer.Put(ledger.Draft{Kind: api.KindJob, Name: "j00000000", Value: big(200 << 10)}))
		d.join(0, 1)
		d.wait(10 * time.Second) // not asked in between: there is much to compare
		is.Equal(d.disagreement(), "")
		is.Equal(len(d.nodes[0].view()), 2*each+5)
	})
}

func TestOnlyDigestsWhileNothingChanges(t *testing.T) {
	onScenario(t, 16, func(is *is.I, d *scenario) {
		d.joinAll()
		d.agreedWithin(3 * time.Second)
		d.wait(10 * time.Second)
		d.net.total()
		d.wait(10 * time.Minute)
		is.Equal(d.net.methods(), 2) // digests and their answers
		is.True(d.net.count(methodDigest) >= 16*8 && d.net.count(methodDigest) <= 16*14)
		bytes, _ := d.net.total()
		t.Logf("idle: %.1f bytes a second and node", float64(bytes)/600/16)
		is.True(bytes < 16*600*20)
	})
}

// While everybody writes, what differs is on its way and nobody repairs it.
func TestBusyClusterIsNotRepaired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		d := newScenarioWith(t, 8, Timing{Period: 4 * time.Second})
		defer d.close()
		d.delay = 30 * time.Millisecond
		d.joinAll()
		d.agreedWithin(time.Second)
		d.wait(13 * time.Second) // what follows from their meeting is over
		d.net.total()
		seconds := 30
		if testing.Short() {
			seconds = 10
		}
		writes := seconds * 20
		for i := range writes {
			d.nodes[i%8].put(api.KindThunderbolt, "1", i)
			d.wait(50 * time.Millisecond)
		}
		t.Logf("%d digests, %d puts", d.net.count(methodDigest), d.net.count(methodPut))
		// Eight nodes begin two comparisons a second; each may look twice more.
		is.True(d.net.count(methodDigest) < 4*2*seconds)
		is.True(d.net.count(methodPut) < writes*7*102/100)
		d.agreedWithin(time.Second)
	})
}

func TestDigestIsAboutItsPartOnly(t *testing.T) {
	onScenario(t, 2, func(is *is.I, d *scenario) {
		node := d.nodes[0].identity.Node
		for i := range 5 {
			d.nodes[0].put(api.KindThunderbolt, fmt.Sprint(i+1), i)
		}
		key := func(n int) *api.Key { return &api.Key{Node: node, Kind: api.KindThunderbolt, Name: fmt.Sprint(n)} }
		raw, err := d.calls(1, 0, methodDigest, api.PeerDigestParams{Have: []api.NodeVersion{{Node: node}}, After: key(1), Upto: key(3)})
		is.NoErr(err)
		var answer api.PeerDigestResult
		is.NoErr(json.Unmarshal(raw, &answer))
		is.Equal(len(answer.Docs), 2)
		is.Equal(answer.Docs[0].Key(), *key(2))
		is.Equal(answer.Docs[1].Key(), *key(3))
	})
}
