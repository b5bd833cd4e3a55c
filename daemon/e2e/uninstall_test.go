package e2e

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// Taking Fulmen off a Mac puts back what was changed for RDMA, at both ends, and
// leaves the cluster, before anything is removed.
func TestUninstallLeavesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("a cluster is paired first")
	}
	is := is.New(t)
	j := newCluster(t, "bridged", "studio-1", "studio-2")
	first, second := j.Nodes[0], j.Nodes[1]
	eventually(t, "the cables to be known", soon, func() bool {
		return slices.ContainsFunc(call[api.RDMAListResult](t, first.Client, "rdma.list", nil).Links, func(l api.RDMAReadiness) bool { return l.Verdict == api.RDMACanEnable })
	})
	before := [2]string{j.network(t, first), j.network(t, second)}
	for _, n := range j.Nodes {
		call[api.Sharing](t, n.Client, "cluster.set_sharing", api.ClusterSetSharingParams{RDMAChanges: api.ChangesMembers})
	}
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	done, err := client.Call[api.RDMAChangeResult](ctx, first.Client, "rdma.enable", api.RDMAChangeParams{Links: []api.LinkRef{"studio-1:4"}})
	is.NoErr(err)
	is.Equal(len(done.Changes), 2)
	eventually(t, "another network", soon, func() bool { return j.network(t, second) != before[1] })
	past := end(t, j.fulmen(ctx, second, "rdma", "history"))
	is.True(strings.Contains(past.out, "RDMA is enabled"))

	would := end(t, j.fulmen(ctx, second, "uninstall", "--dry-run"))
	is.Equal(would.status, api.ExitOK)
	is.True(strings.Contains(would.out, "These network settings are put back first:"))
	is.True(strings.Contains(would.out, "leaves its cluster of 2"))
	is.True(j.network(t, second) != before[1]) // it was only said

	got := end(t, j.fulmen(ctx, second, "uninstall", "--yes"))
	t.Log(got.out, got.err)
	is.Equal(got.status, api.ExitOK)
	_, err = os.Stat(second.Home)
	is.True(os.IsNotExist(err)) // the record of changes too: nothing of it was left to do
	eventually(t, "the network to be as before", soon, func() bool { return j.network(t, first) == before[0] })
	documents(t, first.Mac, first.Client, "one identity alone", after, api.StateSelect{Kinds: []api.Kind{api.KindIdentity}}, func(v *client.View) bool { return len(v.Docs()) == 1 })

	// Installed again it is another node, of a Mac as it was before.
	was := second.ID
	must(t, "a new start", second.Boot(ctx))
	is.True(second.ID != was)
	eventually(t, "its network to be as before", soon, func() bool { return j.network(t, second) == before[1] })
}
