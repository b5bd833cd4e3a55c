package topology

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

// compared is a cluster for which mlx.distributed_config and Fulmen choose cables.
type compared struct {
	name    string
	backend api.Backend
	nodes   []Node
}

// joined are n nodes with so many cables between each two.
func joined(n int, cables func(i, j int) int) []Node {
	nodes := make([]Node, n)
	for i := range nodes {
		nodes[i] = testNode(i)
	}
	for i := range nodes {
		for j := i + 1; j < n; j++ {
			for range cables(i, j) {
				plug(nodes, i, len(nodes[i].Thunderbolt)+1, j, len(nodes[j].Thunderbolt)+1, 80)
			}
		}
	}
	return nodes
}

// clustersToCompare are those of the table, and so many by lot that are not in it.
func clustersToCompare(t *testing.T) []compared {
	var all []compared
	for cables := 1; cables <= 3; cables++ {
		for n := 2; n <= 8; n++ {
			all = append(all, compared{"2 to 8, each two joined by 1, 2, 3", api.BackendJACCL, joined(n, func(int, int) int { return cables })})
		}
	}
	for cables := 1; cables < 3; cables++ {
		all = append(all, compared{"4, each two joined by 3, one pair by 1, 2", api.BackendJACCL, joined(4, func(i, j int) int {
			if i == 1 && j == 2 {
				return cables
			}
			return 3
		})})
	}
	for cables := 1; cables <= 3; cables++ {
		for n := 3; n <= 8; n++ {
			all = append(all, compared{"a ring of 3 to 8, each neighbour by 1, 2, 3", api.BackendJACCLRing, joined(n, func(i, j int) int {
				if j == i+1 || i == 0 && j == n-1 {
					return cables
				}
				return 0
			})})
		}
	}
	for seed := range testkit.Upto(t, 60) {
		r := seed.Source(1)
		all = append(all, compared{"", api.BackendJACCL, joined(2+r.IntN(7), func(int, int) int { return 1 + r.IntN(3) })})
	}
	return all
}

// As many cables are chosen for each pair, and written in the form, as by the
// mlx.distributed_config of the MLX that this is built with; where all of them are
// chosen, the same ones. docs/from-mlx-launch.md has the table.
func TestAsDistributedConfig(t *testing.T) {
	is := is.New(t)
	all := clustersToCompare(t)
	theirs := distributedConfig(t, all)
	is.Equal(len(theirs), len(all))
	var table [][3]string // each kind of cluster, with what both choose for it
	add := func(name, theirs, ours string) {
		switch last := len(table) - 1; {
		case last < 0 || table[last][0] != name:
			table = append(table, [3]string{name, theirs, ours})
		case !strings.HasSuffix(table[last][1], theirs):
			table[last] = [3]string{name, table[last][1] + ", " + theirs, table[last][2] + ", " + ours}
		}
	}
	for i, c := range all {
		order := make([]api.NodeID, len(c.nodes))
		for k, n := range c.nodes {
			order[k] = n.ID
		}
		m, _, err := Build(Input{Nodes: c.nodes}).Matrix(order, c.backend)
		is.NoErr(err)
		text, err := json.Marshal(api.DeviceRows(m))
		is.NoErr(err)
		var ours [][]any
		is.NoErr(json.Unmarshal(text, &ours))
		width := len(m[0][1])
		for a := range m {
			for b := range m {
				if names(ours[a][b]) == nil && names(theirs[i][a][b]) == nil {
					continue
				}
				_, isOne := ours[a][b].(string)
				_, isTheirs := theirs[i][a][b].(string)
				is.Equal(isOne, isTheirs) // one cable is a string, several are a list
				is.Equal(len(names(ours[a][b])), len(names(theirs[i][a][b])))
				if count := cablesOfPair(c.nodes[a], c.nodes[b]); count == width {
					is.Equal(byName(names(ours[a][b])), byName(names(theirs[i][a][b])))
				}
			}
		}
		if c.name != "" {
			add(c.name, strconv.Itoa(len(names(theirs[i][0][1]))), strconv.Itoa(width))
		}
	}
	page, err := os.ReadFile("../../../docs/from-mlx-launch.md")
	is.NoErr(err)
	text := "| Macs and cables | `mlx.distributed_config`, each pair | Fulmen, each pair |\n| --- | ---: | ---: |\n"
	for _, row := range table {
		text += fmt.Sprintf("| %s | %s | %s |\n", row[0], row[1], row[2])
	}
	if !strings.Contains(string(page), text) {
		t.Errorf("docs/from-mlx-launch.md lacks this table:\n%s", text)
	}
}

// names are a cell's devices.
func names(cell any) []string {
	switch cell := cell.(type) {
	case string:
		return []string{cell}
	case []any:
		var all []string
		for _, name := range cell {
			all = append(all, name.(string))
		}
		return all
	}
	return nil
}

func byName(all []string) []string {
	slices.Sort(all)
	return all
}

// cablesOfPair counts the ports of a that lead to b.
func cablesOfPair(a, b Node) int {
	n := 0
	for _, p := range a.Thunderbolt {
		for _, peer := range p.Peers {
			if slices.ContainsFunc(b.Thunderbolt, func(q Port) bool { return q.DomainUUID == peer.DomainUUID }) {
				n++
			}
		}
	}
	return n
}

// distributedConfig asks MLX's own.
func distributedConfig(t *testing.T, all []compared) [][][]any {
	t.Helper()
	type cluster struct {
		Backend api.Backend   `json:"backend"`
		Hosts   [][][3]string `json:"hosts"`
	}
	var request []cluster
	for _, c := range all {
		of := cluster{Backend: c.backend}
		for _, n := range c.nodes {
			ports := [][3]string{}
			for _, p := range n.Thunderbolt {
				ports = append(ports, [3]string{p.Interface, p.DomainUUID, p.Peers[0].DomainUUID})
			}
			of.Hosts = append(of.Hosts, ports)
		}
		request = append(request, of)
	}
	stdin, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	build, err := filepath.Abs("../../../build")
	if err != nil {
		t.Fatal(err)
	}
	interpreter := filepath.Join(build, "tools", "bin", "python3")
	if _, err := os.Stat(interpreter); err != nil {
		interpreter = "python3"
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, interpreter, "testdata/distributed_config.py")
	cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(build, "mlx", "current"))
	cmd.Stdin = bytes.NewReader(stdin)
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("MLX's distributed_config cannot be run here: %v", err)
	}
	var theirs [][][]any
	if err := json.Unmarshal(out, &theirs); err != nil {
		t.Fatal(err)
	}
	return theirs
}
