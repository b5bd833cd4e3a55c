package view

import (
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/health"
	"fulmen/daemon/internal/ledger"
	"fulmen/native/nativetest"
)

// noCounter counts versions from the beginning.
type noCounter struct{}

func (noCounter) LoadVersion() (api.Version, error) { return api.Version{}, nil }
func (noCounter) SaveVersion(api.Version) error     { return nil }

// fresh is a cluster in which no document is old.
type fresh struct{}

func (fresh) IsStale(api.NodeID) bool      { return false }
func (fresh) OnStale(func()) (done func()) { return func() {} }

// neighbour is the only other member, with a key that is known.
type neighbour struct{}

var neighbourKey = ed25519.NewKeyFromSeed([]byte(strings.Repeat("n", ed25519.SeedSize)))

func (neighbour) PublicKey(api.NodeID) (ed25519.PublicKey, bool) {
	return neighbourKey.Public().(ed25519.PublicKey), true
}

// graphRig is a graph over a ledger in memory, in a bubble.
type graphRig struct {
	*Graph
	ledger *ledger.Ledger
	writer *ledger.Writer
	draws  atomic.Int64
}

func newGraph(t *testing.T, queue int) *graphRig {
	t.Helper()
	key := ed25519.NewKeyFromSeed([]byte(strings.Repeat("k", ed25519.SeedSize)))
	held, writer, err := ledger.Open(ledger.Options{Key: key, Cluster: "a7937b64b8caa58f03721bb6bacf5c78", Counter: noCounter{}, Queue: queue, Members: neighbour{}})
	if err != nil {
		t.Fatal(err)
	}
	r := &graphRig{writer: writer, ledger: held}
	conditions := health.New(ledger.Documents{Writer: writer.Owner("health", api.KindCondition)}, time.Now, slog.New(slog.NewTextHandler(t.Output(), nil)))
	r.Graph = NewGraph(GraphConfig{
		Ledger: held, Staleness: fresh{},
		Now:    func() time.Time { r.draws.Add(1); return time.Now() },
		TTL:    func() (socket, rdma time.Duration) { return 0, 0 },
		Cables: health.NewCables(conditions, held.Node(), nativetest.NewClock(time.Now())),
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	synctest.Wait()
	return r
}

// plug publishes a receptacle with a stranger in it, or without.
func (r *graphRig) plug(t *testing.T, number api.PortNumber, plugged bool) {
	t.Helper()
	port := api.Thunderbolt{PortNumber: number, Connected: &plugged}
	if plugged {
		port.Peers = []api.ThunderboltPeer{{DomainUUID: "A"}}
	}
	if err := r.writer.Put(ledger.Draft{Kind: api.KindThunderbolt, Name: number.String(), Value: port}); err != nil {
		t.Fatal(err)
	}
}

func TestGraphGathersWhatBelongsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		r := newGraph(t, 0)
		is.Equal(r.draws.Load(), int64(1))
		list, wake, done := r.watch()
		is.Equal(len(list.Cables), 0)
		for n := range 8 {
			r.plug(t, api.PortNumber(n+1), n == 2)
			time.Sleep(graphSettle / 10)
		}
		time.Sleep(graphSettle)
		synctest.Wait()
		is.Equal(r.draws.Load(), int64(2)) // one graph for all
		<-wake
		is.Equal(r.Current().Cables[0].Ends[0].End, api.LinkEnd{Node: r.ledger.Node(), PortNumber: 3})

		time.Sleep(24 * time.Hour)
		synctest.Wait()
		is.Equal(r.draws.Load(), int64(2)) // nothing moves by itself
		is.Equal(len(wake), 0)
		done()
		is.Equal(len(r.watchers.All()), 0)
	})
}

// A job that starts gets the cables of now: those that were drawn, or, where a change
// waits to be drawn, those after it.
func TestGraphHasTheCablesOfNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		r := newGraph(t, 0)
		is.Equal(len(r.CablesNow()), 0)
		r.plug(t, 1, true)
		is.Equal(len(r.CablesNow()), 1) // not drawn yet
		time.Sleep(graphSettle)
		synctest.Wait()
		made := r.draws.Load()
		is.Equal(r.CablesNow(), r.Build().List().Cables)
		is.Equal(r.draws.Load(), made+1) // by build alone
		is.NoErr(r.writer.Put(ledger.Draft{Kind: api.KindMemory, Value: api.Memory{}}))
		is.Equal(len(r.CablesNow()), 1)
		is.Equal(r.draws.Load(), made+1)
		r.plug(t, 1, false)
		is.Equal(len(r.CablesNow()), 0)
		r.plug(t, 2, true)
		is.Equal(r.CablesNow()[0].Ends[0].End.PortNumber, api.PortNumber(2))
	})
}

