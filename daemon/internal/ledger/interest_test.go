package ledger

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// hinted reports whether there is a hint, and takes it.
func hinted(hints <-chan struct{}) bool {
	select {
	case <-hints:
		return true
	default:
		return false
	}
}

func TestInterestEdges(t *testing.T) {
	is := is.New(t)
	r := newRig(t, func(o *Options) { o.Queue = 1 })
	hints, done := r.WatchInterest()
	defer done()
	memory := Filter{Kinds: []api.Kind{api.KindMemory, api.KindMemory, api.KindNetwork}}
	is.True(hinted(hints)) // the state at the start
	is.True(!r.Interested(api.KindMemory, testNode(1)))

	_, first := r.Watch(WatchOptions{Filter: memory})
	is.True(hinted(hints)) // the first one came
	is.True(r.Interested(api.KindMemory, testNode(1)))
	is.True(r.Interested(api.KindMemory, testNode(2)))
	is.True(!r.Interested(api.KindSystem, testNode(1)))
	_, second := r.Watch(WatchOptions{Filter: memory})
	is.True(!hinted(hints))
	first.Close()
	first.Close()
	is.True(!hinted(hints))
	is.Equal(interests(r.Ledger), []api.Key{{Kind: api.KindMemory}})
	second.Close()
	is.True(hinted(hints)) // the last one left
	is.True(!r.Interested(api.KindMemory, testNode(1)))

	_, passive := r.Watch(WatchOptions{Passive: true})
	defer passive.Close()
	_, still := r.Watch(WatchOptions{Filter: Filter{Kinds: []api.Kind{api.KindNetwork}}})
	defer still.Close()
	is.True(!hinted(hints)) // neither moves anything

	_, all := r.Watch(WatchOptions{Filter: Filter{Nodes: []api.NodeID{testNode(2)}}})
	is.True(hinted(hints))
	is.True(r.Interested(api.KindSystem, testNode(2)))
	is.True(!r.Interested(api.KindSystem, testNode(1)))
	for i := range 2 { // a watcher that lags has left
		_, err := r.PutForeign(signed(t, 2, api.Document{Kind: api.KindThunderbolt, Name: string(rune('1' + i)), Inc: 1, Seq: uint64(i + 1)}))
		is.NoErr(err)
	}
	is.True(hinted(hints))
	is.Equal(len(interests(r.Ledger)), 0)
	all.Close()
	is.True(!hinted(hints))
	done()
	_, late := r.Watch(WatchOptions{})
	defer late.Close()
	is.True(!hinted(hints))
}

// What a node writes is its own, whatever it was made of.
func TestWhatIsStampedIsTheWritersOwn(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	d := api.Document{Node: testNode(2), Kind: api.KindNetwork, At: api.TimeOf(r.clock.now())}
	is.NoErr(d.SetValue(value(1)))
	stamped, err := r.author.stampLocked([]api.Document{d})
	is.NoErr(err)
	is.Equal(stamped[0].Node, r.Node())
	is.NoErr(stamped[0].Verify(r.author.cluster, r.author.public()))
	is.Equal(d.Node, testNode(2)) // a copy
}

// What is measured while somebody watches counts as what moves does, also for
// whoever watches something derived of it.
func TestInterestInFreshKinds(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	hints, unhint := r.WatchInterest()
	defer unhint()
	is.True(hinted(hints))
	done := r.Want(Filter{Kinds: []api.Kind{api.KindLinkProfile, api.KindReach}})
	is.True(hinted(hints))
	is.True(r.Interested(api.KindLinkProfile, testNode(1)))
	is.True(!r.Interested(api.KindGPUProfile, testNode(1)))
	is.True(!r.Interested(api.KindReach, testNode(1)))
	_, w := r.Watch(WatchOptions{Filter: Filter{Kinds: []api.Kind{api.KindGPUProfile}, Nodes: []api.NodeID{testNode(2)}}})
	is.True(hinted(hints))
	is.True(r.Interested(api.KindGPUProfile, testNode(2)) && !r.Interested(api.KindGPUProfile, testNode(1)))
	w.Close()
	done()
	done()
	is.True(hinted(hints))
	is.Equal(len(interests(r.Ledger)), 0)
}
