package topology

import (
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// parsedHostfile is a host file as MLX reads it.
type parsedHostfile struct {
	Backend string
	Hosts   []struct {
		SSH  string
		IPs  []string
		RDMA []any
	}
}

func parseHostfile(t *testing.T, text string) parsedHostfile {
	t.Helper()
	var f parsedHostfile
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return f
}

func TestRingListensWhereTheRankBeforeReaches(t *testing.T) {
	is := is.New(t)
	g := Build(Input{Nodes: meshed(3, 2)})
	text, notes, err := g.Hostfile([]api.NodeID{testID(0), testID(2), testID(1)}, api.BackendRing)
	is.NoErr(err)
	is.Equal(len(notes), 0)
	f := parseHostfile(t, text)
	is.Equal(f.Backend, "ring")
	// Receptacles of j towards i are 1+i and 4+i; before 0 is 1, before 2 is 0, before 1 is 2.
	is.Equal(f.Hosts[0].SSH, "mac-0")
	is.Equal(f.Hosts[0].IPs, []string{plugAddress(0, 2), plugAddress(0, 5)})
	is.Equal(f.Hosts[1].SSH, "mac-2")
	is.Equal(f.Hosts[1].IPs, []string{plugAddress(2, 1), plugAddress(2, 4)})
	is.Equal(f.Hosts[2].SSH, "mac-1")
	is.Equal(f.Hosts[2].IPs, []string{plugAddress(1, 3), plugAddress(1, 6)})
}

// dropReach removes the paths of a node to a peer that keep does not keep.
func dropReach(n *Node, peer api.NodeID, keep func(api.Reach) bool) {
	var kept []api.Reach
	for _, r := range n.Reach {
		if r.Peer != peer || keep(r) {
			kept = append(kept, r)
		}
	}
	n.Reach = kept
}

func none(api.Reach) bool { return false }

func onLAN(r api.Reach) bool { return strings.HasPrefix(r.Address.String(), "10.") }

func TestRingHasAsManyAddressesEverywhere(t *testing.T) {
	is := is.New(t)
	nodes := meshed(3, 2)
	dropReach(&nodes[0], testID(1), func(r api.Reach) bool { return r.Address.String() == plugAddress(1, 1) })
	text, _, err := Build(Input{Nodes: nodes}).Hostfile(nil, api.BackendRing)
	is.NoErr(err)
	for _, h := range parseHostfile(t, text).Hosts {
		is.Equal(len(h.IPs), 1)
	}
}

func TestRingUsesOtherNetworksOnlyWhereTrusted(t *testing.T) {
	is := is.New(t)
	build := func(trusted ...int) (string, error) {
		nodes := meshed(3, 1)
		dropReach(&nodes[0], testID(1), onLAN)
		dropReach(&nodes[1], testID(0), onLAN)
		for _, n := range trusted {
			nodes[n].Network.Interfaces[0].Trusted = true
		}
		text, _, err := Build(Input{Nodes: nodes}).Hostfile(nil, api.BackendRing)
		return text, err
	}
	for _, trusted := range [][]int{nil, {0}, {1}} { // one end's trust is not enough
		_, err := build(trusted...)
		is.True(errors.Is(err, api.ReasonNoPath))
		is.Equal(causeLine(err), "network_not_trusted")
	}
	text, err := build(0, 1)
	is.NoErr(err)
	hosts := parseHostfile(t, text).Hosts
	is.Equal(hosts[1].IPs, []string{lanAddress(1)})
	is.Equal(hosts[2].IPs, []string{plugAddress(2, 2)}) // Thunderbolt first, no more than the others have
}

func TestRingTakesTheOtherEndsWord(t *testing.T) {
	is := is.New(t)
	nodes := meshed(2, 1)
	dropReach(&nodes[0], testID(1), none)
	for i := range nodes[1].Reach {
		if !onLAN(nodes[1].Reach[i]) {
			nodes[1].Reach[i].Source = netip.MustParseAddr(plugAddress(1, 1))
		}
	}
	text, notes, err := Build(Input{Nodes: nodes}).Hostfile(nil, api.BackendRing)
	is.NoErr(err)
	is.Equal(parseHostfile(t, text).Hosts[1].IPs, []string{plugAddress(1, 1)})
	is.Equal(len(notes), 1)
	is.Equal(notes[0].Reason, api.ReasonSourcesDisagree)

	nodes[1].Reach = nil
	_, _, err = Build(Input{Nodes: nodes}).Hostfile(nil, api.BackendRing)
	is.Equal(causeLine(err), "no_path no_path")
}

func TestRingLeavesOutWhatIsNotLive(t *testing.T) {
	is := is.New(t)
	nodes := meshed(2, 1)
	for i := range nodes[0].Reach {
		nodes[0].Reach[i].State = api.PathFailed
	}
	_, _, err := Build(Input{Nodes: nodes}).Hostfile(nil, api.BackendRing)
	is.Equal(causeLine(err), "no_path")
	nodes[0].Stale = true
	_, _, err = Build(Input{Nodes: nodes}).Hostfile(nil, api.BackendRing)
	is.Equal(causeLine(err), "no_path no_path")
}

func TestCoordinatorIsReachedByAllEthernetFirst(t *testing.T) {
	is := is.New(t)
	nodes := meshed(3, 1)
	text, _, err := Build(Input{Nodes: nodes}).Hostfile(nil, api.BackendJACCL)
	is.NoErr(err)
	f := parseHostfile(t, text)
	is.Equal(f.Backend, "jaccl")
	is.Equal(f.Hosts[0].IPs, []string{lanAddress(0)}) // the cables' addresses are for one peer each
	is.Equal(f.Hosts[1].IPs, []string{lanAddress(1), plugAddress(1, 1)})
	is.Equal(f.Hosts[2].RDMA, []any{"rdma_en3", "rdma_en4", nil})

	dropReach(&nodes[2], testID(0), func(r api.Reach) bool { return !onLAN(r) })
	_, _, err = Build(Input{Nodes: nodes}).Hostfile(nil, api.BackendJACCL)
	is.True(errors.Is(err, api.ReasonNoPath))
	is.Equal(api.AsError(err).Data.Causes[0].Subject, string(testID(2))+"~"+string(testID(0)))
	is.Equal(len(api.AsError(err).Data.Causes), 1)
}

func TestAutoSaysWhyThereIsNoRDMA(t *testing.T) {
	is := is.New(t)
	nodes := meshed(2, 1)
	nodes[1].RDMA[0].Device.PortState = api.RDMAPortDown
	text, notes, err := Build(Input{Nodes: nodes}).Hostfile(nil, api.BackendAuto)
	is.NoErr(err)
	is.Equal(parseHostfile(t, text).Backend, "ring")
	is.Equal([]api.Reason{notes[0].Reason, notes[1].Reason}, []api.Reason{api.ReasonRDMANotReady, api.ReasonRDMAPortDown})
}

func TestHostfileHasIPv4Only(t *testing.T) {
	is := is.New(t)
	nodes := meshed(2, 1)
	for n := range nodes {
		i := &nodes[n].Network.Interfaces[1] // the cable's
		i.Addresses = append(i.Addresses, addresses("fe80::1")...)
		nodes[n].Reach = append(nodes[n].Reach, testReach(1-n, "fe80::1%en3", i.Name))
	}
	for _, backend := range []api.Backend{api.BackendRing, api.BackendJACCL} {
		text, _, err := Build(Input{Nodes: nodes}).Hostfile(nil, backend)
		is.NoErr(err)
		is.True(!strings.Contains(text, "fe80"))
	}
}
