package replica

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// slow makes every way of a node take so long.
func (d *scenario) slow(i int, delay time.Duration) {
	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	for pair, w := range d.net.ways {
		if pair[0] == d.nodes[i].identity.Node || pair[1] == d.nodes[i].identity.Node {
			w.delay = delay
		}
	}
}

func TestSlowNodeHoldsNobodyUp(t *testing.T) {
	if testing.Short() {
		t.Skip("a thousand documents, one after the other")
	}
	onScenario(t, 5, func(is *is.I, d *scenario) {
		d.joinAll()
		d.agreedWithin(time.Second)
		d.wait(3 * time.Second)
		d.slow(4, 3*time.Second)
		d.net.total()
		for i := range 1000 {
			d.nodes[0].put(api.KindThunderbolt, fmt.Sprint(1+i%5), i)
			d.wait(10 * time.Millisecond)
			if i > 2 {
				is.Equal(d.disagreement(0, 1, 2, 3), "") // 2 ms one way
			}
		}
		// The slow one got a few messages with the latest, not a thousand.
		d.net.mu.Lock()
		puts := d.net.calls[methodPut]
		d.net.mu.Unlock()
		is.True(puts >= 3*1000 && puts < 3*1000+10)
		d.agreedWithin(20 * time.Second)
	})
}

// The last word of a node that sleeps or stops does not wait for what is on its way, and
// brings what became of its ranks a moment ago.
func TestLastWord(t *testing.T) {
	onScenario(t, 3, func(is *is.I, d *scenario) {
		d.joinAll()
		d.agreedWithin(time.Second)
		d.wait(3 * time.Second)
		d.slow(1, time.Second)
		own, other := d.nodes[0], d.nodes[1]
		cable, err := api.NewLinkID(api.LinkEnd{Node: own.identity.Node, PortNumber: 1}, api.LinkEnd{Node: other.identity.Node, PortNumber: 1})
		is.NoErr(err)
		link := cable.String()
		own.put(api.KindRank, "j00000001/1/0", 1)
		d.wait(lastWordsOf + time.Second)
		own.put(api.KindThunderbolt, "1", 1)
		d.wait(time.Millisecond)
		own.put(api.KindRank, "j00000001/1/0", 2)
		own.put(api.KindNodeState, "", 2)
		own.put(api.KindRDMAChange, link, 3)
		is.NoErr(own.replica.LastWord(d.t.Context(), other.identity.Node))
		is.Equal(other.value(own, api.KindNodeState, ""), own.value(own, api.KindNodeState, ""))
		is.Equal(other.value(own, api.KindRDMAChange, link), own.value(own, api.KindRDMAChange, link))
		is.True(other.value(own, api.KindRDMAChange, link) != "")
		is.Equal(other.value(own, api.KindRank, "j00000001/1/0"), own.value(own, api.KindRank, "j00000001/1/0"))
		for i := range lastWordsMost + 1 {
			d.wait(time.Millisecond)
			own.put(api.KindRank, fmt.Sprintf("j%08d/1/0", i+2), 1)
		}
		is.NoErr(own.replica.LastWord(d.t.Context(), other.identity.Node))
		last := fmt.Sprintf("j%08d/1/0", lastWordsMost+2)
		is.Equal(other.value(own, api.KindRank, last), own.value(own, api.KindRank, last)) // the latest
		d.agreedWithin(20 * time.Second)
	})
}

// A node that answers nothing is given up on, and is told all it missed.
func TestSilentNodeCatchesUp(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of signatures")
	}
	onScenario(t, 4, func(is *is.I, d *scenario) {
		d.joinAll()
		d.agreedWithin(time.Second)
		d.wait(3 * time.Second)
		for i := range 3 {
			d.silence(i, 3)
		}
		for i := range 5 * outboxKeys / 4 {
			d.nodes[0].put(api.KindRank, fmt.Sprintf("j%08d/1/0", i), i)
		}
		d.wait(3 * time.Second)
		is.Equal(d.disagreement(0, 1, 2), "") // an overflow of outboxes
		d.wait(2 * time.Minute)
		for i := range 3 { // it was the network, and nobody had noticed
			d.net.mu.Lock()
			d.net.ways[pairOf(d.nodes[i].identity.Node, d.nodes[3].identity.Node)] = &way{delay: d.delay}
			d.net.mu.Unlock()
		}
		d.wait(75 * time.Second) // not asked in between: there is much to compare
		is.Equal(d.disagreement(), "")
	})
}

