package topology

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// meshed is n nodes joined each to each by cables, all reaching each other over
// Ethernet and every cable. Receptacle of i towards j is j+1, so that no end has
// the number of the other.
func meshed(n, cables int) []Node {
	nodes := make([]Node, n)
	for i := range nodes {
		nodes[i] = testNode(i)
		addInterface(&nodes[i], api.Interface{Name: "en0", Type: api.InterfaceEthernet, Up: true, Addresses: addresses(lanAddress(i))})
	}
	for i := range nodes {
		for j := i + 1; j < n; j++ {
			for c := range cables {
				plug(nodes, i, 1+j+c*n, j, 1+i+c*n, 80)
			}
		}
	}
	for i := range nodes {
		for j := range nodes {
			if i != j {
				nodes[i].Reach = append(nodes[i].Reach, testReach(j, lanAddress(j), "en0"))
			}
			for c := 0; i != j && c < cables; c++ {
				nodes[i].Reach = append(nodes[i].Reach, testReach(j, plugAddress(j, 1+i+c*n), fmt.Sprintf("en%d", 3+j+c*n)))
			}
		}
	}
	return nodes
}

func lanAddress(n int) string { return "10.0.0." + string(rune('1'+n)) }

func TestMatrixJoinsTheTwoEndsOfOneCable(t *testing.T) {
	is := is.New(t)
	nodes := meshed(3, 2)
	g := Build(Input{Nodes: nodes})
	order := []api.NodeID{testID(2), testID(0), testID(1)}
	for _, backend := range []api.Backend{api.BackendJACCL, api.BackendJACCLRing} {
		m, notes, err := g.Matrix(order, backend)
		is.NoErr(err)
		is.Equal(len(notes), 0)
		joined := map[string]string{}
		for _, c := range g.List().Cables {
			low, high := string(c.Ends[0].End.Node)+c.Ends[0].Device, string(c.Ends[1].End.Node)+c.Ends[1].Device
			joined[low], joined[high] = high, low
		}
		for i := range m {
			is.Equal(len(m[i][i]), 0)
			for j := range m {
				if i == j {
					continue
				}
				is.Equal(len(m[i][j]), 2) // both cables of each pair
				for c, device := range m[i][j] {
					is.Equal(joined[string(order[i])+device], string(order[j])+m[j][i][c])
				}
			}
		}
	}
}

func TestMatrixText(t *testing.T) {
	is := is.New(t)
	m := DeviceMatrix{{nil, {"rdma_en3", "rdma_en4"}}, {{"rdma_en5"}, nil}}
	is.Equal(m.Text(), "[\n    [null,[\"rdma_en3\",\"rdma_en4\"]],\n    [\"rdma_en5\",null]\n]\n")
	var back [][]any
	is.NoErr(json.Unmarshal([]byte(m.Text()), &back))
}

func TestMatrixPrefersTheFasterCable(t *testing.T) {
	is := is.New(t)
	nodes := meshed(2, 2)
	for n, p := range map[int]int{0: 0, 1: 0} { // the first cable: 120/40 and 80/80 are both ready
		nodes[n].Thunderbolt[p].Negotiated = speedOf(120, 40)
	}
	nodes[1].Thunderbolt[0].Negotiated = speedOf(40, 120)
	m, _, err := Build(Input{Nodes: nodes}).Matrix(nil, api.BackendJACCL)
	is.NoErr(err)
	is.Equal(m[0][1], []string{nodes[0].RDMA[1].Device.Name, nodes[0].RDMA[0].Device.Name})
	is.Equal(m[1][0], []string{nodes[1].RDMA[1].Device.Name, nodes[1].RDMA[0].Device.Name})
}

func TestMatrixNamesEveryMissingPair(t *testing.T) {
	is := is.New(t)
	nodes := meshed(4, 1)
	no := false
	nodes[3].RDMA[0].SwitchedOn, nodes[3].RDMA[0].Device = &no, nil // 3 towards 0
	nodes[0].Thunderbolt[0].Peers = nil                             // 0 - 1 unplugged
	nodes[1].Thunderbolt[0].Peers = nil
	g := Build(Input{Nodes: nodes})
	_, _, err := g.Matrix(nil, api.BackendJACCL)
	is.True(errors.Is(err, api.ReasonRDMANotReady))
	is.Equal(causeLine(err), "not_connected rdma_switch_off")

	// Between the others there is a ring.
	m, _, err := g.Matrix([]api.NodeID{testID(0), testID(2), testID(1), testID(3)}, api.BackendJACCLRing)
	is.True(errors.Is(err, api.ReasonRDMASwitchOff)) // 3 - 0 closes it
	is.Equal(m, nil)
	m, _, err = g.Matrix([]api.NodeID{testID(1), testID(2), testID(3)}, api.BackendAuto)
	is.NoErr(err)
	is.Equal(len(m), 3)
}

