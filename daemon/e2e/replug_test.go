package e2e

import (
	"testing"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/testcluster"
)

// TestReplug pulls a cable and plugs it in again. Its link-local IPv6 addresses are
// there seconds before those of IPv4, and a ring speaks IPv4 only: both ends come
// back to it.
func TestReplug(t *testing.T) {
	if testing.Short() {
		t.Skip("a cluster is paired first")
	}
	for _, c := range []struct {
		scenario, iface, low, high string
		macs                       []string
	}{
		{"two-studios", "en5", "studio-1.tb4", "studio-2.tb4", []string{"studio-1", "studio-2"}},
		{"tb4-pair", "bridge0", "mini-1.tb1", "mini-2.tb1", []string{"mini-1", "mini-2"}},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			j := newJobsOn(t, c.scenario, c.macs, shortly)
			// reaches waits for the families by which a node reaches the other one over the cable.
			reaches := func(n *testcluster.Node, what string, count int) {
				t.Helper()
				sel := api.StateSelect{Kinds: []api.Kind{api.KindReach}, Nodes: []api.NodeRef{api.NodeRef(n.ID)}}
				documents(t, n.Mac, n.Client, what, soon, sel, func(view *client.View) bool {
					found := 0
					for _, d := range view.Docs() {
						var reach api.Reach
						if d.Decode(&reach) == nil && reach.Interface == c.iface && reach.State == api.PathActive {
							found++
							if !reach.Address.Is4() {
								return false
							}
						}
					}
					return found == count
				})
			}
			for range 3 {
				for _, n := range j.Nodes {
					reaches(n, "path of IPv4 over the cable", 1)
				}
				change(t, j.Nodes[0].Client, "unplug "+c.low)
				for _, n := range j.Nodes {
					reaches(n, "end of the path over the cable", 0)
				}
				change(t, j.Nodes[0].Client, "plug "+c.low+" "+c.high)
			}
			for _, n := range j.Nodes {
				reaches(n, "path of IPv4 over the cable", 1)
			}
		})
	}
}
