package inventory

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestARepository(t *testing.T) {
	is := is.New(t)
	folder, cache := home(t)
	hubModel(t, cache, "models--org--Ünïcode-模型")
	m := only(t, opened(t, Places{Home: folder}).List())
	is.Equal(m.Model, "org/Ünïcode-模型")
	is.Equal(m.Revision, revision)
	is.Equal(m.Refs, []string{"main"})
	is.Equal(m.Source, api.ModelHub)
	is.Equal(m.Path, filepath.Join(cache, "models--org--Ünïcode-模型/snapshots", revision))
	is.True(*m.Complete)
	is.Equal(m.Architecture, "LlamaForCausalLM")
	is.Equal(m.ModelType, "llama")
	is.Equal(*m.Quantization, api.Quantization{Bits: 4, GroupSize: 64, Mode: "affine"})
	is.Equal(*m.WeightsBytes, int64(1000))
	is.Equal(m.WeightsFrom, api.WeightsHeaders)
	is.Equal(m.FileCount, 2)
	is.Equal(m.SizeBytes, int64(len(config)+len(safetensors(1000))))
	is.True(!m.ModifiedAt.IsZero())
}

// TestWhatLacks: by the index, by the numbers of the files, and by links that lead nowhere.
func TestWhatLacks(t *testing.T) {
	is := is.New(t)
	folder, cache := home(t)
	repo := filepath.Join(cache, "models--org--large")
	hubFile(t, repo, revision, "config.json", config, false)
	hubFile(t, repo, revision, "model-00001-of-00003.safetensors", safetensors(10), true)
	link(t, repo, revision, "model-00002-of-00003.safetensors", "../../blobs/gone")
	write(t, filepath.Join(repo, "blobs/abc.incomplete"), "1234567")
	i := opened(t, Places{Home: folder})
	m := only(t, i.List())
	is.True(!*m.Complete)
	is.Equal(m.Missing, []string{"model-00002-of-00003.safetensors", "model-00003-of-00003.safetensors"})
	is.Equal(m.PartialBytes, int64(7))
	is.Equal(m.Unknown["weights_bytes"], api.ReasonModelIncomplete)

	hubFile(t, repo, revision, "model.safetensors.index.json", `{"metadata":{"total_size":30,"total_parameters":60},"weight_map":{
		"a":"model-00001-of-00003.safetensors","b":"model-00002-of-00003.safetensors","c":"elsewhere.safetensors"}}`, false)
	until(t, i, func(list api.ModelListResult) bool { return list.Models[0].WeightsFrom == api.WeightsIndex })
	m = only(t, i.List())
	is.Equal(m.Missing, []string{"elsewhere.safetensors", "model-00002-of-00003.safetensors"})
	is.Equal(*m.WeightsBytes, int64(30))
	is.Equal(*m.Parameters, int64(60))
}

// TestWhatChangesIsSeen: a snapshot that becomes complete, and folders that come and go. Of
// a cache that nothing changed in no file is read again.
func TestWhatChangesIsSeen(t *testing.T) {
	is := is.New(t)
	folder, cache := home(t)
	i := opened(t, Places{Home: folder})
	is.Equal(len(i.List().Folders), 0)
	hubModel(t, cache, "models--org--other")
	until(t, i, func(list api.ModelListResult) bool { return len(list.Models) == 1 })
	is.True(i.List().Folders[0].Followed)
	other := i.roots[0].units["models--org--other"]

	repo := filepath.Join(cache, "models--org--new")
	hubFile(t, repo, revision, "config.json", config, false)
	link(t, repo, revision, "model.safetensors", "../../blobs/"+strings.Repeat("a", 64))
	until(t, i, func(list api.ModelListResult) bool { return len(list.Models) == 2 && !*list.Models[0].Complete })
	write(t, filepath.Join(repo, "blobs", strings.Repeat("a", 64)), safetensors(5))
	until(t, i, func(list api.ModelListResult) bool { return *list.Models[0].Complete })
	write(t, filepath.Join(repo, "refs/pr/1"), revision)
	until(t, i, func(list api.ModelListResult) bool { return slices.Equal(list.Models[0].Refs, []string{"pr/1"}) })
	is.True(i.roots[0].units["models--org--other"] == other) // it was not read again

	w := i.follower.(*watched)
	followed := w.count
	if err := os.RemoveAll(repo); err != nil {
		t.Fatal(err)
	}
	until(t, i, func(list api.ModelListResult) bool { return len(list.Models) == 1 })
	is.True(w.count < followed)
	if err := os.RemoveAll(cache); err != nil {
		t.Fatal(err)
	}
	until(t, i, func(list api.ModelListResult) bool { return len(list.Folders) == 0 })
	is.Equal(w.count, 0)
	hubModel(t, cache, "models--org--again")
	until(t, i, func(list api.ModelListResult) bool { return len(list.Models) == 1 })
}