// Documents that do not belong to the graph do not draw it anew.
func TestGraphIgnoresOtherKinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		r := newGraph(t, 0)
		is.NoErr(r.writer.Put(ledger.Draft{Kind: api.KindMemory, Value: api.Memory{}}))
		is.True(!r.ledger.Interested(api.KindMemory, r.ledger.Node())) // nor do live kinds begin to move
		time.Sleep(time.Second)
		synctest.Wait()
		is.Equal(r.draws.Load(), int64(1))
	})
}

// A flood that the watcher loses leads to a new subscription and the right end.
func TestGraphOutlivesALag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		r := newGraph(t, 4)
		var drafts []ledger.Draft
		for n := range 20 {
			port := api.Thunderbolt{PortNumber: api.PortNumber(n + 1), Connected: new(true), Peers: []api.ThunderboltPeer{{DomainUUID: "A"}}}
			drafts = append(drafts, ledger.Draft{Kind: api.KindThunderbolt, Name: port.PortNumber.String(), Value: port})
		}
		is.NoErr(r.writer.Put(drafts...)) // more at once than the watcher's queue takes
		time.Sleep(graphSettle)
		synctest.Wait()
		is.Equal(len(r.Current().Cables), 20)
		r.plug(t, 20, false)
		time.Sleep(graphSettle)
		synctest.Wait()
		is.Equal(len(r.Current().Cables), 19)
	})
}

// Several changes of a port within the settling time are all counted.
func TestGraphTellsConditions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		r := newGraph(t, 0)
		for n := range 5 {
			r.plug(t, 1, n%2 == 0)
			synctest.Wait()
		}
		conditions := r.ledger.List(ledger.Filter{Kinds: []api.Kind{api.KindCondition}})
		is.Equal(len(conditions), 1)
		is.Equal(conditions[0].Key().Name, "link_flapping/"+string(r.ledger.Node())+":1")
		is.NoErr(r.writer.Delete(api.KindThunderbolt, "1"))
		synctest.Wait()
		is.Equal(len(r.ledger.List(ledger.Filter{Kinds: []api.Kind{api.KindCondition}})), 0)
	})
}

// Paths between other Macs, of which there are many while Macs join, are drawn together, and
// with whatever else changes.
func TestGraphTakesItsTimeForPathsOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		r := newGraph(t, 0)
		held, writer, err := ledger.Open(ledger.Options{Key: neighbourKey, Cluster: "a7937b64b8caa58f03721bb6bacf5c78", Counter: noCounter{}})
		is.NoErr(err)
		peer := api.NodeIDFromKey(ed25519.NewKeyFromSeed([]byte(strings.Repeat("p", ed25519.SeedSize))).Public().(ed25519.PublicKey))
		n := 0
		path := func() {
			n++
			at := api.PeerAddress{Peer: peer, Address: netip.AddrFrom4([4]byte{10, 0, 0, byte(n)})}
			is.NoErr(writer.Put(ledger.Draft{Kind: api.KindReach, Name: at.String(), Value: api.Reach{
				Peer: peer, Address: at.Address, Port: 7732, Interface: "en0", Kind: api.LinkEthernet, VerifiedAt: api.TimeOf(time.Now()), State: api.PathActive,
			}}))
			record, _ := held.Get(api.Key{Node: held.Node(), Kind: api.KindReach, Name: at.String()})
			_, err := r.ledger.PutForeign(record.Document())
			is.NoErr(err)
		}
		for range 8 {
			path()
			time.Sleep(graphSettle)
		}
		synctest.Wait()
		is.Equal(r.draws.Load(), int64(1))
		time.Sleep(farSettle - 8*graphSettle)
		synctest.Wait()
		is.Equal(r.draws.Load(), int64(2))
		path()
		time.Sleep(graphSettle)
		r.plug(t, 1, true)
		time.Sleep(graphSettle)
		synctest.Wait()
		is.Equal(r.draws.Load(), int64(3))
		time.Sleep(time.Minute)
		synctest.Wait()
		is.Equal(r.draws.Load(), int64(3))
	})
}
