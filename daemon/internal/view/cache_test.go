package view

import (
	"testing"
	"testing/synctest"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/topology"
)

// TestNodesAreReadAnewOnceTheyDiffer: what was read is used again only for the same
// versions of nodes that are as stale.
func TestNodesAreReadAnewOnceTheyDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		r := newGraph(t, 0)
		r.plug(t, 1, true)
		var read NodeCache
		isStale := false
		look := func() (plugged, stale bool) {
			t.Helper()
			nodes, _ := read.Of(r.ledger.List(ledger.Filter{Kinds: topology.Kinds()}), func(api.NodeID) bool { return isStale })
			is.Equal(len(nodes), 1)
			is.Equal(len(nodes[0].Thunderbolt), 1)
			return *nodes[0].Thunderbolt[0].Connected, nodes[0].Stale
		}
		for _, want := range []struct{ plugged, stale bool }{{true, false}, {true, false}, {true, true}, {false, true}, {false, false}, {true, false}} {
			isStale = want.stale
			r.plug(t, 1, want.plugged)
			plugged, stale := look()
			is.Equal(plugged, want.plugged)
			is.Equal(stale, want.stale)
			plugged, stale = look()
			is.Equal(plugged, want.plugged)
			is.Equal(stale, want.stale)
		}
		nodes, _ := read.Of(nil, nil)
		is.Equal(len(nodes), 0)
	})
}
