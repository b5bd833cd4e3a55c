package e2e

import (
	"context"
	"errors"
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

// newCluster starts the cluster of a scenario of these tests.
func newCluster(t *testing.T, scenario string, macs ...string) *jobs {
	t.Helper()
	s := newStage(t)
	raw, err := os.ReadFile(filepath.Join("testdata", "scenarios", scenario+".toml"))
	must(t, "a scenario", err)
	path := filepath.Join(s.Folder, scenario+".toml")
	must(t, "a scenario", os.WriteFile(path, raw, 0o644))
	s.buildFulmen()
	return s.cluster(t, path, macs, "")
}

// network is what a node's system has: its bridge and its services; empty as long as
// the node does not know.
func (j *jobs) network(t *testing.T, at *testcluster.Node) string {
	t.Helper()
	state := call[api.StateGetResult](t, at.Client, "state.get", api.StateSelect{Kinds: []api.Kind{api.KindNetwork}, Nodes: []api.NodeRef{api.NodeRef(at.ID)}})
	if len(state.Docs) == 0 {
		return ""
	}
	var network api.Network
	must(t, "the network", state.Docs[0].Decode(&network))
	var words []string
	for _, i := range network.Interfaces {
		if i.Type != api.InterfaceThunderbolt {
			continue
		}
		word := i.Name + " " + i.Bridge + "/" + i.BridgeConfigured
		for _, a := range i.Addresses {
			if a.Address.Addr().Is4() {
				word += " " + a.Address.String()
			}
		}
		words = append(words, word)
	}
	return strings.Join(words, "\n")
}

// changed gives the states that the ends of a cable are in, as one node knows.
func changed(t *testing.T, c *client.Client, portNumber string) map[api.NodeID]api.RDMAChangeState {
	t.Helper()
	found := map[api.NodeID]api.RDMAChangeState{}
	for _, d := range call[api.StateGetResult](t, c, "state.get", api.StateSelect{Kinds: []api.Kind{api.KindRDMAChange}}).Docs {
		var one api.RDMAChange
		must(t, "a change", d.Decode(&one))
		if one.Link.Low.PortNumber.String() == portNumber && one.Link.High.PortNumber.String() == portNumber {
			found[d.Node] = one.State
		}
	}
	return found
}

// RDMA is enabled on Thunderbolt 5 cables alone, at both ends or not at all,
// whoever is killed in between, and everything can be put back.
func TestRDMAIsEnabledAndPutBack(t *testing.T) {
	is := is.New(t)
	j := newCluster(t, "bridged", "studio-1", "studio-2", "mini")
	first, second := j.Nodes[0], j.Nodes[1]
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	one := func(link string) api.RDMAChangeParams {
		return api.RDMAChangeParams{Links: []api.LinkRef{api.LinkRef(link)}}
	}
	ask := func(method string, p api.RDMAChangeParams) (api.RDMAChangeResult, error) {
		return client.Call[api.RDMAChangeResult](ctx, first.Client, method, p)
	}

	eventually(t, "the cables to be known", soon, func() bool {
		verdicts := map[api.RDMAVerdict]int{}
		for _, l := range call[api.RDMAListResult](t, first.Client, "rdma.list", nil).Links {
			verdicts[l.Verdict]++
		}
		return verdicts[api.RDMACanEnable] == 2 && verdicts[api.RDMACannot] == 1
	})
	before := [2]string{j.network(t, first), j.network(t, second)}
	_, err := ask("rdma.enable", one("studio-1:6"))
	is.True(errors.Is(err, api.ReasonNotThunderbolt5)) // the cable to the mini
	text := end(t, j.fulmen(ctx, first, "rdma", "enable", "studio-1:6"))
	is.Equal(text.status, api.ExitFailed)
	is.True(strings.Contains(text.err, "RDMA cannot be enabled: port 1 of mini is Thunderbolt 4, and RDMA needs Thunderbolt 5."))
	is.True(!strings.Contains(text.err, "bridge")) // which would not be in the way
	_, err = ask("rdma.enable", one("studio-1:4"))
	is.True(errors.Is(err, api.ReasonRDMAChangesRefused)) // nobody at the other Mac has allowed it
	for _, n := range j.Nodes {
		call[api.Sharing](t, n.Client, "cluster.set_sharing", api.ClusterSetSharingParams{RDMAChanges: api.ChangesMembers})
	}

	change(t, second.Client, "set studio-2.configuration refused")
	_, err = ask("rdma.enable", one("studio-1:4"))
	is.True(errors.Is(err, api.ReasonRDMAChangeFailed))
	same := func() bool { return [2]string{j.network(t, first), j.network(t, second)} == before }
	eventually(t, "the networks to be as before a refusal", soon, same)
	change(t, second.Client, "set studio-2.configuration free")

	j.refusesForAJob(t, first, "rdma", "enable", "studio-1:4")
	j.waitsForAChange(t, first, "studio-1", func() error {
		_, err := ask("rdma.enable", one("studio-1:4"))
		return err
	})
	_, _ = ask("rdma.undo", one("studio-1:4")) // there is nothing where it took too long
	eventually(t, "the networks to be as before the job", soon, same)

	dry, err := ask("rdma.enable", api.RDMAChangeParams{AllReady: true, DryRun: true})
	is.NoErr(err)
	is.Equal(len(dry.Changes), 4) // two cables, two ends
	is.True(dry.Changes[0].Address != dry.Changes[2].Address)
	is.True(same())
	eventually(t, "nothing to be undone", soon, func() bool { // the change that waited may be about to be put back still
		_, err := ask("rdma.undo", one("studio-1:4"))
		return errors.Is(err, api.ReasonRDMANothingToUndo)
	})

	done, err := ask("rdma.enable", api.RDMAChangeParams{AllReady: true})
	is.NoErr(err)
	is.Equal(done.Refused, nil)
	is.Equal(len(done.Changes), 4)
	for i, c := range done.Changes {
		is.Equal(c.State, api.RDMAChangeActive)
		is.Equal(c.Address, dry.Changes[i].Address)
	}
	again, err := ask("rdma.enable", one("studio-1:4"))
	is.NoErr(err)
	is.Equal(again.Changes[0].Change, done.Changes[0].Change) // nothing was made anew
	j.losesItsAddress(t, second)
	text = end(t, j.fulmen(ctx, first, "rdma", "disable", "studio-1:5"))
	if text.status != api.ExitOK {
		t.Fatalf("rdma disable: %s", text.err)
	}
	if !strings.Contains(text.out, "studio-2: put back.") {
		t.Fatalf("rdma disable: %s", text.out)
	}

	// kill -9 of the other end at several points of putting back and of enabling.
	points := []api.RDMAChangeState{api.RDMAChangeUndoing, api.RDMAChangeApplying}
	if os.Getenv("FULMEN_SOAK") != "" {
		points = append(points, api.RDMAChangePlanned, api.RDMAChangeProving)
	}
	for _, at := range points {
		method := "rdma.enable"
		if at == api.RDMAChangeUndoing {
			method = "rdma.disable"
		}
		j.killAt(t, first, second, at, func() { _, _ = ask(method, one("studio-1:4")) })
		eventually(t, "both ends to agree after a death while "+string(at), soon, func() bool {
			states := changed(t, first.Client, "4")
			a, b := states[first.ID], states[second.ID]
			return a == b && (a == api.RDMAChangeUndone || a == api.RDMAChangeActive)
		})
	}

	_, err = ask("rdma.undo", api.RDMAChangeParams{AllReady: true})
	is.NoErr(err)
	eventually(t, "the networks to be as before", soon, same)
	history := call[api.RDMAHistoryResult](t, first.Client, "rdma.history", api.RDMAHistoryParams{Link: "studio-1:5"})
	is.Equal(len(history.Changes), 1)
	is.Equal(history.Changes[0].State, api.RDMAChangeUndone)
	is.Equal(history.Changes[0].By.Node, first.ID)
	is.True(history.Changes[0].UndoneBy.User != "")
}

// killAt kills a node's daemon once it says that it is at a point of a change, and
// starts it again.
func (j *jobs) killAt(t *testing.T, watcher, victim *testcluster.Node, at api.RDMAChangeState, do func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	watching, stop := context.WithCancel(ctx)
	ready, seen := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(seen)
		first := true
		for event, err := range watcher.Client.Watch(watching, api.StateSelect{Kinds: []api.Kind{api.KindRDMAChange}}) {
			if first {
				close(ready)
				first = false
				continue
			}
			for _, d := range event.Put {
				var one api.RDMAChange
				if err == nil && d.Node == victim.ID && d.Decode(&one) == nil && one.State == at {
					return
				}
			}
		}
	}()
	<-ready
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-seen:
	case <-done: // it was over too quickly to be seen
	}
	stop()
	victim.End(syscall.SIGKILL)
	must(t, "a daemon started again", victim.Boot(ctx))
	<-done
}

