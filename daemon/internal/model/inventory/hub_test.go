package inventory

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// TestAsHuggingFaceWritesIt: the real huggingface_hub fetches a model while it is
// followed, and what it has written verifies.
func TestAsHuggingFaceWritesIt(t *testing.T) {
	is := is.New(t)
	packages, err := filepath.Abs("../../../../build/tools/mlxlm")
	is.NoErr(err)
	python, err := exec.LookPath("python3")
	if _, missing := os.Stat(filepath.Join(packages, "huggingface_hub")); missing != nil || err != nil {
		t.Skip("there is no huggingface_hub here; cmd/internal/deps/deps.sh mlxlm fetches it")
	}
	files := map[string]string{
		"config.json": config, "model-00001-of-00002.safetensors": safetensors(70_000), "model-00002-of-00002.safetensors": safetensors(30_000),
		"model.safetensors.index.json": `{"metadata":{"total_size":100000},"weight_map":{"a":"model-00001-of-00002.safetensors","b":"model-00002-of-00002.safetensors"}}`,
	}
	folder := t.TempDir()
	i := opened(t, Places{Home: folder, HFHome: filepath.Join(folder, "hf")})
	fetch := func(patterns string) {
		hub := httptest.NewServer(hubOf(files))
		defer hub.Close()
		c := exec.CommandContext(t.Context(), python, "-c", "from huggingface_hub import snapshot_download; snapshot_download('org/name', ignore_patterns="+patterns+")")
		c.Env = []string{"HOME=" + folder, "HF_HOME=" + filepath.Join(folder, "hf"), "HF_ENDPOINT=" + hub.URL, "HF_HUB_DISABLE_XET=1", "HF_HUB_DISABLE_TELEMETRY=1",
			"PYTHONPATH=" + packages, "PYTHONDONTWRITEBYTECODE=1", "PATH=" + os.Getenv("PATH")}
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

// hubOf speaks as much of the Hub's protocol as fetching a repository takes.
func hubOf(files map[string]string) http.HandlerFunc {
	type entry struct {
		Type string `json:"type"`
		Path string `json:"path"`
		Size int    `json:"size"`
		OID  string `json:"oid"`
	}
	return func(w http.ResponseWriter, r *http.Request) {
		var tree []entry
		var siblings []map[string]string
		for name, content := range files {
			tree = append(tree, entry{"file", name, len(content), fmt.Sprintf("%x", sha1.Sum([]byte(content)))})
			siblings = append(siblings, map[string]string{"rfilename": name})
		}
		switch {
		case strings.HasPrefix(r.URL.Path, "/api/models/org/name/tree/"):
			_ = json.NewEncoder(w).Encode(tree)
		case strings.HasPrefix(r.URL.Path, "/api/models/org/name"):
			_ = json.NewEncoder(w).Encode(map[string]any{"id": "org/name", "sha": revision, "siblings": siblings})
		case strings.HasPrefix(r.URL.Path, "/org/name/resolve/"+revision+"/"):
			content := files[filepath.Base(r.URL.Path)]
			etag := fmt.Sprintf("%x", sha256.Sum256([]byte(content)))
			if filepath.Ext(r.URL.Path) == ".json" {
				etag = fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(content), content)))
			}
			w.Header().Set("ETag", `"`+etag+`"`)
			w.Header().Set("X-Repo-Commit", revision)
			w.Header().Set("Content-Length", fmt.Sprint(len(content)))
			_, _ = w.Write([]byte(content)) // a HEAD has none
		default:
			http.NotFound(w, r)
		}
	}
}
