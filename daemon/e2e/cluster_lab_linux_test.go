package e2e

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/netns"
	"fulmen/daemon/e2e/testcluster"
)

// lab is three hosts and the networks between them: a LAN, and cables, each a
// network of its own, on which all addresses are self-assigned. North and south
// are joined by two cables.
type lab struct {
	program            string
	north, south, west *host
	all                []*host
	away               *netns.Space // where the bridges are
	lan                *netns.Network
	cables             []*netns.Network
	codes              []string // all that north showed
}

// pair is two hosts, and the interfaces by which each is to reach the other.
type pair struct {
	a, b        *host
	aWays, bWay []string
}

// newLab makes the hosts, with more in their configurations, and starts their
// daemons.
func newLab(t *testing.T, more string) *lab {
	t.Helper()
	l := &lab{away: newSpace(t, "switch"), program: filepath.Join(t.TempDir(), "daemon")}
	bin := filepath.Dir(l.program)
	must(t, "the programs' folder", errors.Join(os.Chmod(filepath.Dir(bin), 0o755), os.Chmod(bin, 0o755))) // accounts execute the shim
	must(t, "the daemon's program", testcluster.Link(built.path(t, "fulmend"), l.program, true))
	must(t, "the shim", testcluster.Link(built.path(t, "fulmen-shim"), filepath.Join(bin, "fulmen-shim"), true))
	l.north, l.south, l.west = newHost(t, l.program, "north", more), newHost(t, l.program, "south", more), newHost(t, l.program, "west", more)
	l.all = []*host{l.north, l.south, l.west}
	l.lan = newNetwork(t, l.away, "lan",
		plug{l.north, "lan0", "10.77.0.1/24"}, plug{l.south, "lan0", "10.77.0.2/24"}, plug{l.west, "lan0", "10.77.0.3/24"})
	l.cables = []*netns.Network{
		newNetwork(t, l.away, "c1", plug{l.north, "tb0", "169.254.10.1/16"}, plug{l.south, "tb0", "169.254.20.1/16"}),
		newNetwork(t, l.away, "c2", plug{l.north, "tb1", "169.254.10.2/16"}, plug{l.south, "tb1", "169.254.20.2/16"}),
		newNetwork(t, l.away, "c3", plug{l.north, "tb2", "169.254.10.3/16"}, plug{l.west, "tb0", "169.254.30.1/16"}),
		newNetwork(t, l.away, "c4", plug{l.south, "tb2", "169.254.20.3/16"}, plug{l.west, "tb1", "169.254.30.2/16"}),
	}
	for _, h := range l.all {
		h.boot(t)
	}
	return l
}

// pairs are the three pairs of hosts, with all interfaces between them.
func (l *lab) pairs() []pair {
	return []pair{
		{l.north, l.south, []string{"lan0", "tb0", "tb1"}, []string{"lan0", "tb0", "tb1"}},
		{l.north, l.west, []string{"lan0", "tb2"}, []string{"lan0", "tb0"}},
		{l.south, l.west, []string{"lan0", "tb2"}, []string{"lan0", "tb1"}},
	}
}

// active are the interfaces by which a node is reached now, in order.
func active(n api.NodeView) []string {
	var all []string
	for _, p := range n.Paths {
		if p.State != api.PathFailed {
			all = append(all, p.Interface)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// whole reports whether exactly some hosts are there, and all of them are alive.
func whole(s sight, hosts []*host) bool {
	for _, h := range hosts {
		if s[h.id].Liveness != api.LivenessAlive {
			return false
		}
	}
	return len(s) == len(hosts)
}

// isWhole waits until every host sees every other one alive.
func isWhole(t *testing.T, within time.Duration, hosts ...*host) {
	t.Helper()
	for _, h := range hosts {
		nodes(t, h.Name, h.client, "cluster of which all are alive", within, func(s sight) bool { return whole(s, hosts) })
	}
}

// hasPaths waits until every pair uses all its interfaces but some.
func (l *lab) hasPaths(t *testing.T, what string, within time.Duration, without ...string) {
	t.Helper()
	left := func(ways []string) []string {
		return slices.DeleteFunc(slices.Clone(ways), func(way string) bool { return slices.Contains(without, way) })
	}
	for _, p := range l.pairs() {
		nodes(t, p.a.Name, p.a.client, what+" to "+p.b.Name, within, func(s sight) bool { return slices.Equal(active(s[p.b.id]), left(p.aWays)) })
		nodes(t, p.b.Name, p.b.client, what+" to "+p.a.Name, within, func(s sight) bool { return slices.Equal(active(s[p.a.id]), left(p.bWay)) })
	}
}

// until is nodes of a host.
func (h *host) until(t *testing.T, what string, within time.Duration, fits func(sight) bool) {
	t.Helper()
	nodes(t, h.Name, h.client, what, within, fits)
}

// hasIdentities waits until a host holds the identity documents of hosts, with
// the names that they have, and of nobody else.
func hasIdentities(t *testing.T, h *host, names map[api.NodeID]string) {
	t.Helper()
	documents(t, h.Name, h.client, "identity of every member", soon, api.StateSelect{Kinds: []api.Kind{api.KindIdentity}}, func(v *client.View) bool {
		for _, d := range v.Docs() {
			var identity api.Identity
			if d.Decode(&identity) != nil || names[d.Node] != identity.Name {
				return false
			}
		}
		return len(v.Docs()) == len(names)
	})
}

// names are what hosts are called before anybody renames them.
func names(hosts ...*host) map[api.NodeID]string {
	all := map[api.NodeID]string{}
	for _, h := range hosts {
		all[h.id] = h.Name
	}
	return all
}

// open opens Add a Mac on north and gives the code.
func (l *lab) open(t *testing.T) string {
	t.Helper()
	code := call[api.ClusterPairResult](t, l.north.client, "cluster.pair", api.ClusterPairParams{}).Code
	l.codes = append(l.codes, code)
	return code
}

// sees waits until a host shows another one as one that asks to be let in.
func (h *host) sees(t *testing.T, other *host) {
	t.Helper()
	documents(t, h.Name, h.client, "entry of "+other.Name+" among those that ask", soon, api.StateSelect{Kinds: []api.Kind{api.KindPending}}, func(v *client.View) bool {
		return slices.ContainsFunc(v.Docs(), func(d api.Document) bool {
			var p api.Pending
			return d.Name == string(other.id) && d.Decode(&p) == nil && p.Peer == other.id && p.State == api.PendingAsking
		})
	})
}

// join has a host join with a code, and no address.
func (h *host) join(to *host, code string) (api.ClusterJoinResult, error) {
	return client.Call[api.ClusterJoinResult](context.Background(), h.client, "cluster.join", api.ClusterJoinParams{Node: to.id, Code: code})
}
