package replica

import (
	"net/netip"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
)

// reaches has a member say that it has a path to another one, or had.
func (m *member) reaches(other *member, state api.PathState) {
	m.scenario.t.Helper()
	at := api.PeerAddress{Peer: other.identity.Node, Address: netip.MustParseAddr("192.168.1.7")}
	if err := m.writer.Put(ledger.Draft{Kind: api.KindReach, Name: at.String(), Value: api.Reach{
		Peer: at.Peer, Address: at.Address, Port: 7732, Interface: "en0", Kind: api.LinkEthernet, VerifiedAt: api.TimeOf(time.Now()), State: state,
	}}); err != nil {
		m.scenario.t.Fatal(err)
	}
}

// Of news about a node a neighbour is asked only where one of the two may not hear of that
// node from itself.
func TestWhoHearsItselfIsNotAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		d := newScenarioWith(t, 3, Timing{Period: time.Hour}) // the regular comparisons would count too
		defer d.close()
		d.joinAll()
		d.agreedWithin(time.Second)
		d.wait(3 * time.Second)
		r, second, third := d.nodes[0].replica, d.nodes[1], d.nodes[2]
		few := 0
		asks := func() bool {
			before := d.net.count(methodDigest)
			r.mu.Lock()
			p := r.peers[second.identity.Node]
			p.compare.agreed = "" // else nothing is asked after nothing has changed
			r.compareLaterLocked([]*peer{p}, few, third.identity.Node)
			r.mu.Unlock()
			if few == 0 {
				d.wait(r.timing.Notify - time.Second)
				is.Equal(d.net.count(methodDigest), before) // others have time until then
			}
			d.wait(2 * time.Second)
			return d.net.count(methodDigest) > before
		}
		is.True(asks()) // the second one says nothing of the third
		second.reaches(third, api.PathActive)
		d.wait(time.Second)
		is.True(!asks())
		second.reaches(third, api.PathFailed)
		d.wait(time.Second)
		is.True(asks())
		third.reaches(second, api.PathActive) // which is the same path
		d.wait(time.Second)
		is.True(!asks())
		few = 1 // it goes on from there, and soon
		is.True(!asks())
		third.reaches(second, api.PathFailed)
		d.wait(time.Second)
		is.True(asks())
		few = 0
		second.reaches(third, api.PathActive)
		d.cut(0, 2)
		d.wait(5 * time.Second)
		is.True(asks()) // this node hears of it by others
	})
}

// Whom a writer reaches it is left to tell, and what it does not tell comes all the same:
// node 1 has what node 0 wrote, and asks node 2, which lacks it.
func TestWhatAWriterMayStillTell(t *testing.T) {
	onScenario(t, 3, func(is *is.I, d *scenario) {
		d.joinAll()
		d.nodes[2].reaches(d.nodes[0], api.PathActive)
		d.agreedWithin(time.Second)
		d.wait(3 * time.Second)
		d.silence(0, 2)
		d.nodes[0].put(api.KindThunderbolt, "1", 1)
		d.wait(time.Second)
		before, r := d.net.count(methodDigest), d.nodes[1].replica
		r.mu.Lock()
		p := r.peers[d.nodes[2].identity.Node]
		p.compare.isForced = true
		r.compareSoonLocked(p, 0)
		r.mu.Unlock()
		d.wait(r.timing.Notify - time.Second)
		is.True(d.net.count(methodDigest) <= before+2) // node 0 tries too
		is.True(d.disagreement(1, 2) != "")
		d.agreedWithin(3*time.Second, 1, 2)
	})
}

// What was on its way when two compared is not asked for again where it has come.
func TestWhatCameMeanwhileIsNotAskedFor(t *testing.T) {
	onScenario(t, 3, func(is *is.I, d *scenario) {
		d.joinAll()
		d.agreedWithin(time.Second)
		d.wait(3 * time.Second)
		r, second, third := d.nodes[0].replica, d.nodes[1].identity.Node, d.nodes[2].identity.Node
		asks := func(had api.NodeVersion) bool {
			before := d.net.count(methodDigest)
			r.mu.Lock()
			p := r.peers[second]
			p.compare.agreed = "" // else nothing is asked after nothing has changed
			p.compare.differs = map[api.NodeID]difference{third: {there: had, isReported: true}}
			r.compareAgainLocked(p, 0)
			r.mu.Unlock()
			d.wait(time.Second)
			return d.net.count(methodDigest) > before
		}
		mine := r.inventory()
		held := mine.of(third).NodeVersion
		is.True(!asks(held))
		more := held
		more.Count++
		is.True(asks(more))
		newer := held
		newer.Version.Seq++
		is.True(asks(newer))
	})
}

// Of two that meet only the one that begins asks, however much else has come meanwhile.
func TestOneOfTwoThatMeetAsks(t *testing.T) {
	onScenario(t, 3, func(is *is.I, d *scenario) {
		d.joinAll()
		d.agreedWithin(time.Second)
		d.wait(3 * time.Second)
		d.cut(0, 1)
		d.wait(3 * time.Second)
		before := d.net.count(methodDigest)
		d.join(0, 1)
		d.wait(100 * time.Millisecond)
		d.nodes[2].put(api.KindSharing, "", 1) // the other one would ask what this is about
		d.wait(3 * time.Second)
		is.Equal(d.net.count(methodDigest), before+1)
	})
}

// Whom a writer cannot tell hears of it from few of those that it told, and at once.
func TestFewTellWhomAWriterCannot(t *testing.T) {
	onScenario(t, 9, func(is *is.I, d *scenario) {
		d.joinAll()
		d.cut(0, 8)
		for _, m := range d.nodes[1:8] {
			m.reaches(d.nodes[8], api.PathActive)
		}
		d.agreedWithin(time.Second)
		d.wait(20 * time.Second)
		before := d.net.count(methodPut)
		d.nodes[0].put(api.KindThunderbolt, "1", 1)
		is.True(d.agreedWithin(time.Second) < 100*time.Millisecond)
		d.wait(time.Second)
		is.Equal(d.net.count(methodPut)-before, 7+relays)
	})
}

// Who meets many at once takes what it lacks of a node from one of them.
func TestOneGivesWhatSomebodyLacks(t *testing.T) {
	onScenario(t, 9, func(is *is.I, d *scenario) {
		for i := range 8 {
			for j := range i {
				d.join(i, j)
			}
		}
		for n := range 60 {
			d.nodes[0].put(api.KindThunderbolt, strconv.Itoa(n+1), n)
		}
		d.agreedWithin(time.Second, 0, 1, 2, 3, 4, 5, 6, 7)
		d.wait(20 * time.Second)
		d.net.total()
		for i := 1; i < 8; i++ {
			d.join(8, i)
		}
		d.slow(8, 300*time.Millisecond)
		d.agreedWithin(10*time.Second, 1, 2, 3, 4, 5, 6, 7, 8)
		bytes, _ := d.net.total()
		is.True(bytes < 100e3) // from each of the seven it is 148 kB
	})
}