// losesItsAddress has an enabled end lose its address, which Fulmen gives back.
func (j *jobs) losesItsAddress(t *testing.T, at *testcluster.Node) {
	t.Helper()
	address := func() string {
		for _, l := range strings.Split(j.network(t, at), "\n") {
			if strings.HasPrefix(l, "en5 ") {
				return l
			}
		}
		return ""
	}
	before := ""
	eventually(t, "the service to be known as Fulmen's, with its address", soon, func() bool {
		before = address()
		return j.isOurs(t, at, "en5") && len(strings.Fields(before)) > 2
	})
	change(t, at.Client, "set studio-2.en5.address none")
	eventually(t, "the address to be lost", soon, func() bool { return address() != before })
	eventually(t, "the address to be back", soon, func() bool { return address() == before })
	eventually(t, "the service made anew to be known as Fulmen's", soon, func() bool { return j.isOurs(t, at, "en5") })
}

// isOurs reports whether a node says that Fulmen made the service of an interface.
func (j *jobs) isOurs(t *testing.T, at *testcluster.Node, name string) bool {
	t.Helper()
	state := call[api.StateGetResult](t, at.Client, "state.get", api.StateSelect{Kinds: []api.Kind{api.KindNetwork}, Nodes: []api.NodeRef{api.NodeRef(at.ID)}})
	var network api.Network
	must(t, "the network", state.Docs[0].Decode(&network))
	i := slices.IndexFunc(network.Interfaces, func(i api.Interface) bool { return i.Name == name })
	return i >= 0 && network.Interfaces[i].Service != nil && network.Interfaces[i].Service.Ours
}
