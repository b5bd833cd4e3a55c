package topology

import (
	"fmt"
	"slices"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// bridged puts every Thunderbolt interface of a node into bridge0.
func bridged(n *Node, up bool) {
	b := api.Interface{Name: "bridge0", Type: api.InterfaceBridge, Up: up}
	for i := range n.Network.Interfaces {
		b.Members = append(b.Members, n.Network.Interfaces[i].Name)
	}
	addInterface(n, b)
}

func TestLoops(t *testing.T) {
	tests := map[string]struct {
		plugs [][4]int
		down  []int // nodes whose bridge is not up
		none  []int // nodes without a bridge
		want  string
		bad   int // cables that are marked
	}{
		"one cable":             {plugs: [][4]int{{0, 1, 1, 1}}, want: "[]"},
		"two parallel cables":   {plugs: [][4]int{{0, 1, 1, 1}, {0, 2, 1, 2}}, want: "[[0 1]]", bad: 2},
		"chain":                 {plugs: [][4]int{{0, 1, 1, 1}, {1, 2, 2, 1}}, want: "[]"},
		"triangle":              {plugs: [][4]int{{0, 1, 1, 1}, {1, 2, 2, 1}, {2, 2, 0, 2}}, want: "[[0 1 2]]", bad: 3},
		"triangle, one down":    {plugs: [][4]int{{0, 1, 1, 1}, {1, 2, 2, 1}, {2, 2, 0, 2}}, down: []int{1}, want: "[]"},
		"triangle, one without": {plugs: [][4]int{{0, 1, 1, 1}, {1, 2, 2, 1}, {2, 2, 0, 2}}, none: []int{2}, want: "[]"},
		"square":                {plugs: [][4]int{{0, 1, 1, 1}, {1, 2, 2, 1}, {2, 2, 3, 1}, {3, 2, 0, 2}}, want: "[[0 1 2 3]]", bad: 4},
		"triangle with a tail":  {plugs: [][4]int{{0, 1, 1, 1}, {1, 2, 2, 1}, {2, 2, 0, 2}, {2, 3, 3, 1}}, want: "[[0 1 2]]", bad: 3},
		"both ends in one Mac":  {plugs: [][4]int{{0, 1, 0, 2}}, want: "[[0]]", bad: 1},
		"two rings apart":       {plugs: [][4]int{{0, 1, 1, 1}, {0, 2, 1, 2}, {1, 3, 2, 3}, {2, 1, 3, 1}, {2, 2, 3, 2}}, want: "[[0 1] [2 3]]", bad: 4},
		"mesh of four": {plugs: [][4]int{{0, 1, 1, 1}, {0, 2, 2, 1}, {0, 3, 3, 1}, {1, 2, 2, 2}, {1, 3, 3, 2}, {2, 3, 3, 3}},
			want: "[[0 1 2] [0 1 3] [0 2 3]]", bad: 6},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			nodes := []Node{testNode(0), testNode(1), testNode(2), testNode(3)}
			for _, p := range tt.plugs {
				plug(nodes, p[0], p[1], p[2], p[3], 80)
			}
			up, with := [4]bool{true, true, true, true}, [4]bool{true, true, true, true}
			for _, n := range tt.down {
				up[n] = false
			}
			for _, n := range tt.none {
				with[n] = false
			}
			for n := range nodes {
				if with[n] {
					bridged(&nodes[n], up[n])
				}
			}
			list := Build(Input{Nodes: nodes}).List()
			is.Equal(fmt.Sprint(numbered(list.Loops)), tt.want)
			bad := 0
			for _, c := range list.Cables {
				if c.Verdict == api.VerdictBad {
					bad++
				}
			}
			is.Equal(bad, tt.bad)
		})
	}
}

// numbered names nodes by their numbers.
func numbered(loops [][]api.NodeID) [][]int {
	out := [][]int{}
	for _, l := range loops {
		var ring []int
		for _, id := range l {
			ring = append(ring, slices.Index(testIDs(), id))
		}
		out = append(out, ring)
	}
	return out
}

func TestACableThatIsDownClosesNoLoop(t *testing.T) {
	is := is.New(t)
	nodes := []Node{testNode(0), testNode(1)}
	plug(nodes, 0, 1, 1, 1, 80)
	plug(nodes, 0, 2, 1, 2, 80)
	for n := range nodes {
		bridged(&nodes[n], true)
		nodes[n].Thunderbolt[1].Negotiated = nil
		nodes[n].Thunderbolt[1].Unknown = map[string]api.Reason{"negotiated": api.ReasonLinkDown}
	}
	is.Equal(len(Build(Input{Nodes: nodes}).List().Loops), 0)
}
