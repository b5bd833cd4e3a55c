package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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
	t.Cleanup(func() { t.Log(call("links").out) })
	eventually(t, "row of each address, measured where that is recorded", 15*time.Second, func() bool {
		var list api.LinkListResult
		if json.Unmarshal([]byte(call("export", "json").out), &list) != nil {
			return false
		}
		found, measured := map[string]api.LinkKind{}, 0
		for _, r := range list.Rows {
			if _, address, _ := strings.Cut(r.Name, "/"); r.To == j.Nodes[1].ID {
				if found[address] = r.Kind; r.UpBitsPerS != nil {
					measured++
				}
			}
		}
		for address, kind := range want {
			if found[address] != kind {
				return false
			}
		}
		t.Log(found, measured)
		return measured > 0 // both wires, the first by two addresses, and Wi-Fi
	})
	plan := func(more ...string) string {
		return call(slices.Concat([]string{"plan", "-n", "2", "--backend", "ring"}, more, []string{"--", "true"})...).out
	}
	t.Log(plan())
	t.Log(plan("--network", "0.0.0.0/0"))
	for network, over := range map[string]string{"10.0.0.0/8": "en1", "utun4": "utun4", "utun5": "utun5"} {
		is.True(strings.Contains(plan("--network", network), over)) // named, or worth nothing beside a wire that is trusted
	}
	t.Log(call("export", "hostfile", "--backend", "ring").out)
	got := end(t, j.run(t, "-n", "2", "--backend", "ring", "--", j.Python, j.Program("wires.py")))
	t.Log(got.out, got.err)
	is.Equal(got.status, 0)
}