// The path to one node breaks while it is told; another node reaches it.
func TestBrokenPathIsMendedByOthers(t *testing.T) {
	onScenario(t, 3, func(is *is.I, d *scenario) {
		d.joinAll()
		d.agreedWithin(time.Second)
		d.wait(3 * time.Second)
		d.silence(0, 2)
		d.nodes[0].put(api.KindThunderbolt, "1", 1)
		d.wait(3 * time.Second)
		is.True(d.disagreement(0, 1) == "" && d.disagreement(1, 2) != "")
		d.notice(0, 2)
		d.agreedWithin(2 * time.Second)
		d.nodes[0].put(api.KindThunderbolt, "1", 2)
		is.True(d.agreedWithin(time.Second) < 20*time.Millisecond)
	})
}

// A call failed and the path counts as there: whoever has another one helps.
func TestNeighbourThatFailsIsToldByOthers(t *testing.T) {
	onScenario(t, 3, func(is *is.I, d *scenario) {
		d.joinAll()
		d.agreedWithin(time.Second)
		d.wait(3 * time.Second)
		d.silence(0, 2)
		d.nodes[0].put(api.KindThunderbolt, "1", 1)
		d.wait(10*time.Second + 100*time.Millisecond) // the call has failed
		d.nodes[0].put(api.KindThunderbolt, "1", 2)
		is.True(d.agreedWithin(time.Second) < 20*time.Millisecond)
	})
}

// A writer dies when it has told one of many.
func TestWriterDiesWhileItTells(t *testing.T) {
	onScenario(t, 8, func(is *is.I, d *scenario) {
		d.joinAll()
		d.agreedWithin(time.Second)
		d.wait(3 * time.Second)
		for i := 2; i < 8; i++ {
			d.silence(0, i)
		}
		d.nodes[0].put(api.KindSharing, "", 1)
		d.wait(time.Second)
		d.kill(0)
		d.notice(0, 0)
		for i := 2; i < 8; i++ {
			d.notice(0, i)
		}
		d.agreedWithin(3*time.Second, 1, 2, 3, 4, 5, 6, 7)
		is.Equal(d.nodes[7].value(d.nodes[0], api.KindSharing, ""), `{"n":1}`)
	})
}

// What a neighbour wrote it tells itself: it is taken from others only where that has not
// helped for a while.
func TestNewsIsLeftToItsWriter(t *testing.T) {
	onScenario(t, 3, func(is *is.I, d *scenario) {
		d.joinAll()
		d.agreedWithin(time.Second)
		d.wait(3 * time.Second)
		d.silence(0, 2)
		d.nodes[0].put(api.KindThunderbolt, "1", 1)
		d.wait(time.Second)
		is.Equal(d.disagreement(0, 1), "")
		r := d.nodes[1].replica
		r.mu.Lock()
		p := r.peers[d.nodes[2].identity.Node]
		p.compare.isForced = true
		r.compareSoonLocked(p, 0)
		r.mu.Unlock()
		d.wait(r.timing.Notify - time.Second)
		is.True(d.disagreement(1, 2) != "")
		d.agreedWithin(3*time.Second, 1, 2) // the way from its writer is still silent
	})
}

// What is missing of somebody who always has news comes too, though each look finds
// something else on its way.
func TestWhatABusyWriterDidNotTell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		d := newScenarioWith(t, 2, Timing{Period: 4 * time.Second})
		defer d.close()
		d.delay = 30 * time.Millisecond
		d.joinAll()
		writer, other := d.nodes[0], d.nodes[1]
		writer.put(api.KindThunderbolt, "1", 1)
		d.agreedWithin(time.Second)
		d.wait(3 * time.Second)
		is.NoErr(other.ledger.Forget(writer.identity.Node))
		for i := range 2 * 20 * 10 {
			writer.put(api.KindThunderbolt, "2", i)
			d.wait(50 * time.Millisecond)
		}
		is.Equal(other.value(writer, api.KindThunderbolt, "1"), writer.value(writer, api.KindThunderbolt, "1"))
	})
}
