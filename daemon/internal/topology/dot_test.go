package topology

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestDOTNamesCannotBreakOut(t *testing.T) {
	is := is.New(t)
	nodes := []Node{testNode(0), testNode(1)}
	plug(nodes, 0, 1, 1, 1, 80)
	nodes[0].ShortName = "a\"]; x [label=\"\\\r\xff"
	dot := Build(Input{Nodes: nodes}).DOT()
	is.True(strings.Contains(dot, `n1 [label="a\"]; x [label=\"\\ `+"\uFFFD\"];\n"))
	is.True(strings.Contains(dot, `n1 -- n2 [label="en3/en3\n80 Gb/s"];`))
}

func TestDOTDrawsAHubOnce(t *testing.T) {
	is := is.New(t)
	nodes := []Node{testNode(0), testNode(1), testNode(2)}
	p := testPort(0, 1, both(80), behind(testPeer(1, 1), "0x1", both(80)), behind(testPeer(2, 1), "0x1", both(40)))
	p.Hubs = []api.ThunderboltHub{testHub("0x1", "", "Dock", nil)}
	nodes[0].Thunderbolt = []Port{p}
	q := testPort(1, 1, both(80), behind(testPeer(0, 1), "0x7", both(80))) // the same hub, from another side
	q.Hubs = []api.ThunderboltHub{testHub("0x7", "", "Dock", nil)}
	nodes[1].Thunderbolt = []Port{q}
	nodes[2].Thunderbolt = []Port{testPort(2, 1, both(40), testPeer(0, 1))}
	is.Equal(Build(Input{Nodes: nodes}).DOT(), `graph G {
  node [shape=rectangle];
  n1 [label="mac-0"];
  n2 [label="mac-1"];
  n3 [label="mac-2"];
  h1 [label="Dock", shape=ellipse];
  n1 -- h1 [label="en3\n80 Gb/s"];
  h1 -- n2 [label="en3\n80 Gb/s"];
  h1 -- n3 [label="en3\n40 Gb/s"];
}
`)
}