func TestRingWithoutAMesh(t *testing.T) {
	is := is.New(t)
	nodes := meshed(4, 1)
	for _, cut := range [][2]int{{0, 2}, {1, 3}} {
		for k, n := range cut {
			for i := range nodes[n].Thunderbolt {
				if nodes[n].Thunderbolt[i].PortNumber == api.PortNumber(1+cut[1-k]) {
					nodes[n].Thunderbolt[i].Peers = nil
				}
			}
		}
	}
	g := Build(Input{Nodes: nodes})
	text, notes, err := g.Hostfile(nil, api.BackendAuto)
	is.NoErr(err)
	is.Equal(len(notes), 1)
	is.Equal(notes[0].Reason, api.ReasonNetworkNotTrusted) // the exchange at the start is over Ethernet that nobody trusts
	is.True(strings.Contains(text, `"backend": "jaccl-ring"`))
	is.True(strings.Contains(text, `"rdma":[null,"rdma_en4",null,"rdma_en6"]`)) // 0 to 1 and 3
}

func TestMatrixTakesNoCableThatIsStale(t *testing.T) {
	is := is.New(t)
	nodes := meshed(2, 1)
	nodes[1].Stale = true
	_, _, err := Build(Input{Nodes: nodes}).Matrix(nil, api.BackendJACCL)
	is.Equal(causeLine(err), "unreachable")
}

func TestMatrixNotesWhatIsNotTold(t *testing.T) {
	is := is.New(t)
	nodes := meshed(2, 1)
	nodes[1].RDMA[0].Device.GIDs = nil
	nodes[1].Thunderbolt[0].Peers = nil
	m, notes, err := Build(Input{Nodes: nodes}).Matrix(nil, api.BackendJACCL)
	is.NoErr(err)
	is.Equal(len(m), 2)
	is.Equal([]api.Reason{notes[0].Reason, notes[1].Reason}, []api.Reason{api.ReasonRDMAOneSided, api.ReasonNotYetRead})
}

func TestExportsRefuseWhatIsNoGroup(t *testing.T) {
	g := Build(Input{Nodes: meshed(2, 1)})
	tests := map[string]struct {
		nodes   []api.NodeID
		backend api.Backend
		want    api.Reason
	}{
		"one node":        {[]api.NodeID{testID(0)}, api.BackendRing, api.ReasonBadValue},
		"a node twice":    {[]api.NodeID{testID(0), testID(0)}, api.BackendRing, api.ReasonBadValue},
		"a stranger":      {[]api.NodeID{testID(0), testID(5)}, api.BackendRing, api.ReasonNoSuchNode},
		"another backend": {nil, "nccl", api.ReasonBadValue},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			_, _, err := g.Hostfile(tt.nodes, tt.backend)
			is.True(errors.Is(err, tt.want))
		})
	}
	is := is.New(t)
	_, _, err := g.Matrix(nil, api.BackendRing)
	is.True(errors.Is(err, api.ReasonBadValue))
	_, _, err = Build(Input{Nodes: meshed(9, 1)}).Matrix(nil, api.BackendJACCL)
	is.True(errors.Is(err, api.ReasonBadValue)) // a mesh of nine
	_, _, err = Build(Input{Nodes: meshed(8, 1)}).Matrix(nil, api.BackendJACCL)
	is.NoErr(err)
}

// causeLine is the reasons of an error's causes.
func causeLine(err error) string {
	e := api.AsError(err)
	if e == nil {
		return ""
	}
	var words []string
	for _, c := range e.Data.Causes {
		words = append(words, string(c.Reason))
	}
	return strings.Join(words, " ")
}

func TestRingUsesAsManyCablesEverywhere(t *testing.T) {
	is := is.New(t)
	nodes := meshed(3, 2)
	for i := range nodes[0].Thunderbolt { // the second cable of 0 and 1
		if nodes[0].Thunderbolt[i].PortNumber == 5 {
			nodes[0].Thunderbolt[i].Negotiated = both(40)
		}
	}
	m, _, err := Build(Input{Nodes: nodes}).Matrix(nil, api.BackendJACCLRing)
	is.NoErr(err)
	for i := range m {
		for j := range m {
			is.Equal(len(m[i][j]) == 1, i != j)
		}
	}
}
