package inventory

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fulmen/daemon/api"
)

const (
	revision = "0123456789abcdef0123456789abcdef01234567"
	config   = `{"architectures":["LlamaForCausalLM"],"model_type":"llama","quantization":{"bits":4,"group_size":64,"mode":"affine","model.embed":{"bits":8}}}`
)

// write makes a file and its folders.
func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// safetensors is a file with so many bytes of tensors.
func safetensors(tensors int) string {
	header := `{"w":{"dtype":"U8"}}`
	return string(binary.LittleEndian.AppendUint64(nil, uint64(len(header)))) + header + strings.Repeat("x", tensors)
}

// hubFile puts a file into a snapshot of Hugging Face's cache as that does.
func hubFile(t testing.TB, repo, revision, name, content string, isLarge bool) (blob string) {
	t.Helper()
	sum := sha256.Sum256([]byte(content))
	blob = hex.EncodeToString(sum[:])
	if !isLarge {
		git := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(content), content))
		blob = hex.EncodeToString(git[:])
	}
	write(t, filepath.Join(repo, "blobs", blob), content)
	link(t, repo, revision, name, strings.Repeat("../", 2+strings.Count(name, "/"))+"blobs/"+blob)
	return blob
}

func link(t testing.TB, repo, revision, name, target string) {
	t.Helper()
	at := filepath.Join(repo, "snapshots", revision, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, at); err != nil {
		t.Fatal(err)
	}
}

// hubModel is a repository with one whole revision, main.
func hubModel(t testing.TB, cache, folder string) (repo string) {
	t.Helper()
	repo = filepath.Join(cache, folder)
	hubFile(t, repo, revision, "config.json", config, false)
	hubFile(t, repo, revision, "model.safetensors", safetensors(1000), true)
	write(t, filepath.Join(repo, "refs/main"), revision)
	return repo
}

// home is an account's home folder and the cache in it.
func home(t testing.TB) (home, cache string) {
	home = t.TempDir()
	return home, filepath.Join(home, ".cache/huggingface/hub")
}

func opened(t testing.TB, p Places) *Inventory {
	t.Helper()
	i := Open(p)
	t.Cleanup(func() { i.Close() })
	return i
}

// only is the one model of a list.
func only(t testing.TB, list api.ModelListResult) api.Model {
	t.Helper()
	if len(list.Models) != 1 {
		t.Fatalf("%d models: %+v %+v", len(list.Models), list.Models, list.Folders)
	}
	return list.Models[0]
}

// until asks until an answer is as it should be.
func until(t testing.TB, i *Inventory, isGood func(api.ModelListResult) bool) {
	t.Helper()
	// Events come to the inventory, which reads at a question: nothing announces them to others.
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		list := i.List()
		if isGood(list) {
			return
		}
		if t.Context().Err() != nil {
			t.Fatalf("it is still %+v", list)
		}
	}
}
