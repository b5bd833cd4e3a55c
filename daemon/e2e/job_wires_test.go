package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
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
	j := s.cluster(t, scenario, []string{"mini-1", "mini-2"}, unhurried)
	call := func(args ...string) ran { return end(t, j.fulmen(t.Context(), j.Nodes[0], args...)) }

	want := map[string]api.LinkKind{}
	for network, kind := range map[string]api.LinkKind{"9.9.9": api.LinkEthernet, "192.168.1": api.LinkEthernet, "192.168.2": api.LinkEthernet,
		"10.0.0": api.LinkWiFi, "100.64.0": api.LinkVPN, "10.20.0": api.LinkUnknown} {
		for i, n := range j.Nodes { // each must have found the other
			want[fmt.Sprintf("%s/%s.%d", n.ID, network, i+1)] = kind
		}
	}
	rows := func() (found map[string]api.LinkKind, measured int) {
		var list api.LinkListResult
		must(t, "the rows", json.Unmarshal([]byte(call("export", "json").out), &list))
		found = map[string]api.LinkKind{}
		for _, r := range list.Rows {
			if r.From == r.To {
				continue
			}
			if found[r.Name] = r.Kind; r.UpBitsPerS != nil {
				measured++
			}
		}
		return found, measured
	}
	eventually(t, "row of each address", soon, func() bool { found, _ := rows(); return maps.Equal(found, want) })
	eventually(t, "measurement of each address with a record", soon, func() bool {
		out := call("measure", "link") // on a busy machine one is put off
		_, n := rows()
		if n != 8 { // there and back
			t.Logf("%d are measured: %+v", n, out)
		}
		return n == 8
	})
	plan := func(more ...string) string {
		return call(slices.Concat([]string{"plan", "-n", "2", "--backend", "ring"}, more, []string{"--", "true"})...).out
	}
	is.True(strings.Contains(plan(), "over en0 (ethernet), which is not Thunderbolt, not named"))
	for network, over := range map[string]string{"9.9.9.2/32": "en0 (ethernet)", "en1": "en1 (wifi)", "utun4": "utun4 (vpn)", "10.20.0.0/24": "utun5 (unknown)"} {
		is.True(strings.Contains(plan("--network", network), "talk over "+over))
	}
	shown := plan("--network", "0.0.0.0/0") // Wi-Fi is not twice as fast
	is.Equal(strings.Count(shown, "talk over"), 2)
	is.True(strings.Contains(shown, "talk over en0") && strings.Contains(shown, "talk over en8"))
	got := end(t, j.run(t, "-n", "2", "--backend", "ring", "--network", "192.168.0.0/16", "--", j.Python, j.Program("wires.py")))
	for rank := range 2 { // two connections each way; not all that was sent need be acknowledged
		carried := regexp.MustCompile(fmt.Sprintf(`(?m)^\[%d\] rank %d: a connection carried [4-8] MiB$`, rank, rank)).FindAllString(got.out, -1)
		if got.status != 0 || len(carried) != 4 || !strings.Contains(got.out, fmt.Sprintf("rank %d: the sum is 3", rank)) {
			t.Errorf("rank %d: %+v", rank, got)
		}
	}
}