// TestNothingElseIsOpened: links that lead out are refused, by whatever way.
func TestNothingElseIsOpened(t *testing.T) {
	is := is.New(t)
	folder, cache := home(t)
	secret := filepath.Join(t.TempDir(), "secret.safetensors")
	write(t, secret, safetensors(7))
	repo := hubModel(t, cache, "models--org--name")
	hubModel(t, cache, "models--org--neighbour")
	up, err := filepath.Rel(filepath.Join(repo, "snapshots", revision), secret)
	is.NoErr(err)
	for name, target := range map[string]string{
		"absolute": secret, "up": up, "repo": "../../refs/main", "neighbour": "../../../models--org--neighbour/blobs/x", "blobs": "../../blobs",
		"inside": "../../blobs/../refs/main", "far": "../../../../../../../../../../blobs/x",
	} {
		link(t, repo, revision, name, target)
	}
	if err := os.Symlink(secret, filepath.Join(repo, "blobs/linked")); err != nil {
		t.Fatal(err)
	}
	link(t, repo, revision, "twice", "../../blobs/linked")
	if err := syscall.Mkfifo(filepath.Join(repo, "snapshots", revision, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(secret), filepath.Join(cache, "models--org--linked")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(cache, "models--..--up"), 0o755); err != nil {
		t.Fatal(err)
	}
	lm := filepath.Join(folder, ".lmstudio/models")
	write(t, filepath.Join(lm, "publisher/model/config.json"), config)
	if err := os.Symlink(secret, filepath.Join(lm, "publisher/model/model.safetensors")); err != nil {
		t.Fatal(err)
	}
	list := opened(t, Places{Home: folder}).List()
	is.Equal(len(list.Models), 3)
	at := slices.IndexFunc(list.Models, func(m api.Model) bool { return m.Model == "org/name" })
	is.Equal(list.Models[at].FileCount, 2)
	is.Equal(list.Models[at].Missing, []string{"absolute", "blobs", "far", "inside", "neighbour", "repo", "twice", "up"})
	is.Equal(len(list.Folders[0].Refused), 10) // and the pipe, and two repositories, but for the one whose blob is a link
	is.Equal(list.Folders[1].Refused, []string{"publisher/model/model.safetensors"})
	is.True(list.Models[at].Unknown["complete"] == "")
}

// TestFolders: those that are named, LM Studio's and Ollama's, and that nobody may read.
func TestFolders(t *testing.T) {
	is := is.New(t)
	folder, _ := home(t)
	own := t.TempDir()
	write(t, filepath.Join(own, "group/tuned/config.json"), `{"model_type":"qwen3","quantization_config":{"quant_method":"gptq","bits":8}}`)
	write(t, filepath.Join(own, "group/tuned/model.safetensors"), safetensors(64))
	hubModel(t, own, "models--org--moved")
	gguf := ggufFile(3, ggufWord("general.architecture", "qwen2"), ggufNumber("general.file_type", 17))
	write(t, filepath.Join(folder, ".lmstudio/models/pub/gguf/a-Q4.gguf"), gguf)
	write(t, filepath.Join(folder, ".cache/lm-studio/models/pub/gguf/a-Q4.gguf"), "1234")
	write(t, filepath.Join(folder, ".cache/lm-studio/models/pub/gguf/b-Q8.gguf"), "12345678")
	ollama := filepath.Join(folder, ".ollama/models")
	digest := func(c string) string { return "sha256:" + strings.Repeat(c, 64) }
	manifest := fmt.Sprintf(`{"schemaVersion":2,"config":{"digest":%q,"size":47},"layers":[{"mediaType":"application/vnd.ollama.image.model","digest":%q,"size":5}]}`, digest("a"), digest("b"))
	write(t, filepath.Join(ollama, "manifests/registry.ollama.ai/library/llama3/8b"), manifest)
	write(t, filepath.Join(ollama, "manifests/hf.co/org/x/broken"), "{")
	write(t, filepath.Join(ollama, "blobs/sha256-"+strings.Repeat("a", 64)), `{"model_family":"llama", "file_type":"Q4_K_M" }`)
	i := opened(t, Places{Home: folder, Folders: []string{own, own, "/nowhere"}})
	byName := map[string]api.Model{}
	list := i.List()
	for _, m := range list.Models {
		byName[string(m.Source)+" "+m.Model] = m
	}
	is.Equal(len(byName), 5)
	is.Equal(len(list.Models), 6)
	tuned := byName["folder group/tuned"]
	is.True(*tuned.Complete)
	is.Equal(*tuned.WeightsBytes, int64(64))
	is.Equal(*tuned.Quantization, api.Quantization{Bits: 8, Mode: "gptq"})
	is.Equal(byName["huggingface org/moved"].Revision, revision)
	is.Equal(byName["ollama hf.co/org/x:broken"].Unknown["complete"], api.ReasonSourceMalformed)
	llama := byName["ollama llama3:8b"]
	is.Equal(llama.Missing, []string{"blobs/sha256-" + strings.Repeat("b", 64)})
	is.Equal(llama.ModelType, "llama")
	is.Equal(llama.Quantization.Mode, "Q4_K_M")
	one := byName["lmstudio pub/gguf"] // the later of two
	is.Equal(*one.WeightsBytes, int64(len(gguf)))
	is.Equal(one.ModelType, "qwen2")
	is.Equal(one.Quantization.Mode, "Q5_K_M")
	at := slices.IndexFunc(list.Models, func(m api.Model) bool { return m.Model == "pub/gguf" })
	is.Equal(list.Models[at].Unknown["weights_bytes"], api.ReasonSeveralWeights)
	write(t, filepath.Join(ollama, "blobs/sha256-"+strings.Repeat("b", 64)), "12345")
	until(t, i, func(list api.ModelListResult) bool {
		return slices.ContainsFunc(list.Models, func(m api.Model) bool { return m.Model == "llama3:8b" && *m.Complete })
	})
	_, err := i.Show(api.ModelSelect{Model: "pub/gguf"})
	is.Equal(api.AsError(err).Data.Reason, api.ReasonAmbiguousName)
	denied := unreadable("/Volumes/Models", &os.PathError{Op: "open", Path: "/Volumes/Models", Err: syscall.EPERM})
	is.Equal(denied.Data.Reason, api.ReasonPermissionDenied)
	is.True(strings.Contains(denied.Data.Remedy, "Full Disk Access"))
}

// TestBrokenFiles: what cannot be read is unknown, with the reason.
func TestBrokenFiles(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"config":     {"config.json": "{", "model.safetensors": safetensors(3)},
		"index":      {"config.json": config, "model.safetensors.index.json": "[]"},
		"index away": {"config.json": config, "model.safetensors.index.json": `{"weight_map":{"w":"../../../etc/passwd"}}`},
		"header":     {"config.json": config, "model.safetensors": "\xff\xff\xff\xff\xff\xff\xff\xff"},
		"gguf":       {"model.gguf": "1234"},
		"short":      {"config.json": config, "model.safetensors": "abc"},
		"large":      {"config.json": strings.Repeat(" ", maxConfig) + config, "model.safetensors": safetensors(3)},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			folder := t.TempDir()
			for name, content := range files {
				write(t, filepath.Join(folder, name), content)
			}
			list := opened(t, Places{Home: t.TempDir(), Folders: []string{folder}}).List()
			m := only(t, list)
			is.Equal(m.Model, filepath.Base(folder))
			is.True(m.Complete == nil)
			is.Equal(m.Unknown["complete"], api.ReasonSourceMalformed)
			if name == "index away" {
				is.Equal(list.Folders[0].Refused, []string{"../../../etc/passwd"})
			}
		})
	}
}

