package e2e

import (
	"syscall"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// TestCluster has daemons that run as an account of their own become a cluster,
// lend to each other, and come back after they were killed.
func TestCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("a cluster is paired first")
	}
	is := is.New(t)
	j := newJobs(t, 2, shortly)
	for _, n := range j.Nodes {
		sharing := call[api.Sharing](t, n.Client, "cluster.sharing", nil)
		is.Equal(sharing.Jobs, api.JobsMapped)
		is.True(sharing.MappedMembers)
	}
	killed := j.Nodes[1]
	id := killed.ID
	killed.End(syscall.SIGKILL)
	must(t, "a new start", killed.Boot(t.Context()))
	is.Equal(killed.ID, id)
	must(t, "a whole cluster", j.Whole(t.Context()))
	is.Equal(end(t, j.fulmen(t.Context(), killed, "nodes")).status, api.ExitOK)
}
