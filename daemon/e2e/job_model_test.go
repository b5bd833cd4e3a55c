package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/sim/scenario"
)

// A model that two of three Macs have, each in a folder of its own, and that fits on none
// alone: the job runs on both, and each rank is given the folder of its Mac.
func (j *jobs) testModel(t *testing.T) {
	is := is.New(t)
	drawn, err := scenario.Load("mesh-4")
	is.NoErr(err)
	weights := drawn.Macs[0].GPUWorkingSetBytes / 2 * 3
	var folders []string
	for _, n := range j.Nodes[1:] {
		top := filepath.Join(j.Work, "models-"+n.Mac)
		folder := filepath.Join(top, "org", "m")
		is.NoErr(os.MkdirAll(folder, 0o755))
		is.NoErr(os.WriteFile(filepath.Join(folder, "config.json"), []byte(`{"model_type":"llama"}`), 0o644))
		is.NoErr(os.WriteFile(filepath.Join(folder, "model.gguf"), nil, 0o644))
		is.NoErr(os.Truncate(filepath.Join(folder, "model.gguf"), weights)) // which takes no room
		text, err := json.Marshal([]string{top})
		is.NoErr(err)
		call[api.Empty](t, n.Client, "daemon.set_config", api.DaemonSetConfigParams{Set: map[string]json.RawMessage{"models.folders": text}})
		folders = append(folders, folder)
	}
	flags := []string{"--model", "org/m", "--backend", "ring", "--allow-solo"}
	plan := j.does(t, j.Nodes[0], append(append([]string{"plan"}, flags...), "--", "true")...)
	for _, want := range []string{"plan: 2 nodes", "model: org/m, ", "studio-1 has no org/m, so it is left out.", "On studio-1, run: fulmen models copy org/m --from studio-"} {
		if !strings.Contains(plan, want) {
			t.Errorf("%q is not in %s", want, plan)
		}
	}
	got := end(t, j.run(t, append(flags, "--nodes", "studio-3", "--rank0", "studio-2", "--", "/bin/sh", "-c", `echo "$0 $FULMEN_MODEL $FULMEN_SHARDING"`, "{model}")...))
	for rank, folder := range folders {
		if line := fmt.Sprintf("[%d] %s %s tensor\n", rank, folder, folder); got.status != 0 || strings.Count(got.out, line) != 1 {
			t.Errorf("%q is not there once: %+v", line, got)
		}
	}
	none := end(t, j.fulmen(t.Context(), j.Nodes[0], "plan", "--model", "org/other", "--", "true"))
	is.Equal(none.status, 1)
	for _, n := range j.Nodes {
		is.True(strings.Contains(none.out, n.Mac+" has no org/other"))
	}
}