func TestShowAndVerify(t *testing.T) {
	is := is.New(t)
	folder, cache := home(t)
	repo := hubModel(t, cache, "models--org--name")
	second := strings.Repeat("f", 40)
	hubFile(t, repo, second, "config.json", config, false)
	i := opened(t, Places{Home: folder})
	shown, err := i.Show(api.ModelSelect{Model: "org/name"}) // main is meant
	is.NoErr(err)
	is.Equal(shown.Model.Revision, revision)
	is.Equal(len(shown.Files), 2)
	is.Equal(len(shown.Files[0].GitSHA1), 40)
	is.Equal(len(shown.Files[1].SHA256), 64)
	shown, err = i.Show(api.ModelSelect{Model: "org/name", Revision: "ffff"})
	is.NoErr(err)
	is.Equal(shown.Model.Revision, second)
	_, err = i.Show(api.ModelSelect{Model: "org/name", Revision: "e"})
	is.Equal(api.AsError(err).Data.Reason, api.ReasonNoSuchModel)

	verify := func(sel api.ModelSelect) (last api.ModelProgress) {
		is.NoErr(i.Verify(t.Context(), sel, func(p api.ModelProgress, isLast bool) error {
			last = p
			return nil
		}))
		return last
	}
	last := verify(api.ModelSelect{Model: "org/name"})
	is.True(last.Error == nil)
	is.Equal(last.Verified, 2)
	is.Equal(last.DoneBytes, last.TotalBytes)
	last = verify(api.ModelSelect{Model: "org/name", Revision: second})
	is.Equal(last.Error.Data.Reason, api.ReasonModelIncomplete)
	blob, err := filepath.EvalSymlinks(filepath.Join(shown.Model.Path, "../"+revision+"/model.safetensors"))
	is.NoErr(err)
	write(t, blob, strings.Replace(safetensors(1000), "xx", "xy", 1))
	last = verify(api.ModelSelect{Model: "org/name"})
	is.Equal(last.Error.Data.Reason, api.ReasonModelCorrupt)
	is.Equal(last.Corrupt, []string{"model.safetensors"})
	is.Equal(last.Verified, 1)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = i.Verify(ctx, api.ModelSelect{Model: "org/name"}, func(api.ModelProgress, bool) error { return nil })
	is.Equal(err, context.Canceled)
}

// TestManyFiles: 10,000 files take no second, and nothing the next time.
func TestManyFiles(t *testing.T) {
	is := is.New(t)
	folder, err := os.MkdirTemp("/dev/shm", "models") // in memory: to make them takes longer than to read them
	if err != nil {
		folder = t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	cache := filepath.Join(folder, ".cache/huggingface/hub")
	for n := range 100 {
		repo := hubModel(t, cache, fmt.Sprintf("models--org--n%d", n))
		for f := range 98 {
			at := filepath.Join(repo, "blobs", fmt.Sprintf("%064x", f))
			write(t, at, "")
			link(t, repo, revision, fmt.Sprintf("f%d", f), "../../blobs/"+filepath.Base(at))
		}
	}
	i := opened(t, Places{Home: folder})
	start := time.Now()
	list := i.List()
	first := time.Since(start)
	start = time.Now()
	i.List()
	t.Logf("10,000 files: %v, again %v", first, time.Since(start))
	is.Equal(len(list.Models), 100)
	is.Equal(list.Models[0].FileCount, 100)
	unit := i.roots[0].units["models--org--n7"]
	i.List()
	is.True(i.roots[0].units["models--org--n7"] == unit)
}
