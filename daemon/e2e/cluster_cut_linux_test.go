package e2e

import (
	"slices"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/netns"
)

// The LAN goes silent, and nobody is suspected.
func (l *lab) testOneCut(t *testing.T) {
	var records []*record
	for _, h := range l.all {
		records = append(records, follow(t, h.Name, h.client))
	}
	must(t, "a cut", l.lan.Cut())
	l.hasPaths(t, "path by the cables alone", soon, "lan0")
	for _, r := range records {
		r.never(t, "not alive", func(n api.NodeView) bool { return n.Liveness != api.LivenessAlive })
		r.stop()
	}
	for _, p := range l.pairs() {
		nodes(t, p.a.Name, p.a.client, "failed path by lan0 in the list", soon, func(s sight) bool {
			return slices.ContainsFunc(s[p.b.id].Paths, func(path api.PathView) bool {
				return path.Interface == "lan0" && path.State == api.PathFailed
			})
		})
	}
	must(t, "its end", l.lan.Heal())
	l.hasPaths(t, "path by every interface again", soon)
}

// A cable that is pulled is noticed, and is no loss.
func (l *lab) testPulled(t *testing.T) {
	north, south := follow(t, "north", l.north.client), follow(t, "south", l.south.client)
	must(t, "pulling", l.cables[0].Pull())
	isLeft := func(other *host) func(sight) bool {
		return func(s sight) bool { return slices.Equal(active(s[other.id]), []string{"lan0", "tb1"}) }
	}
	north.until(t, "path by the cable that is left", soon, isLeft(l.south))
	south.until(t, "path by the cable that is left", soon, isLeft(l.north))
	for _, r := range []*record{north, south} {
		r.never(t, "not alive", func(n api.NodeView) bool { return n.Liveness != api.LivenessAlive })
		r.stop()
	}
	must(t, "plugging", l.cables[0].Replug())
	l.hasPaths(t, "path by every interface again", soon)
}

// West loses all networks. Each half goes on, and says of the other since when
// and why it is not reached; what was written on either side arrives after.
func (l *lab) testCutOff(t *testing.T) {
	began := time.Now()
	for _, n := range append([]*netns.Network{l.lan}, l.cables...) {
		must(t, "a cut", n.Cut(l.west.Space))
	}
	isGone := func(n api.NodeView) bool {
		return n.Liveness == api.LivenessUnreachable && n.Reason != "" && n.Message != "" && !n.Since.Before(began.Truncate(time.Millisecond)) && len(active(n)) == 0
	}
	l.north.until(t, "west as unreachable", soon, func(s sight) bool { return isGone(s[l.west.id]) && s[l.south.id].Liveness == api.LivenessAlive })
	l.south.until(t, "west as unreachable", soon, func(s sight) bool { return isGone(s[l.west.id]) && s[l.north.id].Liveness == api.LivenessAlive })
	l.west.until(t, "both others as unreachable", soon, func(s sight) bool { return isGone(s[l.north.id]) && isGone(s[l.south.id]) })
	eventually(t, "west's documents, kept and said to be old", soon, func() bool {
		return slices.Equal(call[api.StateGetResult](t, l.north.client, "state.get", api.StateSelect{}).Stale, []api.NodeID{l.west.id})
	})

	lend(t, l.north, 101)
	lend(t, l.west, 103)
	lends(t, l.south, map[*host]float64{l.north: 101}) // what is whole goes on

	for _, n := range append([]*netns.Network{l.lan}, l.cables...) {
		must(t, "its end", n.Heal(l.west.Space))
	}
	isWhole(t, soon, l.all...)
	for _, h := range l.all {
		lends(t, h, map[*host]float64{l.north: 101, l.west: 103})
	}
}

// lend has a host say after how many seconds without a person it counts as idle,
// a document that nothing else changes.
func lend(t *testing.T, h *host, idleAfterS float64) {
	t.Helper()
	call[api.Sharing](t, h.client, "cluster.set_sharing", api.ClusterSetSharingParams{IdleAfterS: &idleAfterS})
}

// lends waits until a host knows what hosts lend.
func lends(t *testing.T, h *host, all map[*host]float64) {
	t.Helper()
	documents(t, h.Name, h.client, "news of what others lend", soon, api.StateSelect{Kinds: []api.Kind{api.KindSharing}}, func(v *client.View) bool {
		for of, idleAfterS := range all {
			var sharing api.Sharing
			d, found := v.Get(api.Key{Node: of.id, Kind: api.KindSharing})
			if !found || d.Decode(&sharing) != nil || sharing.IdleAfterS != idleAfterS {
				return false
			}
		}
		return true
	})
}
