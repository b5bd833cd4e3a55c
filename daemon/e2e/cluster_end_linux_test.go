package e2e

import (
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// A daemon that is killed comes back as the one it was.
func (l *lab) testKilled(t *testing.T) {
	is := is.New(t)
	id := l.south.id
	killed := time.Now()
	l.south.end(t, syscall.SIGKILL)
	l.south.boot(t)
	is.Equal(l.south.id, id)
	for _, h := range l.all {
		documents(t, h.Name, h.client, "identity of the daemon that was started anew", soon, api.StateSelect{Kinds: []api.Kind{api.KindIdentity}}, func(v *client.View) bool {
			return slices.ContainsFunc(v.Docs(), func(d api.Document) bool {
				var identity api.Identity
				return d.Node == id && d.Decode(&identity) == nil && identity.StartedAt.After(killed)
			})
		})
	}
	isWhole(t, soon, l.all...)
	for _, h := range l.all {
		hasIdentities(t, h, names(l.all...))
		h.until(t, "the three names", soon, func(s sight) bool { // and no second one of a name
			short := map[string]bool{}
			for _, n := range s {
				short[n.ShortName] = true
			}
			return len(s) == 3 && maps.Equal(short, map[string]bool{"north": true, "south": true, "west": true})
		})
		is.Equal(len(call[api.ClusterPeersResult](t, h.client, "cluster.peers", nil).Members), 3)
	}
	l.hasPaths(t, "path by every interface again", soon)
}

// A member that is removed is out everywhere. It says so, and begins anew with
// another key, so that it can be paired again.
func (l *lab) testRemoved(t *testing.T) {
	is := is.New(t)
	was := l.west.id
	anew, gone := l.west.reported.Await("msg=ready"), l.west.reported.End
	removed := call[api.ClusterRemoveResult](t, l.north.client, "cluster.remove", api.ClusterRemoveParams{Nodes: []api.NodeRef{api.NodeRef(was)}})
	is.Equal(removed.Removed, []api.NodeID{was})
	left := []*host{l.north, l.south}
	for _, h := range left {
		h.until(t, "west as removed", soon, func(s sight) bool {
			n := s[was]
			return n.Liveness == api.LivenessRemoved && n.Reason == api.ReasonRemoved && n.Message != "" && len(active(n)) == 0
		})
		documents(t, h.Name, h.client, "end of the documents of west", soon, api.StateSelect{}, func(v *client.View) bool {
			return !slices.ContainsFunc(v.Docs(), func(d api.Document) bool { return d.Node == was })
		})
		is.True(whole(withoutRemoved(call[api.NodeListResult](t, h.client, "node.list", nil).Nodes), left))
	}
	l.west.ready(t, anew)
	is.True(strings.Contains(gone(), "was removed from its cluster"))
	is.True(l.west.id != was)
	is.Equal(len(call[api.ClusterPeersResult](t, l.west.client, "cluster.peers", nil).Members), 1)
	l.west.until(t, "node that is alone", soon, func(s sight) bool { return whole(s, []*host{l.west}) })
	for _, d := range call[api.StateGetResult](t, l.west.client, "state.get", api.StateSelect{}).Docs {
		if d.Node != l.west.id {
			t.Errorf("west still holds %v, which it has of its former cluster", d.Key())
		}
	}
	eventually(t, "end of all connections of west", soon, func() bool { return len(l.west.connections(t)) == 0 })

	code := l.open(t)
	l.west.sees(t, l.north)
	_, err := l.west.join(l.north, code)
	is.NoErr(err)
	for _, h := range l.all {
		nodes(t, h.Name, h.client, "three members again", soon, func(s sight) bool {
			all := slices.Collect(maps.Values(s))
			return whole(withoutRemoved(all), l.all)
		})
		hasIdentities(t, h, names(l.all...))
	}
}

// withoutRemoved is what is said of members.
func withoutRemoved(all []api.NodeView) sight {
	s := sight{}
	for _, n := range all {
		if n.Liveness != api.LivenessRemoved {
			s[n.Node] = n
		}
	}
	return s
}
