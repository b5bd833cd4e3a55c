package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/sim/scenario"
)

// On Macs of which one has less memory every rank reads its share from the variable and
// those of all from the file: the plan's, by memory.
func (j *jaccl) testShares(t *testing.T) {
	j.needPython(t)
	is := is.New(t)
	id := j.detached(t, j.Nodes[0], "-n", "3", "--backend", "ring", "--per-node", "memory", "--", j.Python, j.Program("shares.py"))
	job, _ := j.until(t, j.Nodes[0], id, "end", timeout, hasEnded)
	is.Equal(job.Phase, api.JobSucceeded)

	rooms, whole := j.rooms(t, "hub-3"), 0.0
	for _, room := range rooms {
		whole += room
	}
	var planned []int
	var sum int
	for _, r := range job.Attempts[0].Plan.Ranks {
		planned = append(planned, int(math.Round(r.ShareRatio*1e6)))
		sum += planned[r.Rank]
		is.True(math.Abs(r.ShareRatio-rooms[r.Node]/whole) < 2e-6)
	}
	is.Equal(sum, 1_000_000)
	is.True(slices.Max(planned) > 2*slices.Min(planned))
	var all [][]int // of each rank its own, and those of all
	for _, own := range planned {
		all = append(all, append([]int{own}, planned...))
	}
	gathered, err := json.Marshal(all)
	is.NoErr(err)
	reported := strings.ReplaceAll(j.printed(t, id), " ", "")
	for rank := range planned {
		is.True(strings.Contains(reported, fmt.Sprintf("rank%d:%s\n", rank, gathered)))
	}
	shown := end(t, j.fulmen(t.Context(), j.Nodes[0], "job", "show", string(id))).out
	is.True(strings.Contains(shown, " SHARE "))
}

// rooms is what each node's GPU can use of its memory, by the scenario.
func (j *jaccl) rooms(t *testing.T, name string) map[api.NodeID]float64 {
	t.Helper()
	drawn, err := scenario.Load(name)
	must(t, "the scenario", err)
	out := map[api.NodeID]float64{}
	for _, n := range j.Nodes {
		m := drawn.Macs[slices.IndexFunc(drawn.Macs, func(m scenario.Mac) bool { return m.Name == n.Mac })]
		out[n.ID] = float64(min(m.GPUWorkingSetBytes, m.MemoryBytes-m.UsedBytes))
	}
	return out
}

// testLayers has mlx_lm's own pipeline take the shares of two of the Macs, by the programs
// of the page.
func (j *jaccl) testLayers(t *testing.T) {
	j.needMLXLM(t)
	const layers = 12
	folder := filepath.Join(j.Work, "pipelined")
	if made := end(t, j.Command(t.Context(), j.Python, j.Program("make_model.py"), folder, "qwen2", fmt.Sprint(layers))); made.status != 0 {
		t.Fatalf("make_model.py: %+v", made)
	}
	example(t, "programs.md", "split.py", j.Work)
	example(t, "programs.md", "pipeline.py", j.Work)
	first, last, rooms := j.Nodes[0].ID, j.Nodes[2].ID, j.rooms(t, "hub-3")
	got := end(t, j.run(t, "--nodes", string(first+","+last), "--rank0", string(first), "--backend", "ring", "--per-node", "memory", "--", j.Python, "pipeline.py", folder))
	large, small := rooms[first], rooms[last]
	for rank, room := range []float64{large, small} {
		line := fmt.Sprintf("[%d] %.0f of %d layers\n", rank, math.Round(room/(large+small)*layers), layers)
		if got.status != 0 || strings.Count(got.out, line) != 1 {
			t.Errorf("%q is not there once: %+v", line, got)
		}
	}
}
