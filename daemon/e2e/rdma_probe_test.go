package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/testcluster"
)

// rdmaCluster is two Macs with a cable that is ready for RDMA, and a program that plays
// both ranks where it is tested.
type rdmaCluster struct {
	*jobs
	cable     api.Cable
	low, high *testcluster.Node
}

func newRDMACluster(t *testing.T) *rdmaCluster {
	t.Helper()
	if testing.Short() {
		t.Skip("a cluster is paired first")
	}
	s := newStage(t)
	s.buildFulmen()
	s.Rehearse = s.buildStandin()
	r := &rdmaCluster{jobs: s.cluster(t, "mesh-4", []string{"studio-1", "studio-2"}, unhurried)}
	eventually(t, "a cable that is ready for RDMA at both", timeout, func() bool {
		ready := 0
		for _, n := range r.Nodes {
			for _, c := range call[api.LinkListResult](t, n.Client, "link.list", nil).Cables {
				if c.Link.Valid() && c.RDMA == api.RDMAReady {
					r.cable = c
					ready++
				}
			}
		}
		return ready == len(r.Nodes)
	})
	for _, n := range r.Nodes {
		if n.ID == r.cable.Link.Low.Node {
			r.low = n
		} else {
			r.high = n
		}
	}
	return r
}

// orders tells the ranks of the tests that follow what to do.
func (r *rdmaCluster) orders(t *testing.T, words string) {
	t.Helper()
	must(t, "orders", os.WriteFile(r.Rehearse+".orders", []byte(words), 0o644))
}

// probe tests the cable from a node.
func (r *rdmaCluster) probe(t *testing.T, at *testcluster.Node) ran {
	t.Helper()
	return end(t, r.fulmen(t.Context(), at, "rdma", "probe", r.cable.Link.String(), "--json"))
}

// counts are the tests that both ends have counted, as documents say.
func (r *rdmaCluster) counts(docs []api.Document) (counts [2]int) {
	for _, d := range docs {
		var one api.RDMA
		if json.Unmarshal(d.Value, &one) != nil {
			continue
		}
		for i, end := range []api.LinkEnd{r.cable.Link.Low, r.cable.Link.High} {
			if end == (api.LinkEnd{Node: d.Node, PortNumber: one.PortNumber}) {
				counts[i] = one.ProbesSinceBoot
			}
		}
	}
	return counts
}

// now are the counts as a node has them now.
func (r *rdmaCluster) now(t *testing.T, at *testcluster.Node) [2]int {
	t.Helper()
	return r.counts(call[api.StateGetResult](t, at.Client, "state.get", api.StateSelect{Kinds: []api.Kind{api.KindRDMA}}).Docs)
}

// counted waits until a node has heard of so many tests of the ends.
func (r *rdmaCluster) counted(t *testing.T, at *testcluster.Node, want [2]int) {
	t.Helper()
	documents(t, at.Mac, at.Client, fmt.Sprintf("%v tests", want), after, api.StateSelect{Kinds: []api.Kind{api.KindRDMA}}, func(v *client.View) bool { return r.counts(v.Docs()) == want })
}

// failed waits until the node that measures says that the last test failed, or
// does no longer.
func (r *rdmaCluster) failed(t *testing.T, want bool) {
	t.Helper()
	name := string(api.ReasonRDMAProbeFailed) + "/" + r.cable.Link.String()
	documents(t, r.low.Mac, r.low.Client, fmt.Sprintf("%s is %t", name, want), after, api.StateSelect{Kinds: []api.Kind{api.KindCondition}}, func(v *client.View) bool {
		found := false
		for _, d := range v.Docs() {
			found = found || d.Name == name
		}
		return found == want
	})
}

// row is the cable's row over RDMA, as a node shows it.
func (r *rdmaCluster) row(t *testing.T, at *testcluster.Node) (row api.LinkRow, found bool) {
	t.Helper()
	for _, one := range call[api.LinkListResult](t, at.Client, "link.list", nil).Rows {
		if one.Transport == api.TransportRDMA && one.Link == r.cable.Link {
			return one, true
		}
	}
	return row, false
}

// standins are the processes of the stand-in that run.
func (r *rdmaCluster) standins(t *testing.T) []int {
	t.Helper()
	var pids []int
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Skip("this system does not list processes")
	}
	for _, e := range entries {
		var pid int
		if _, err := fmt.Sscanf(e.Name(), "%d", &pid); err != nil {
			continue
		}
		if line, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline")); strings.HasPrefix(string(line), r.Rehearse+"\x00") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// TestRDMAProbe tests a cable over RDMA between two real daemons, with all there is
// but the hardware: grants of both, side channels, two processes. Their numbers are
// the scenario's.
func TestRDMAProbe(t *testing.T) {
	r := newRDMACluster(t)
	t.Run("from both ends", func(t *testing.T) {
		is := is.New(t)
		for i, at := range []*testcluster.Node{r.low, r.high} {
			got := r.probe(t, at)
			is.Equal(got.status, api.ExitOK)
			r.counted(t, at, [2]int{i + 1, i + 1})
			var row api.LinkRow
			eventually(t, "a good row", soon, func() bool {
				var found bool
				row, found = r.row(t, r.low)
				return found && row.Verdict == api.VerdictGood
			})
			is.True(row.Simulated)
			is.True(*row.UpBitsPerS > 40e9 && row.RTTUS != nil)
		}
	})
	t.Run("a rank that dies", func(t *testing.T) {
		is := is.New(t)
		for rank, on := range []*testcluster.Node{r.low, r.high} {
			r.orders(t, fmt.Sprintf("-die %d:described:kill", rank))
			got := r.probe(t, r.high)
			is.Equal(got.status, api.ExitFailed)
			is.True(strings.Contains(got.err, "On "+on.Mac+": ")) // the one that was killed, not the one that lost it
			r.failed(t, true)
			r.orders(t, "")
			is.Equal(r.probe(t, r.low).status, api.ExitOK)
			r.failed(t, false)
		}
	})
	t.Run("a daemon that is killed", func(t *testing.T) {
		is := is.New(t)
		r.orders(t, "-work 1h")
		c := r.fulmen(t.Context(), r.high, "rdma", "probe", r.cable.Link.String())
		must(t, "a test that runs", c.Start())
		var pids []int
		eventually(t, "both ranks", after, func() bool { pids = r.standins(t); return len(pids) == 2 })
		before := r.now(t, r.low)[0]
		is.True(before >= 2) // as was waited for; what came since may not be told yet
		r.low.End(syscall.SIGKILL)
		areGone(t, after, pids) // both: the one has lost its daemon, the other its partner
		_ = c.Wait()            // it has failed
		r.orders(t, "")
		must(t, "a new start", r.low.Boot(t.Context()))
		must(t, "a whole cluster", r.Whole(t.Context()))
		eventually(t, "what was counted before", after, func() bool { return r.now(t, r.low)[0] >= before })
		eventually(t, "the cable", after, func() bool { // a daemon that begins has to look at its ports first
			return slices.ContainsFunc(call[api.LinkListResult](t, r.low.Client, "link.list", nil).Cables, func(c api.Cable) bool { return c.Link == r.cable.Link })
		})
		is.Equal(r.probe(t, r.low).status, api.ExitOK)
	})
}
