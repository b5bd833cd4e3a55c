package e2e

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// Two Macs are joined by two wires, one of which has a public address too, by Wi-Fi, by a tunnel
// and by what is not known. Each address is found, shown and can be named; MLX's ring talks over
// both wires and over nothing else.
func TestNetworksOfAPair(t *testing.T) {
	t.Parallel() // it mostly waits
	needJobs(t)
	is := is.New(t)
	s := newStage(t)
	s.needPython(t)
	s.buildFulmen()
	text, err := os.ReadFile("testdata/scenarios/wires.toml")
	is.NoErr(err)
	scenario := filepath.Join(s.Folder, "wires.toml") // for other accounts
	is.NoErr(os.WriteFile(scenario, text, 0o644))
	j := s.cluster(t, scenario, []string{"mini-1", "mini-2"}, unhurried+"[network]\ntrusted = [\"192.168.0.0/16\"]\n")
	call := func(args ...string) ran { return end(t, j.fulmen(t.Context(), j.Nodes[0], args...)) }

	want := map[string]api.LinkKind{"9.9.9.2": api.LinkEthernet, "192.168.1.2": api.LinkEthernet, "192.168.2.2": api.LinkEthernet,
		"10.0.0.2": api.LinkWiFi, "100.64.0.2": api.LinkVPN, "10.20.0.2": api.LinkUnknown}
	rows := func() (found map[string]api.LinkKind, measured int) {
		var list api.LinkListResult
		must(t, "the rows", json.Unmarshal([]byte(call("export", "json").out), &list))
		found = map[string]api.LinkKind{}
		for _, r := range list.Rows {
			if _, address, _ := strings.Cut(r.Name, "/"); r.To == j.Nodes[1].ID {
				if found[address] = r.Kind; r.UpBitsPerS != nil {
					measured++
				}
			}
		}
		return found, measured
	}
	eventually(t, "row of each address", soon, func() bool { found, _ := rows(); return maps.Equal(found, want) })
	call("measure", "link", "--all")
	eventually(t, "measurement of each address with a record", soon, func() bool { _, n := rows(); return n == 4 })
	plan := func(more ...string) string {
		return call(slices.Concat([]string{"plan", "-n", "2", "--backend", "ring"}, more, []string{"--", "true"})...).out
	}
	t.Log(plan())
	t.Log(plan("--network", "0.0.0.0/0"))
	t.Log(plan("--network", "9.9.9.0/24"))
	t.Log(call("export", "hostfile", "--backend", "ring").out)
	t.Log(call("links").out)
	got := end(t, j.run(t, "-n", "2", "--backend", "ring", "--", j.Python, j.Program("wires.py")))
	t.Log(got.out, got.err)
	is.Equal(got.status, 0)
}
