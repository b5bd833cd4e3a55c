package inventory

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/model/hub/hubtest"
)

// TestAsHuggingFaceWritesIt: the real huggingface_hub fetches a model while it is
// followed, and what it has written verifies.
func TestAsHuggingFaceWritesIt(t *testing.T) {
	is := is.New(t)
	h := hubtest.New(t)
	h.Models["org/name"] = hubtest.Model{
		"config.json": config, "model-00001-of-00002.safetensors": safetensors(70_000), "model-00002-of-00002.safetensors": safetensors(30_000),
		"model.safetensors.index.json": `{"metadata":{"total_size":100000},"weight_map":{"a":"model-00001-of-00002.safetensors","b":"model-00002-of-00002.safetensors"}}`,
	}
	folder := t.TempDir()
	python := h.Python(t, folder)
	i := opened(t, Places{Home: folder, HFHome: filepath.Join(folder, "hf")})
	fetch := func(patterns string) {
		c := exec.CommandContext(t.Context(), python, "-c", "from huggingface_hub import snapshot_download; snapshot_download('org/name', ignore_patterns="+patterns+")")
		c.Env = []string{"HOME=" + folder, "HF_HOME=" + filepath.Join(folder, "hf"), "HF_HUB_DISABLE_XET=1", "HF_HUB_DISABLE_TELEMETRY=1", "PATH=" + os.Getenv("PATH")}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	fetch("['*-00002-*']")
	m := only(t, i.List())
	is.Equal(m.Missing, []string{"model-00002-of-00002.safetensors"})
	fetch("[]")
	until(t, i, func(list api.ModelListResult) bool { return *list.Models[0].Complete })
	m = only(t, i.List())
	is.Equal(m.Model, "org/name")
	is.Equal(m.Refs, []string{"main"})
	is.Equal(*m.WeightsBytes, int64(100_000))
	is.Equal(m.FileCount, 4)
	is.Equal(len(i.List().Folders[0].Refused), 0)
	is.NoErr(i.Verify(t.Context(), api.ModelSelect{Model: "org/name"}, func(p api.ModelProgress, isLast bool) error {
		if isLast && (p.Verified != 4 || p.Error != nil) {
			t.Fatalf("%+v", p)
		}
		return nil
	}))
}
